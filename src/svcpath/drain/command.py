"""A command that runs in a container for as long as something is recorded: lines come from it, and its input stays open.

The end of its input is the command's own end: whatever ends this process leaves none behind in the container.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


class PodCommand(Protocol):
    """Read from any thread, each stream by one reader."""

    @property
    def error(self) -> str:
        """Why it could not go on, "" while it runs and where it ended by itself."""

    def lines(self) -> Iterator[bytes]:
        """Lines of its standard output with their ends, until it ends."""

    def complaints(self) -> Iterator[bytes]:
        """Pieces of its standard error as they come, until it ends."""

    def write(self, data: bytes) -> None: ...

    def end_input(self) -> None:
        """Close its standard input."""

    def close(self) -> None:
        """Give it up; a second call does nothing."""


class PodCommands(Protocol):
    """Where commands are begun and objects read; ClusterTransport is one."""

    def get(self, path: str) -> bytes: ...

    def start(self, namespace: str, pod: str, container: str, command: Sequence[str]) -> PodCommand:
        """Begin a command in a container, with its input open. Raises SourceUnavailable when it could not be started."""


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A PodCommand that could not be started: it prints nothing."""

    error: str

    def lines(self) -> Iterator[bytes]:
        return iter(())

    def complaints(self) -> Iterator[bytes]:
        return iter(())

    def write(self, data: bytes) -> None: ...

    def end_input(self) -> None: ...

    def close(self) -> None: ...


class Received:
    """What came of a command so far, for readers in other threads. ``None`` in a queue is its end."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._complaints: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._rest = b""
        self._over = threading.Event()
        self.error = ""

    def output(self, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._lines.put(line + b"\n")

    def complaint(self, data: bytes) -> None:
        self._complaints.put(data)

    def end(self) -> None:
        if not self._over.is_set():
            self._over.set()
            if self._rest:
                self._lines.put(self._rest)
            self._lines.put(None)
            self._complaints.put(None)

    def lines(self) -> Iterator[bytes]:
        yield from iter(self._lines.get, None)

    def complaints(self) -> Iterator[bytes]:
        yield from iter(self._complaints.get, None)
