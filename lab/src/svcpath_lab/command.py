"""Run other programs: one way to start them, to keep what they said, and to tell the user what failed and what to do.

Everything that the lab does to a machine or a cluster is a command that a person could have typed, so that a log of the
commands is a recipe.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from svcpath_lab.errors import LabError

#: Where progress is reported, a line at a time.
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ended: its exit code and both streams, decoded with replacement."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The command as it would be typed."""
        return shlex.join(self.argv)


class CommandFailed(LabError):
    """A command that had to succeed and did not."""

    def __init__(self, done: Completed, hint: str = "") -> None:
        self.done = done
        output = (done.err.strip() or done.out.strip()).splitlines()
        last = " | ".join(output[-3:]) if output else "no output"
        super().__init__(f"`{done.line}` ended with {done.code}: {last}" + (f"; {hint}" if hint else ""))


def run(
    argv: Sequence[str | Path],
    *,
    stdin: str | bytes | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    timeout: float | None = 120.0,
    check: bool = True,
    hint: str = "",
) -> Completed:
    """Run a command to its end.

    A missing program is exit code 127, one that takes longer than ``timeout`` seconds 124 (as sh and timeout(1) have
    it). With ``check`` any code but 0 raises CommandFailed, whose message ends in ``hint``.
    """
    words = tuple(str(word) for word in argv)
    sent = stdin.encode() if isinstance(stdin, str) else stdin
    try:
        ended = subprocess.run(
            words,
            input=sent,
            stdin=subprocess.DEVNULL if sent is None else None,
            capture_output=True,
            env=dict(environment) if environment is not None else None,
            cwd=folder,
            timeout=timeout,
            check=False,
        )
        done = Completed(words, ended.returncode, _text(ended.stdout), _text(ended.stderr))
    except FileNotFoundError as missing:
        done = Completed(words, 127, "", f"{missing.filename or words[0]}: not found")
    except PermissionError as refused:
        done = Completed(words, 126, "", f"{refused.filename or words[0]}: not executable")
    except subprocess.TimeoutExpired as late:
        done = Completed(words, 124, _text(late.stdout), _text(late.stderr) + f"\nno end after {timeout:g} s")
    if check and done.code != 0:
        raise CommandFailed(done, hint)
    return done


def become(argv: Sequence[str]) -> NoReturn:
    """Put a command in the place of this process, which ends with it: input, output, terminal, signals and exit code are its.

    Raises LabError where it can't be started.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and so would the command
    try:
        os.execvp(argv[0], list(argv))
    except OSError as failed:
        raise LabError(f"{argv[0]}: {failed.strerror}") from failed


def _text(stream: bytes | None) -> str:
    return (stream or b"").decode("utf-8", "replace")
