"""Exit codes of every command, and how errors become them."""

from __future__ import annotations

import enum

from svcpath.errors import EvidenceError, SvcpathError, UsageError


class ExitCode(enum.IntEnum):
    GOOD = 0  #: healthy, warning, holds, no drift, resolves
    BAD = 1  #: fault, drift, fails; with --strict also warning
    USAGE = 2
    UNDECIDED = 3
    UNREADABLE = 4  #: evidence or cluster
    INTERNAL = 70
    INTERRUPTED = 130


def of_verdict(status: str, *, strict: bool) -> ExitCode:
    match status:
        case "healthy":
            return ExitCode.GOOD
        case "warning":
            return ExitCode.BAD if strict else ExitCode.GOOD
        case "fault":
            return ExitCode.BAD
        case _:
            return ExitCode.UNDECIDED


def of_error(error: SvcpathError) -> ExitCode:
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    if isinstance(error, EvidenceError):
        return ExitCode.UNREADABLE
    return ExitCode.INTERNAL
