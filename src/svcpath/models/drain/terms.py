"""The terms of a budget: each a number of seconds with its origin, or a range when it is not known.

An unknown term is never zero: it is a range, and the budget says up to which value it still holds.
"""

from __future__ import annotations

import enum

import msgspec

REMOVAL = "load balancer removal"
PROPAGATION = "endpoint propagation"
LONGEST = "longest request"
SHUTDOWN = "shutdown after the signal"


class TermOrigin(enum.Enum):
    MEASURED = "measured"
    MANIFEST = "manifest"
    FLAG = "flag"
    NONE_FOUND = "none found"
    UNKNOWN = "unknown"


class Term(msgspec.Struct, frozen=True):
    """``low`` to ``high`` seconds; ``high`` None is no upper bound. ``detail`` says where the number comes from."""

    name: str
    low: float
    high: float | None
    origin: TermOrigin
    detail: str = ""

    @property
    def known(self) -> bool:
        return self.high == self.low

    @property
    def seconds(self) -> float | None:
        return self.low if self.known else None

    @property
    def bounded(self) -> bool:
        return self.high is not None


def known(name: str, seconds: float, origin: TermOrigin, detail: str = "") -> Term:
    return Term(name, seconds, seconds, origin, detail)


def unknown(name: str, detail: str = "", *, low: float = 0.0, high: float | None = None) -> Term:
    return Term(name, low, high, TermOrigin.UNKNOWN, detail)


class GivenTerms(msgspec.Struct, frozen=True):
    """What the user or a recording says of the terms, in seconds; None is not said. ``measured`` names the fields that
    come from a recording."""

    removal: float | None = None
    propagation: float | None = None
    longest: float | None = None
    shutdown: float | None = None
    measured: frozenset[str] = frozenset()
    #: Where the measured ones come from, by field.
    details: tuple[tuple[str, str], ...] = ()

    def term(self, field: str, name: str, otherwise: Term) -> Term:
        seconds: float | None = getattr(self, field)
        if seconds is None:
            return otherwise
        if field in self.measured:
            return known(name, seconds, TermOrigin.MEASURED, dict(self.details).get(field, ""))
        flag = {"removal": "lb-removal", "longest": "longest-request"}.get(field, field)
        return known(name, seconds, TermOrigin.FLAG, f"--{flag}")

    def filled(self, recorded: GivenTerms) -> GivenTerms:
        """The same with what a recording measured, where the user said nothing."""
        taken = {
            field: getattr(recorded, field)
            for field in recorded.measured
            if getattr(self, field) is None and getattr(recorded, field) is not None
        }
        details = (*self.details, *((field, text) for field, text in recorded.details if field in taken))
        return msgspec.structs.replace(self, **taken, measured=self.measured | frozenset(taken), details=details)
