"""What every kind of sampling shares: due times, rows, and the words for what became of a connection.

The rate is held by due times that never drift; what begins late says so.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

LATE = 0.1  # seconds after which a start counts as late


class Out:
    """Lines in one piece each, from any thread, numbered. Rows that may wait for each other are written together."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream, self.lock, self.number, self.late = stream, threading.Lock(), 0, 0
        self.lines: list[str] = []
        self.flushed = self.waited = 0.0
        self.encode = json.JSONEncoder(separators=(",", ":")).encode

    def write(self, row: dict[str, Any], wait: bool = False) -> None:
        with self.lock:
            self.number += 1
            row["n"] = self.number
            if row["start"] - row["due"] > LATE:
                self.late += 1
                row["late"] = True
            self.lines.append(self.encode(row) + "\n")
        if not wait:
            self.flush()

    def flush(self, after: float = 0.0) -> None:
        """Writes what is held, unless that was done within the last ``after`` seconds."""
        with self.lock:
            if self.lines and time.monotonic() - self.flushed >= after:
                self.flushed = time.monotonic()
                self.stream.write("".join(self.lines))
                self.stream.flush()
                self.lines.clear()

    def end(self) -> None:
        """The last line: how much it was, and seconds of processor time that were used and that were waited for. What began
        late because the container's processors were busy is no fault of the service."""
        self.flush()
        used = round(sum(os.times()[:2]), 2)
        end = {"kind": "end", "sampled": self.number, "late": self.late, "used": used, "waited": round(self.waited, 2)}
        self.stream.write(json.dumps(end) + "\n")
        self.stream.flush()

    def count_waiting(self) -> None:
        """Adds what the calling thread waited for a processor (schedstat: run_delay in nanoseconds)."""
        with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/thread-self/schedstat") as file:
            waited = int(file.read().split()[1]) / 1e9
            with self.lock:
                self.waited += waited


def outcome_of(error: BaseException, connected: bool) -> str:
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


def peer(body: bytes, otherwise: str) -> str:
    """Who answered: the body's first word."""
    words = body.split(None, 1)
    return words[0].decode("utf-8", "replace")[:80] if words else otherwise


class To:
    """What every kind of sampling shares: where to, how patient, for how long, and where its rows go."""

    def __init__(self, host: str, port: int, timeout: float, seconds: float, out: Out) -> None:
        self.host, self.port, self.timeout, self.seconds, self.out = host, port, timeout, seconds, out
        self.stopped = threading.Event()

    def due(self, rate: float) -> Iterator[float]:
        return schedule(rate, self.seconds, self.stopped)


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
