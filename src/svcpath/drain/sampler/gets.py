"""Requests with a connection each: many under way at once, in one thread that waits for all of them.

A thread a connection costs half a millisecond of processor time, and threads keep each other from their starts; this costs
a quarter. Sources: epoll(7), RFC 9112.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import errno
import http.client
import io
import os
import re
import resource
import select
import socket
import time
from collections.abc import Iterator
from typing import Any

from svcpath.drain.sampler.rows import To, blank, outcome_of, peer

GATHER = 0.02  # seconds that rows wait for each other
LINGER = 1.0  # seconds that a server has to close first, so that it and not the client keeps the port (TIME_WAIT)


class HostAddresses:
    """Addresses of the host, asked for in threads, since a resolver of libc blocks."""

    def __init__(self, host: str, port: int, keep: float) -> None:
        self.host, self.port, self.keep, self.asked = host, port, keep, 0.0
        self.threads = concurrent.futures.ThreadPoolExecutor(64)
        self.last: concurrent.futures.Future[list[Any]] | None = None
        with contextlib.suppress(OSError):  # an address needs no resolver
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
            self.last, self.keep = concurrent.futures.Future(), float("inf")
            self.last.set_result(found)

    def ask(self) -> concurrent.futures.Future[list[Any]]:
        """The addresses, or an OSError, now or later. What was asked within ``keep`` seconds is not asked again."""
        last, now = self.last, time.time()
        if last is None or not now - self.asked < self.keep or (last.done() and last.exception() is not None):
            self.asked = now
            last = self.last = self.threads.submit(socket.getaddrinfo, self.host, self.port, type=socket.SOCK_STREAM)
        return last


class ReceivedBytes:
    """Bytes that came from a socket, for http.client."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self.data)


LENGTH = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)[^\r]*\r\n(?:[^\r]+\r\n)*?content-length:[ \t]*(\d+)[ \t]*\r\n", re.I)


def parsed(data: bytes, ended: bool) -> tuple[int, bytes] | None:
    """Status and body of a response to GET, None while it is not whole. Raises HTTPException for what is none, or ended
    too early. What most servers send is read without http.client, which costs more than all the rest."""
    head, found, body = data.partition(b"\r\n\r\n")
    match = LENGTH.match(head + b"\r\n") if found else None
    if (
        match is not None
        and match[1] not in (b"204", b"304")
        and b"ransfer-" not in head
        and len(body) >= int(match[2])
    ):
        return int(match[1]), body[: int(match[2])]
    if not ended and (not found or (b"chunked" in head.lower() and not data.endswith(b"\r\n\r\n"))):
        return None
    response = http.client.HTTPResponse(ReceivedBytes(data))  # type: ignore[arg-type]
    try:
        response.begin()
        if not found or (response.chunked and not data.endswith(b"\r\n\r\n")):
            raise http.client.IncompleteRead(body)  # http.client takes the end of the stream for the end of these
        if ended or response.chunked or response.length is not None:
            return response.status, response.read()
    except (http.client.IncompleteRead, http.client.RemoteDisconnected):
        if ended:
            raise
    return None


class Get:
    """A request on a connection of its own that is under way."""

    __slots__ = ("addresses", "data", "deadline", "row", "sock", "unsent")

    def __init__(self, row: dict[str, Any], unsent: bytes) -> None:
        self.row, self.unsent, self.data, self.deadline = row, unsent, b"", 0.0
        self.addresses: list[Any] = []
        self.sock: socket.socket = None  # type: ignore[assignment]


