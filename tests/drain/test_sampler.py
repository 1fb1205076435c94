"""The sampler keeps its schedule, tells outcomes apart, and counts from the time a request was due."""

from __future__ import annotations

import http.client
import io
import itertools
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.drain.sampler import gets, whole
from svcpath.drain.sampler import main as sampler
from svcpath.drain.scripts import light_server
from tests.fixtures.running_server import running


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.startswith("/cut"):
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"half")
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        body = b"pod-1 here\n"
        self.send_response(503 if self.path.startswith("/bad") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def echo() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    with running(server) as port:
        yield port


def _sample(*words: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    sampler.main(list(words), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_every_due_time_has_one_connection_and_due_times_do_not_drift() -> None:
    with echo() as port:
        *rows, end = _sample("new=50", "seconds=1", f"http://127.0.0.1:{port}/hostname")
    assert end["sampled"] == len(rows) == 50
    assert end["used"] >= 0
    assert end["waited"] >= 0
    due = sorted(row["due"] for row in rows)
    assert all(abs((b - a) - 0.02) < 1e-6 for a, b in itertools.pairwise(due))
    assert {(row["outcome"], row["peer"], row["status"]) for row in rows} == {("ok", "pod-1", 200)}
    assert all(row["due"] <= row["start"] <= row["connected"] <= row["first"] <= row["end"] for row in rows)
    assert sorted(row["n"] for row in rows) == list(range(1, 51))


def test_a_kept_connection_is_opened_once() -> None:
    with echo() as port:
        *rows, _ = _sample("keepalive=20", "seconds=1", f"http://127.0.0.1:{port}/hostname")
    assert [row["detail"] for row in rows].count("opened") == 1
    assert {row["outcome"] for row in rows} == {"ok"}


def test_outcomes_are_told_apart() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert {row["outcome"] for row in _sample("new=10", "seconds=0.5", f"http://127.0.0.1:{port}/")[:-1]} == {"refused"}
    with echo() as port:
        assert {row["outcome"] for row in _sample("new=10", "seconds=0.5", f"http://127.0.0.1:{port}/bad")[:-1]} == {
            "http-error"
        }
        assert {row["outcome"] for row in _sample("new=10", "seconds=0.5", f"http://127.0.0.1:{port}/cut")[:-1]} == {
            "cut"
        }


def test_a_stall_shows_as_late_starts_and_not_as_silence() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    *rows, end = _sample("new=20", "at_once=1", "seconds=1", "timeout=0.4", f"http://127.0.0.1:{port}/")
    listener.close()
    assert end["sampled"] == len(rows) == 20
    assert end["late"] >= 15
    assert {row["outcome"] for row in rows} == {"timeout"}


def test_it_runs_piped_into_a_bare_python() -> None:
    text = whole.text()
    with echo() as port:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-", "new=5", "seconds=1", f"http://127.0.0.1:{port}/"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["sampled"] == 5


@contextmanager
def drain_server(**environment: str) -> Iterator[int]:
    """The drain's own server as a process on a free port of the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(light_server.__file__).with_name("drain_server.py")
    process = subprocess.Popen(
        [sys.executable, "-u", str(script)],
        env={"PORT": str(port), **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "ready" in process.stdout.readline()
    reader = threading.Thread(target=process.stdout.read, daemon=True)
    reader.start()
    try:
        yield port
    finally:
        process.terminate()
        process.wait(20)
        reader.join(5)
        process.stdout.close()


def test_a_websocket_stays_on_one_connection_until_the_server_says_close() -> None:
    with drain_server() as port:
        *rows, _ = _sample("websocket=20", "seconds=1", f"http://127.0.0.1:{port}/")
        assert {(row["outcome"], row["peer"]) for row in rows} == {("ok", socket.gethostname())}
        assert sum("opened" in row["detail"] for row in rows) == 1
    with drain_server(MAX_AGE="0.4") as port:
        *rows, _ = _sample("websocket=20", "seconds=2", f"http://127.0.0.1:{port}/")
        assert {row["outcome"] for row in rows} == {"ok"}
        assert sum("opened" in row["detail"] for row in rows) >= 2


def test_a_websocket_whose_server_dies_is_cut_and_a_refused_upgrade_is_an_error() -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def die() -> None:
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        connection.recv(4096)
        connection.close()
        listener.close()

    thread = threading.Thread(target=die, daemon=True)
    thread.start()
    *rows, _ = _sample("websocket=5", "seconds=0.5", f"http://127.0.0.1:{listener.getsockname()[1]}/")
    thread.join()
    assert rows[0]["outcome"] == "cut"
    assert {row["outcome"] for row in rows[1:]} == {"refused"}
    with echo() as port:
        assert {row["outcome"] for row in _sample("websocket=5", "seconds=0.4", f"http://127.0.0.1:{port}/")[:-1]} == {
            "error"
        }


def test_marked_requests_carry_their_number_to_the_server_and_end_with_the_input() -> None:
    script = Path(light_server.__file__)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-u", str(script)], env={"PORT": str(port)}, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert "ready" in server.stdout.readline()
        with subprocess.Popen(
            [
                sys.executable,
                "-u",
                "-c",
                whole.text(),
                "new=50",
                "mark=1",
                "until_input_ends=1",
                f"http://127.0.0.1:{port}/a?b=c",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            first = process.stdout.readline()
            process.stdin.close()
            *rows, end = [json.loads(line) for line in (first, *process.stdout)]
        server.terminate()
        logged = server.stdout.read()
    assert end["kind"] == "end"
    assert sorted(row["detail"] for row in rows) == sorted(f"id={number}" for number in range(1, end["sampled"] + 1))
    assert {f"/a?b=c&{row['detail']}" for row in rows} <= set(logged.split())


def test_the_one_file_needs_nothing_of_svcpath() -> None:
    assert not re.search(r"^\s*(?:from|import) svcpath", whole.text(), re.M)


@contextmanager
def raw(*pieces: bytes, pause: float = 0.0) -> Iterator[int]:
    """A server that sends these bytes, piece by piece, to whoever asks, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = threading.Event()

        def serve() -> None:
            listener.settimeout(0.1)
            while not ended.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(5)
                    connection.recv(4096)
                    for piece in pieces:
                        connection.sendall(piece)
                        ended.wait(pause)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            ended.set()
            thread.join()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("pieces", "outcome", "status", "peer"),
    [
        ((CHUNKED, b"6\r\npod-1\n\r\n", b"0\r\n\r\n"), "ok", 200, "pod-1"),
        ((CHUNKED, b"6\r\npod-1\n\r\n0\r\nX: y\r\n\r\n"), "ok", 200, "pod-1"),
        ((CHUNKED, b"6\r\npod-1\n\r\n"), "cut", 0, ""),
        ((CHUNKED, b"7\r\n0\r\n\r\n00\r\n"), "cut", 0, ""),
        ((b"HTTP/1.0 200 OK\r\n\r\n", b"pod-2 ", b"here"), "ok", 200, "pod-2"),
        ((b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\npo", b"d-3"), "ok", 200, "pod-3"),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npo", b"d-3"), "cut", 0, ""),
        ((b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"), "ok", 200, "x"),
        ((b"HTTP/1.1 204 No Content\r\n\r\n",), "ok", 204, "127.0.0.1"),
        ((b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",), "http-error", 503, "127.0.0.1"),
        ((b"SSH-2.0-x\r\n",), "error", 0, ""),
        ((), "cut", 0, ""),
    ],
)
def test_a_response_is_whole_when_its_framing_says_so(
    pieces: tuple[bytes, ...], outcome: str, status: int, peer: str
) -> None:
    for pause in (0.0, 0.05):
        with raw(*pieces, pause=pause) as port:
            *rows, _ = _sample("new=4", "seconds=0.5", f"http://127.0.0.1:{port}/")
        assert {(row["outcome"], row["status"], row["peer"]) for row in rows} == {(outcome, status, peer)}


@given(st.data(), st.sampled_from(["length", "chunked", "none"]), st.binary(max_size=60))
def test_no_cut_of_a_response_is_taken_for_the_whole(data: st.DataObject, framing: str, body: bytes) -> None:
    if framing == "length":
        sent = b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    elif framing == "chunked":
        chunks = [body[:7], body[7:]]
        sent = CHUNKED + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks if chunk) + b"0\r\n\r\n"
    else:
        sent = b"HTTP/1.1 200 OK\r\n\r\n" + body
    assert gets.parsed(sent, ended=True) == (200, body)
    assert gets.parsed(sent, ended=False) == (None if framing == "none" else (200, body))
    half = sent[: data.draw(st.integers(0, len(sent) - 1))]
    assert gets.parsed(half, ended=False) is None
    if framing != "none":
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            gets.parsed(half, ended=True)


def test_a_connection_that_hangs_keeps_no_other_from_its_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        *rows, end = _sample("new=100", "seconds=1", "timeout=1.5", f"http://127.0.0.1:{port}/")
    assert end["sampled"] == 100
    assert {row["outcome"] for row in rows} == {"timeout"}
    assert min(row["end"] for row in rows) > max(row["due"] for row in rows)


def test_a_name_is_asked_for_each_time_or_kept_and_its_addresses_are_tried_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: str, port: int, **more: int) -> Sequence[tuple[object, ...]]:
        if host != "web":
            return real(host, port, **more)
        if more.get("flags", 0) & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        asked.append(host)
        if len(asked) == fails:
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ("127.0.0.2", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    fails = 0
    with echo() as port:  # listens on 127.0.0.1 alone
        *rows, _ = _sample("new=20", "seconds=0.5", f"http://web:{port}/")
        assert {(row["outcome"], row["peer"]) for row in rows} == {("ok", "pod-1")}
        assert len(asked) == 10
        asked.clear()
        *rows, _ = _sample("new=20", "seconds=0.5", "resolve=60", f"http://web:{port}/")
        assert {row["outcome"] for row in rows} == {"ok"}
        assert len(asked) == 1
        asked.clear()
        fails = 1
        *rows, _ = _sample("new=20", "seconds=0.5", "resolve=60", f"http://web:{port}/")
        assert rows[0]["outcome"] == "dns-failure"
        assert rows[-1]["outcome"] == "ok"


def test_marks_are_counted_from_where_they_are_told_to() -> None:
    with echo() as port:
        *rows, _ = _sample("new=10", "seconds=0.3", "mark=1000", f"http://127.0.0.1:{port}/")
    assert sorted(row["detail"] for row in rows) == ["id=1000", "id=1001", "id=1002"]


def test_the_light_server_logs_before_it_answers_and_finishes_what_it_has() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-u", light_server.__file__], env={"PORT": str(port), "HOLD": "0.3"}, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        assert b"ready" in server.stdout.readline()
        with (
            socket.create_connection(("127.0.0.1", port), 5) as first,
            socket.create_connection(("127.0.0.1", port), 5) as second,
        ):
            first.sendall(b"GET /one HTTP/1.1\r\n")
            second.sendall(b"GET /two HTTP/1.1\r\n\r\n")
            assert server.stdout.readline().split()[4] == b"/two"
            assert second.recv(99).startswith(b"HTTP/1.1 200")
            server.terminate()
            first.sendall(b"\r\n")
            assert first.recv(99).startswith(b"HTTP/1.1 200")
            assert server.stdout.readline().split()[4] == b"/one"
        assert b"end" in server.stdout.readline()
