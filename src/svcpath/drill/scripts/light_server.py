"""A server that costs little: answers any GET with the host's name on a connection each, and logs every request's target.

A line is on standard output before its answer is sent, so what a client saw answered is in the log. Environment: PORT.
SIGTERM: it stops accepting, finishes what it has, and ends. Standard library alone.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time

WORKERS = 4
PATIENCE = 5.0


def work(listener: socket.socket, stopping: threading.Event, body: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    while True:
        try:
            connection, peer = listener.accept()
        except TimeoutError:
            if stopping.is_set():
                return
            continue
        try:
            connection.settimeout(PATIENCE)
            head = connection.recv(4096)
            while head and b"\r\n\r\n" not in head:
                more = connection.recv(4096)
                head = head + more if more else b""
            if head:
                target = head.split(b" ", 2)[1].decode("ascii", "replace")
                os.write(1, f"{time.time():.6f} accepted {peer[0]} {peer[1]} {target}\n".encode())
                connection.sendall(answer)
        except (OSError, IndexError):
            pass
        finally:
            connection.close()


def main() -> None:
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    port = int(os.environ.get("PORT", "8080"))
    listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
    listener.settimeout(0.2)
    body = f"{socket.gethostname()}\n".encode()
    threads = [threading.Thread(target=work, args=(listener, stopping, body)) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    os.write(1, f"{time.time():.6f} ready\n".encode())
    for thread in threads:
        while thread.is_alive():
            thread.join(0.1)
    os.write(1, f"{time.time():.6f} end\n".encode())


if __name__ == "__main__":
    main()
