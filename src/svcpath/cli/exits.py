"""Exit codes of every command, and how errors become them."""

from __future__ import annotations

import enum

from svcpath.errors import EvidenceError, SvcpathError, UsageError


class Exit(enum.IntEnum):
    GOOD = 0  #: healthy, warning, holds, no drift, resolves
    BAD = 1  #: fault, drift, fails; with --strict also warning
    USAGE = 2
    UNDECIDED = 3
    UNREADABLE = 4  #: evidence or cluster
    INTERNAL = 70
    INTERRUPTED = 130


def of_verdict(status: str, *, strict: bool) -> Exit:
    match status:
        case "healthy":
            return Exit.GOOD
        case "warning":
            return Exit.BAD if strict else Exit.GOOD
        case "fault":
            return Exit.BAD
        case _:
            return Exit.UNDECIDED


def of_error(error: SvcpathError) -> Exit:
    if isinstance(error, UsageError):
        return Exit.USAGE
    if isinstance(error, EvidenceError):
        return Exit.UNREADABLE
    return Exit.INTERNAL
