"""The sampler's words, and one thread for each kind that is asked for."""

from __future__ import annotations

import importlib.util
import itertools
import signal
import sys
import threading
import urllib.parse
from collections.abc import Callable
from typing import IO

from svcpath.drain.sampler.gets import Gets, HostAddresses
from svcpath.drain.sampler.kept import grpc_calls, keepalive, udp, websocket
from svcpath.drain.sampler.rows import Out, To

DEFAULTS = {
    "new": 0.0, "keepalive": 0.0, "slow": 0.0, "stream": 0.0, "websocket": 0.0, "grpc": 0.0, "udp": 0.0, "seconds": 0.0, "timeout": 5.0,
    "slow_seconds": 5.0, "udp_port": 0.0, "mark": 0.0, "resolve": 0.0, "at_once": 0.0, "until_input_ends": 0.0,
}  # fmt: skip
PATHS = {
    "slow_path": "/slow?seconds={seconds:g}", "stream_path": "/stream?seconds={seconds:g}",
    "websocket_path": "/websocket", "grpc_method": "/drain.Echo/Hostname",
}  # fmt: skip


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

    count = itertools.count(int(numbers["mark"]))
    names = HostAddresses(host, port, numbers["resolve"])

    def each(kind: str, path: str, patience: float) -> Callable[[float], None]:
        marks = count if numbers["mark"] else None
        return lambda rate: Gets(kind, to, path, patience, names, marks, int(numbers["at_once"])).run(rate)

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
    to.out.end()


if __name__ == "__main__":
    main(sys.argv[1:])
