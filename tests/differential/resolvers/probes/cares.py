"""ares_getaddrinfo by pycares: a JSON job a line, a fresh channel for each, its result as one line of JSON."""

import json
import select
import socket
import sys
from typing import Any

import pycares


def lookup(name: str, family: socket.AddressFamily) -> dict[str, object]:
    done: list[dict[str, object]] = []

    def callback(result: Any, error: int | None) -> None:
        if error is not None:
            done.append({"ok": False, "code": error, "err": pycares.errno.errorcode[error]})
            return
        texts = [node.addr[0] for node in result.nodes]
        done.append({"ok": True, "addrs": [t.decode() if isinstance(t, bytes) else t for t in texts]})

    watched: dict[int, tuple[bool, bool]] = {}

    def watch(fd: int, readable: bool, writable: bool) -> None:
        watched.pop(fd, None)
        if readable or writable:
            watched[fd] = (readable, writable)

    channel = pycares.Channel(sock_state_cb=watch)
    channel.getaddrinfo(name, None, family=family, callback=callback)
    while not done:
        reading = [fd for fd, (readable, _) in watched.items() if readable]
        writing = [fd for fd, (_, writable) in watched.items() if writable]
        wait = channel.timeout()
        ready = select.select(reading, writing, [], 1.0 if wait is None or wait < 0 else min(wait, 1.0))
        for fd in ready[0]:
            channel.process_fd(fd, pycares.ARES_SOCKET_BAD)
        for fd in ready[1]:
            channel.process_fd(pycares.ARES_SOCKET_BAD, fd)
        if not ready[0] and not ready[1]:
            channel.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
    channel.close()
    return done[0]


FAMILIES = {"": socket.AF_UNSPEC, "-4": socket.AF_INET, "-6": socket.AF_INET6}
for line in sys.stdin:
    job = json.loads(line)
    try:
        answer = lookup(job["name"], FAMILIES[job["args"][0] if job["args"] else ""])
    except (ValueError, UnicodeError, pycares.AresError) as error:
        answer = {"ok": False, "err": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
