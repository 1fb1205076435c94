"""The sampler keeps its schedule, tells outcomes apart, and counts from the time a request was due."""

from __future__ import annotations

import io
import itertools
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from svcpath.drill import sampler


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
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _sample(*words: str) -> list[dict]:
    out = io.StringIO()
    sampler.main(list(words), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_every_due_time_has_one_connection_and_due_times_do_not_drift() -> None:
    with echo() as port:
        *rows, end = _sample("new=50", "seconds=1", f"http://127.0.0.1:{port}/hostname")
    assert end["sampled"] == len(rows) == 50
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
    *rows, end = _sample("new=20", "workers=1", "seconds=1", "timeout=0.4", f"http://127.0.0.1:{port}/")
    listener.close()
    assert end["sampled"] == len(rows) == 20
    assert end["late"] >= 15
    assert {row["outcome"] for row in rows} == {"timeout"}


def test_it_runs_piped_into_a_bare_python() -> None:
    text = Path(sampler.__file__).read_text()
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
    """The drill's own server as a process on a free port of the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(sampler.__file__).with_name("scripts") / "drain_server.py"
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


def test_a_websocket_whose_server_dies_is_cut_and_one_that_is_refused_an_upgrade_is_an_error() -> None:
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
    script = Path(sampler.__file__).with_name("scripts") / "light_server.py"
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
                sampler.__file__,
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
    assert sorted(row["detail"] for row in rows) == sorted(f"id={one}" for one in range(1, end["sampled"] + 1))
    assert all(f"/a?b=c&{row['detail']}\n" in logged for row in rows)