class Gets:
    """Requests of one kind, a connection each, at a fixed rate: one thread waits for all of them, so that thousands a
    second cost little and none keeps another from its start."""

    def __init__(
        self,
        kind: str,
        to: To,
        path: str,
        patience: float,
        names: HostAddresses,
        marks: Iterator[int] | None,
        at_once: int,
    ) -> None:
        self.kind, self.to, self.path, self.patience, self.names, self.marks = kind, to, path, patience, names, marks
        host = (f"[{to.host}]" if ":" in to.host else to.host) + (f":{to.port}" if to.port != 80 else "")
        self.tail = f" HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n".encode()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = 1 << 16 if most < 0 else max(8, most // 2 - 100)  # half: "over" has its descriptors too
        self.at_once = min(at_once or most, most)
        self.poll = select.epoll()
        self.asking: list[tuple[Get, concurrent.futures.Future[list[Any]]]] = []
        self.open: collections.OrderedDict[int, Get] = collections.OrderedDict()  # the next deadline first
        self.over: collections.OrderedDict[int, tuple[float, socket.socket]] = collections.OrderedDict()

    def run(self, rate: float) -> None:
        start, number, seconds = time.time(), 0, self.to.seconds
        while True:
            burst, now = 0, time.time()
            while (more := not (self.to.stopped.is_set() or (seconds and number / rate >= seconds))) and burst < 32:
                if start + number / rate > now or len(self.open) + len(self.asking) >= self.at_once:
                    break
                self.begin(start + number / rate)
                number, burst = number + 1, burst + 1
            if not (more or self.open or self.asking):
                break
            wait = GATHER if self.to.out.lines or self.asking else 0.1
            if more and len(self.open) + len(self.asking) < self.at_once:
                wait = min(wait, max(0.0, start + number / rate - time.time()))
            for descriptor, event in self.poll.poll(wait, 256):
                self.ready(descriptor, event)
            waiting, self.asking = self.asking, []
            for get, found in waiting:
                self.named(get, found)
            self.expire(time.time())
            self.to.out.flush(GATHER)
        for _, sock in self.over.values():
            sock.close()
        self.poll.close()
        self.to.out.count_waiting()

    def begin(self, due: float) -> None:
        row, path = blank(self.kind, due), self.path
        if self.marks is not None:
            row["detail"] = f"id={next(self.marks)}"
            path += ("&" if "?" in path else "?") + row["detail"]
        self.named(Get(row, b"GET " + path.encode() + self.tail), self.names.ask())

    def named(self, get: Get, found: concurrent.futures.Future[list[Any]]) -> None:
        if not found.done():
            self.asking.append((get, found))
        elif error := found.exception():
            self.finish(get, error)
        else:
            get.addresses = list(found.result())
            self.connect(get, OSError("the name has no address"))

    def connect(self, get: Get, error: OSError) -> None:
        """Tries the next address; ``error``: why the last one failed."""
        while get.addresses:
            family, kind, protocol, _, address = get.addresses.pop(0)
            try:
                get.sock = socket.socket(family, kind, protocol)
                get.sock.setblocking(False)
                code = get.sock.connect_ex(address)
            except OSError as failed:  # no descriptor, or no such family here
                error = failed
                continue
            if code in (0, errno.EINPROGRESS):
                get.deadline = time.time() + self.patience
                self.open[get.sock.fileno()] = get
                self.poll.register(get.sock, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
                return
            get.sock.close()
            error = OSError(code, os.strerror(code))
        self.finish(get, error)

    def ready(self, descriptor: int, event: int) -> None:
        get = self.open.get(descriptor)
        if get is None:
            if descriptor in self.over:
                self.over.pop(descriptor)[1].close()
            return
        try:
            if get.row["connected"] is None:
                if event & select.EPOLLERR:
                    code = get.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                    raise OSError(code, os.strerror(code))
                get.row["connected"] = time.time()
            if get.unsent:
                get.unsent = get.unsent[get.sock.send(get.unsent) :]
            if event & ~select.EPOLLOUT:
                self.receive(get)
        except BlockingIOError:
            pass
        except (OSError, http.client.HTTPException) as error:
            self.failed(get, error)
        if descriptor in self.open:
            get.deadline = time.time() + self.patience
            self.open.move_to_end(descriptor)

    def receive(self, get: Get) -> None:
        ended = False
        with contextlib.suppress(BlockingIOError):
            while not ended:
                data = get.sock.recv(65536)
                get.data, ended = get.data + data, not data
        if get.row["first"] is None and get.data.find(b"\r\n\r\n") not in (-1, len(get.data) - 4):
            get.row["first"] = time.time()
        found = parsed(get.data, ended)
        if found is not None:
            status, body = found
            get.row["status"], get.row["first"] = status, get.row["first"] or time.time()
            get.row["outcome"], get.row["peer"] = "http-error" if status >= 400 else "ok", peer(body, self.to.host)
            del self.open[get.sock.fileno()]
            if ended:
                get.sock.close()
            else:
                self.over[get.sock.fileno()] = (time.time() + LINGER, get.sock)
            self.finish(get)

    def failed(self, get: Get, error: Exception) -> None:
        """A connection did not come about, then the next address is tried, or broke."""
        del self.open[get.sock.fileno()]
        get.sock.close()
        if get.row["connected"] is None and isinstance(error, OSError):
            self.connect(get, error)
        else:
            self.finish(get, error)

    def finish(self, get: Get, error: BaseException | None = None) -> None:
        row = get.row
        if error is not None:
            row["outcome"] = outcome_of(error, row["connected"] is not None)
            row["detail"] = f"{row['detail']} {str(error)[:120]}".strip()
        row["end"] = time.time()
        self.to.out.write(row, wait=True)

    def expire(self, now: float) -> None:
        while self.open and (get := next(iter(self.open.values()))).deadline <= now:
            self.failed(get, TimeoutError("timed out"))
        while self.over and next(iter(self.over.values()))[0] <= now:
            self.over.popitem(last=False)[1][1].close()
