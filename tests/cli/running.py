"""Runs a command of svcpath in this process, as the entry point would, and keeps what it printed."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from unittest import mock

from svcpath.cli.app import run


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def both(self) -> str:
        return self.out + self.err


def svcpath(*arguments: object) -> Ran:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err):
        code = run([str(argument) for argument in arguments])
        out.flush()
        err.flush()
    return Ran(int(code), _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    kept = stream.buffer
    assert isinstance(kept, io.BytesIO)
    return kept.getvalue().decode()
