"""How things end, and how sure a cause is: the two words that stand in every result, from a check to a page."""

from __future__ import annotations

import enum


class Status(enum.StrEnum):
    """How a layer, or one finding of it, ended.

    ``inconclusive``: looked, and the evidence does not decide. ``not-looked-at``: could not or was not allowed to look.
    ``skipped``: nothing was looked at because an earlier layer failed.
    """

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_LOOKED_AT = "not-looked-at"
    SKIPPED = "skipped"


#: From the worst to the best, for "the worst decides".
SEVERITY: tuple[Status, ...] = (
    Status.FAIL,
    Status.INCONCLUSIVE,
    Status.WARN,
    Status.PASS,
    Status.NOT_LOOKED_AT,
    Status.SKIPPED,
)


class Confidence(enum.StrEnum):
    """How a hypothesis stands. ``proven``: every alternative that would show the same is excluded by what was looked
    at. ``supported``: evidence for it, and a look that could refute it was not taken. ``possible``: nothing against it.
    ``refuted``: something looked at excludes it."""

    PROVEN = "proven"
    SUPPORTED = "supported"
    POSSIBLE = "possible"
    REFUTED = "refuted"
