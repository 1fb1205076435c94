"""PodCommands whose containers are this machine: what is begun in a Pod runs here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from svcpath.drain.command import PodCommand


@dataclass
class LocalCommand:
    process: subprocess.Popen[bytes]
    error: str = ""

    def lines(self) -> Iterator[bytes]:
        assert self.process.stdout is not None
        yield from self.process.stdout

    def complaints(self) -> Iterator[bytes]:
        assert self.process.stderr is not None
        while piece := os.read(self.process.stderr.fileno(), 65536):
            yield piece

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@dataclass
class LocalCommands:
    """``pid`` gets the number of the last command's process."""

    pid: Path
    begun: list[LocalCommand] = field(default_factory=list)

    def get(self, path: str) -> bytes:
        raise AssertionError(path)

    def start(self, namespace: str, pod: str, container: str, command: Sequence[str]) -> PodCommand:
        del namespace, pod, container
        process = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.pid.write_text(str(process.pid))
        self.begun.append(LocalCommand(process))
        return self.begun[-1]


@dataclass
class Printed:
    """A command that has printed all it will."""

    output: Sequence[bytes]
    moments: Sequence[bytes] = ()
    error: str = ""

    def lines(self) -> Iterator[bytes]:
        return iter(self.output)

    def complaints(self) -> Iterator[bytes]:
        return iter(self.moments)

    def write(self, data: bytes) -> None: ...

    def end_input(self) -> None: ...

    def close(self) -> None: ...
