"""Sample a service from inside a cluster: one file of standard-library Python that can be piped into any container.

    kubectl exec -i POD -- python3 - new=50 keepalive=10 slow=1 stream=1 udp=0 http://SERVICE/hostname < sampler.py

Each sampled connection or request is one line of JSON on standard output: when the schedule wanted it, when it began, was
connected, had its first byte and ended (seconds since the epoch), the peer that answered (the body's first word, else the
address), and its outcome. The rate is held by the schedule and not by sleeping between requests: a late start is counted
from the time it was due, so that a stall shows as latency and not as silence (no coordinated omission).

Kinds: new (a connection each), keepalive (a request each on one reused connection), slow (long requests), stream (an open
chunked response), websocket (a message each on one connection, RFC 6455), grpc (a call each on one channel; where the
container's Python has the grpc module), udp (a datagram and its echo). Options: seconds=S to run, timeout=S,
slow_seconds=S, slow_path=P, stream_path=P, websocket_path=P, grpc_method=/PACKAGE.SERVICE/METHOD, udp_port=N, mark=1 (each
new, slow and stream request has "id=NUMBER" in its query, and its row too), until_input_ends=1. SIGTERM, or with the last
the end of standard input, ends it after what is under way.
"""

from __future__ import annotations

import base64
import http.client
import importlib.util
import itertools
import json
import os
import queue
import select
import signal
import socket
import struct
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import IO, Any

DEFAULTS = {
    "new": 0.0, "keepalive": 0.0, "slow": 0.0, "stream": 0.0, "websocket": 0.0, "grpc": 0.0, "udp": 0.0, "seconds": 0.0, "timeout": 5.0,
    "slow_seconds": 5.0, "udp_port": 0.0, "mark": 0.0, "until_input_ends": 0.0, "workers": 64.0,
}  # fmt: skip
PATHS = {
    "slow_path": "/slow?seconds={seconds:g}", "stream_path": "/stream?seconds={seconds:g}",
    "websocket_path": "/websocket", "grpc_method": "/drain.Echo/Hostname",
}  # fmt: skip
LATE = 0.1  # seconds after which a start counts as late


