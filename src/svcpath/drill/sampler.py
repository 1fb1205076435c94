"""Sample a service from inside a cluster: one file of standard-library Python that can be piped into any container.

    kubectl exec -i POD -- python3 - new=50 keepalive=10 slow=1 stream=1 udp=0 http://SERVICE/hostname < sampler.py

Each sampled connection or request is one line of JSON on standard output: when the schedule wanted it, when it began, was
connected, had its first byte and ended (seconds since the epoch), the peer that answered (the body's first word, else the
address), and its outcome. The rate is held by the schedule and not by sleeping between requests: a late start is counted
from the time it was due, so that a stall shows as latency and not as silence (no coordinated omission).

Kinds: new (a connection each), keepalive (a request each on one reused connection), slow (long requests), stream (an open
chunked response), udp (a datagram and its echo). Options: seconds=S to run, timeout=S, slow_seconds=S, slow_path=P,
stream_path=P, udp_port=N. SIGTERM ends it after what is under way.
"""

from __future__ import annotations

import http.client
import json
import queue
import signal
import socket
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import IO, Any

DEFAULTS = {
    "new": 0.0, "keepalive": 0.0, "slow": 0.0, "stream": 0.0, "udp": 0.0, "seconds": 0.0, "timeout": 5.0,
    "slow_seconds": 5.0, "udp_port": 0.0, "workers": 64.0,
}  # fmt: skip
PATHS = {"slow_path": "/slow?seconds={seconds:g}", "stream_path": "/stream?seconds={seconds:g}"}
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


class Request:
    """One HTTP request with its times; the connection may be given and is returned open when it can be used again."""

    def __init__(self, kind: str, due: float, host: str, port: int, timeout: float) -> None:
        self.row: dict[str, Any] = {
            "kind": kind,
            "due": due,
            "start": time.time(),
            "connected": None,
            "first": None,
            "end": 0.0,
        }
        self.row.update({"peer": "", "outcome": "ok", "status": 0, "detail": ""})
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


def pool(
    kind: str,
    rate: float,
    each: Callable[[float], None],
    seconds: float,
    stopped: threading.Event,
    workers: int,
) -> None:
    """Run ``each(due)`` at every due time on a pool of threads; what waits for a thread starts late, and says so."""
    todo: queue.Queue[float | None] = queue.Queue()

    def work() -> None:
        while True:
            due = todo.get()
            if due is None:
                return
            each(due)

    threads = [threading.Thread(target=work, name=kind, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for due in schedule(rate, seconds, stopped):
        todo.put(due)
    for _ in threads:
        todo.put(None)
    for thread in threads:
        thread.join()


def keepalive(
    rate: float,
    host: str,
    port: int,
    path: str,
    timeout: float,
    out: Out,
    seconds: float,
    stopped: threading.Event,
) -> None:
    """One connection, a request at every due time; a broken one is opened anew by the next request."""
    connection: http.client.HTTPConnection | None = None
    for due in schedule(rate, seconds, stopped):
        request = Request("keepalive", due, host, port, timeout)
        fresh = connection is None
        connection = request.run(path, connection, close=False)
        if fresh:
            request.row["detail"] = (request.row["detail"] + " opened").strip()
        out.write(request.row)
    if connection is not None:
        connection.close()


def udp(rate: float, host: str, port: int, timeout: float, out: Out, seconds: float, stopped: threading.Event) -> None:
    """One datagram a time from a new source port each, and its echo."""
    for due in schedule(rate, seconds, stopped):
        row: dict[str, Any] = {
            "kind": "udp",
            "due": due,
            "start": time.time(),
            "connected": None,
            "first": None,
            "peer": "",
        }
        row.update({"outcome": "ok", "status": 0, "detail": ""})
        try:
            family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind, proto) as sock:
                sock.settimeout(timeout)
                sock.connect(address)
                sock.send(b"sample")
                data = sock.recv(2048)
                row["first"] = time.time()
                row["peer"] = data.split()[0].decode("utf-8", "replace")[:80] if data.split() else ""
        except OSError as error:
            row["outcome"], row["detail"] = outcome_of(error, False), str(error)[:120]
        row["end"] = time.time()
        out.write(row)


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
    out, stopped = Out(stream or sys.stdout), threading.Event()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: stopped.set())
        signal.signal(signal.SIGINT, lambda *_: stopped.set())
    seconds = numbers["seconds"]
    timeout, workers = numbers["timeout"], int(numbers["workers"])

    def single(kind: str, path: str, patience: float) -> Callable[[float], None]:
        def each(due: float) -> None:
            request = Request(kind, due, host, port, patience)
            request.run(path)
            out.write(request.row)

        return each

    long = numbers["slow_seconds"]
    plans: dict[str, Callable[[float], None]] = {
        "new": lambda rate: pool("new", rate, single("new", path, timeout), seconds, stopped, workers),
        "slow": lambda rate: pool(
            "slow",
            rate,
            single("slow", paths["slow_path"].format(seconds=long), long + timeout),
            seconds,
            stopped,
            workers,
        ),
        "stream": lambda rate: pool(
            "stream",
            rate,
            single("stream", paths["stream_path"].format(seconds=long), long + timeout),
            seconds,
            stopped,
            workers,
        ),
        "keepalive": lambda rate: keepalive(rate, host, port, path, timeout, out, seconds, stopped),
        "udp": lambda rate: udp(rate, host, int(numbers["udp_port"] or port), timeout, out, seconds, stopped),
    }
    threads = [
        threading.Thread(target=plans[kind], args=(numbers[kind],), name=kind) for kind in plans if numbers[kind] > 0
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)
    out.stream.write(json.dumps({"kind": "end", "sampled": out.number, "late": out.late}) + "\n")
    out.stream.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
