"""A server that costs little: answers any GET with the host's name on a connection each, and logs every request's target.

A line is on standard output before its answer is sent, so what a client saw answered is in the log. A line's way to who
follows the log costs more than its request does, so requests wait up to HOLD seconds for each other, are logged in one
line and answered then. Environment: PORT, HOLD. SIGTERM: it stops accepting, finishes what it has, and ends. Standard
library alone, one thread: the kernel hands a connection over when its request is there (TCP_DEFER_ACCEPT).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time

PATIENCE = 5.0
END = b"\r\n\r\n"


class Server:
    def __init__(self, port: int, hold: float) -> None:
        self.listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
        self.listener.setblocking(False)
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 2)
        self.poll = select.epoll()
        self.poll.register(self.listener, select.EPOLLIN)
        body = f"{socket.gethostname()}\n".encode()
        self.answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        self.open: dict[int, tuple[socket.socket, str, bytes, float]] = {}  # requests that are not whole yet
        self.whole: list[tuple[socket.socket, str, bytes]] = []
        self.hold, self.due = hold, 0.0

    def turn(self, wait: float) -> None:
        if self.whole:
            wait = min(wait, max(0.0, self.due - time.monotonic()))
        for descriptor, _ in self.poll.poll(wait):
            if descriptor == self.listener.fileno():
                self.accept()
            elif descriptor in self.open:
                connection, peer, head, _ = self.open.pop(descriptor)
                self.read(connection, peer, head, first=False)
        now = time.monotonic()
        if self.whole and now >= self.due:
            self.reply()
        for descriptor in [connection for connection, kept in self.open.items() if kept[3] < now]:
            self.open.pop(descriptor)[0].close()

    def accept(self) -> None:
        for _ in range(64):
            try:
                connection, peer = self.listener.accept()
            except OSError:  # none is left, or it went again
                return
            connection.setblocking(False)
            self.read(connection, f"{peer[0]} {peer[1]}", b"", first=True)

    def read(self, connection: socket.socket, peer: str, head: bytes, first: bool) -> None:
        try:
            data = connection.recv(4096)
            ended = not data
        except BlockingIOError:
            data, ended = b"", False
        except OSError:
            data, ended = b"", True
        head += data
        if END in head and head.count(b" ", 0, head.index(END)) >= 2:
            if not self.whole:
                self.due = time.monotonic() + self.hold
            self.whole.append((connection, peer, head))
        elif ended or END in head or len(head) > 65536:
            connection.close()
        else:
            if first:
                self.poll.register(connection, select.EPOLLIN)
            self.open[connection.fileno()] = (connection, peer, head, time.monotonic() + PATIENCE)

    def reply(self) -> None:
        """Logs what is whole, then answers it."""
        targets = [f"{peer} {head.split(b' ', 2)[1].decode('ascii', 'replace')}" for _, peer, head in self.whole]
        write(f"{time.time():.6f} accepted {' + '.join(targets)}\n")
        for connection, _, _ in self.whole:
            with contextlib.suppress(OSError):
                connection.send(self.answer)
            connection.close()
        self.whole.clear()


def write(text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    server = Server(int(os.environ.get("PORT", "8080")), float(os.environ.get("HOLD", "0")))
    write(f"{time.time():.6f} ready\n")
    while not stopping.is_set():
        server.turn(0.5)
    server.accept()
    server.listener.close()
    while server.open or server.whole:
        server.turn(0.1)
    write(f"{time.time():.6f} end\n")


if __name__ == "__main__":
    main()