class Out:
    """Lines in one piece each, from any thread, numbered."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream, self.lock, self.number, self.late = stream, threading.Lock(), 0, 0

    def write(self, row: dict[str, Any]) -> None:
        with self.lock:
            self.number += 1
            row["n"] = self.number
            if row["start"] - row["due"] > LATE:
                self.late += 1
                row["late"] = True
            self.stream.write(json.dumps(row, separators=(",", ":")) + "\n")
            if self.stream is not sys.stdout or self.number % 8 == 0 or row["kind"] != "new":
                self.stream.flush()


def outcome_of(error: Exception, connected: bool) -> str:
    """The word for an error, by what the socket said and when."""
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, (socket.timeout, TimeoutError)):
        return "timeout"
    if isinstance(error, socket.gaierror):
        return "dns-failure"
    if isinstance(
        error, (ConnectionResetError, BrokenPipeError, http.client.IncompleteRead, http.client.RemoteDisconnected)
    ):
        return "cut" if connected else "reset"
    if isinstance(error, OSError) and error.errno in (113, 101):
        return "no-route"
    return "error"


def blank(kind: str, due: float) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": kind, "due": due, "start": time.time(), "connected": None, "first": None}
    return {**row, "peer": "", "outcome": "ok", "status": 0, "detail": ""}


class To:
    """What every kind of sampling shares: where to, how patient, for how long, and where its rows go."""

    def __init__(self, host: str, port: int, timeout: float, seconds: float, out: Out) -> None:
        self.host, self.port, self.timeout, self.seconds, self.out = host, port, timeout, seconds, out
        self.stopped = threading.Event()

    def due(self, rate: float) -> Iterator[float]:
        return schedule(rate, self.seconds, self.stopped)


class Request:
    """One HTTP request with its times; the connection may be given and is returned open when it can be used again."""

    def __init__(self, kind: str, due: float, host: str, port: int, timeout: float) -> None:
        self.row = blank(kind, due)
        self.host, self.port, self.timeout = host, port, timeout

    def run(
        self, path: str, connection: http.client.HTTPConnection | None = None, close: bool = True
    ) -> http.client.HTTPConnection | None:
        row = self.row
        try:
            if connection is None:
                connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)
                connection.connect()
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            row["connected"] = time.time()
            connection.request("GET", path, headers={"Connection": "close"} if close else {})
            response = connection.getresponse()
            row["status"] = response.status
            body = response.read(1)
            row["first"] = time.time()
            body += response.read()
            if response.status >= 400:
                row["outcome"] = "http-error"
            row["peer"] = body.split()[0].decode("utf-8", "replace")[:80] if body.split() else self.host
            row["detail"] = "server closes" if response.will_close and not close else ""
            if close or response.will_close:
                connection.close()
                connection = None
        except (OSError, http.client.HTTPException) as error:
            row["outcome"] = outcome_of(error, row["connected"] is not None)
            row["detail"] = str(error)[:120]
            if connection is not None:
                connection.close()
            connection = None
        row["end"] = time.time()
        return connection


def schedule(rate: float, seconds: float, stopped: threading.Event) -> Iterator[float]:
    """Due times at a fixed rate from now, for ``seconds`` (0: without end); never drifts, whatever happens in between."""
    start, number = time.time(), 0
    while not stopped.is_set():
        if seconds and number / rate >= seconds:
            return
        due = start + number / rate
        wait = due - time.time()
        if wait > 0 and stopped.wait(wait):
            return
        yield due
        number += 1


def pool(kind: str, rate: float, to: To, workers: int, each: Callable[[float], None]) -> None:
    """Run ``each(due)`` at every due time on a pool of threads; what waits for a thread starts late, and says so."""
    todo: queue.Queue[float | None] = queue.Queue()

    def work() -> None:
        while True:
            due = todo.get()
            if due is None:
                return
            if not to.stopped.is_set():  # told to end: what is late by then is left
                each(due)

    threads = [threading.Thread(target=work, name=kind, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for due in to.due(rate):
        todo.put(due)
    for _ in threads:
        todo.put(None)
    for thread in threads:
        thread.join()


def keepalive(rate: float, to: To, path: str) -> None:
    """One connection, a request at every due time; a broken one is opened anew by the next request."""
    connection: http.client.HTTPConnection | None = None
    for due in to.due(rate):
        request = Request("keepalive", due, to.host, to.port, to.timeout)
        fresh = connection is None
        connection = request.run(path, connection, close=False)
        if fresh:
            request.row["detail"] = (request.row["detail"] + " opened").strip()
        to.out.write(request.row)
    if connection is not None:
        connection.close()


class WebSocket:
    """A client's end of RFC 6455: text messages, one frame each."""

    def __init__(self, host: str, port: int, path: str, timeout: float) -> None:
        self.sock = socket.create_connection((host, port), timeout)
        self.file = self.sock.makefile("rb")
        try:
            self.upgrade(host, port, path)
        except BaseException:
            self.close()
            raise

    def upgrade(self, host: str, port: int, path: str) -> None:
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET {path} HTTP/1.1\r\nHost: {'[' + host + ']' if ':' in host else host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.sock.sendall(f"{head}Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        status = self.file.readline().split()
        while self.file.readline() not in (b"\r\n", b"\n", b""):
            pass
        if len(status) < 2 or status[1] != b"101":
            raise http.client.HTTPException(f"no upgrade to a WebSocket: {b' '.join(status)[:80]!r}")

    def send(self, kind: int, data: bytes) -> None:
        mask = os.urandom(4)
        body = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self.sock.sendall(bytes((0x80 | kind, 0x80 | len(data))) + mask + body)

    def receive(self) -> tuple[int, bytes]:
        """The next frame that is no ping. Raises ConnectionResetError when the peer is gone."""
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                raise ConnectionResetError("the connection ended without a Close")
            length = head[1] & 127
            if length >= 126:
                form = "!H" if length == 126 else "!Q"
                (length,) = struct.unpack(form, self.file.read(struct.calcsize(form)))
            data = self.file.read(length)
            if head[0] & 15 != 9:
                return head[0] & 15, data
            self.send(10, data)

    def going(self) -> bool:
        """Whether the server said Close (then it is answered) since the last message."""
        if not select.select([self.sock], [], [], 0)[0]:
            return False
        kind, data = self.receive()
        if kind == 8:
            self.send(8, data[:2])
        return kind == 8

    def close(self) -> None:
        self.file.close()
        self.sock.close()


def websocket(rate: float, to: To, path: str) -> None:
    """A message at every due time on one connection. One that the server closed in order is opened anew; a message that
    crossed its Close (RFC 6455, 5.5.1) has no answer and is sent again, once."""
    kept: WebSocket | None = None
    for due in to.due(rate):
        row, notes = blank("websocket", due), []
        try:
            if kept is not None and kept.going():
                kept.close()
                kept = None
                notes.append("server closed")
            while not row["first"]:
                if kept is None:
                    kept = WebSocket(to.host, to.port, path, to.timeout)
                    notes.append("opened")
                row["connected"] = time.time()
                kept.send(1, b"sample")
                kind, data = kept.receive()
                if kind != 8:
                    row["first"] = time.time()
                    row["peer"] = data.split()[0].decode("utf-8", "replace")[:80] if data.split() else to.host
                elif "sent again" in notes:
                    raise ConnectionResetError("closed twice instead of an answer")
                else:
                    kept.close()
                    kept = None
                    notes.append("sent again")
        except (OSError, http.client.HTTPException) as error:
            row["outcome"] = outcome_of(error, row["connected"] is not None)
            notes = [str(error)[:120]]
            if kept is not None:
                kept.close()
            kept = None
        row["end"], row["detail"] = time.time(), ", ".join(notes)
        to.out.write(row)
    if kept is not None:
        kept.close()


def grpc_calls(rate: float, to: To, method: str) -> None:
    """An empty unary call at every due time on one channel, which reconnects by itself as every gRPC client does."""
    os.environ.setdefault("GRPC_DNS_RESOLVER", "native")
    import grpc

    with grpc.insecure_channel(f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}") as channel:
        call = channel.unary_unary(method)
        for due in to.due(rate):
            row = blank("grpc", due)
            try:
                data = call(b"", timeout=to.timeout)
                row["connected"] = row["first"] = time.time()
                word = data.split()[0].decode("ascii", "replace") if data.split() else ""
                row["peer"] = word[:80] if word.isprintable() and "\ufffd" not in word and word else to.host
            except grpc.RpcError as error:
                code = error.code().name if isinstance(error, grpc.Call) else "UNKNOWN"
                row["outcome"] = {"DEADLINE_EXCEEDED": "timeout", "UNAVAILABLE": "cut"}.get(code, "error")
                row["detail"] = f"{code} {error.details() if isinstance(error, grpc.Call) else error}"[:120]
                if "refused" in row["detail"]:
                    row["outcome"] = "refused"
            row["end"] = time.time()
            to.out.write(row)


def udp(rate: float, to: To, port: int) -> None:
    """One datagram a time from a new source port each, and its echo."""
    for due in to.due(rate):
        row = blank("udp", due)
        try:
            family, kind, proto, _, address = socket.getaddrinfo(to.host, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind, proto) as sock:
                sock.settimeout(to.timeout)
                sock.connect(address)
                sock.send(b"sample")
                data = sock.recv(2048)
                row["first"] = time.time()
                row["peer"] = data.split()[0].decode("utf-8", "replace")[:80] if data.split() else ""
        except OSError as error:
            row["outcome"], row["detail"] = outcome_of(error, False), str(error)[:120]
        row["end"] = time.time()
        to.out.write(row)


def options(words: list[str]) -> tuple[dict[str, float], dict[str, str], urllib.parse.SplitResult]:
    numbers, paths, url = dict(DEFAULTS), dict(PATHS), ""
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key in numbers:
            numbers[key] = float(value)
        elif equals and key in paths:
            paths[key] = value
        elif word.startswith("http://"):
            url = word
        else:
            raise SystemExit(f"sampler: {word!r}: give KIND=RATE, an option=value, or http://HOST[:PORT]/PATH")
    if not url:
        raise SystemExit("sampler: no address: give http://HOST[:PORT]/PATH")
    return numbers, paths, urllib.parse.urlsplit(url)


def main(words: list[str], stream: IO[str] | None = None) -> None:
    numbers, paths, url = options(words)
    host, port, path = url.hostname or "", url.port or 80, (url.path or "/") + (f"?{url.query}" if url.query else "")
    to = To(host, port, numbers["timeout"], numbers["seconds"], Out(stream or sys.stdout))
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: to.stopped.set())
        signal.signal(signal.SIGINT, lambda *_: to.stopped.set())
    if numbers["grpc"] > 0 and importlib.util.find_spec("grpc") is None:
        raise SystemExit("sampler: grpc=RATE needs the grpc module of Python in this container")
    long = numbers["slow_seconds"]

    count = itertools.count(1)

    def each(kind: str, path: str, patience: float) -> Callable[[float], None]:
        def once(due: float) -> None:
            request = Request(kind, due, host, port, patience)
            mark = f"id={next(count)}" if numbers["mark"] else ""
            request.run(path + ("&" if "?" in path else "?") + mark if mark else path)
            if mark:
                request.row["detail"] = f"{mark} {request.row['detail']}".strip()
            to.out.write(request.row)

        return lambda rate: pool(kind, rate, to, int(numbers["workers"]), once)

    plans: dict[str, Callable[[float], None]] = {
        "new": each("new", path, to.timeout),
        "slow": each("slow", paths["slow_path"].format(seconds=long), long + to.timeout),
        "stream": each("stream", paths["stream_path"].format(seconds=long), long + to.timeout),
        "keepalive": lambda rate: keepalive(rate, to, path),
        "websocket": lambda rate: websocket(rate, to, paths["websocket_path"]),
        "grpc": lambda rate: grpc_calls(rate, to, paths["grpc_method"]),
        "udp": lambda rate: udp(rate, to, int(numbers["udp_port"] or port)),
    }
    if numbers["until_input_ends"]:

        def listen() -> None:
            sys.stdin.buffer.read()
            to.stopped.set()

        threading.Thread(target=listen, daemon=True).start()
    threads = [
        threading.Thread(target=plans[kind], args=(numbers[kind],), name=kind) for kind in plans if numbers[kind] > 0
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)
    to.out.stream.write(json.dumps({"kind": "end", "sampled": to.out.number, "late": to.out.late}) + "\n")
    to.out.stream.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
