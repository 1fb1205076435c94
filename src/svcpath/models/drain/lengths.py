"""What is known of a command before it runs: how long it takes, how it ends, whether it tells the container to stop.

Lengths of a script's commands add up; what may not run counts from 0, and what can't be read off has no upper bound.
"""

from __future__ import annotations

import enum

import msgspec


class CommandEnd(enum.Enum):
    """How a command ends, for what follows ``&&`` and ``||``.

    ASSUMED is taken to succeed before ``&&``, yet what follows ``||`` may run as well; MAYBE decides nothing.
    """

    SUCCEEDS = "succeeds"
    ASSUMED = "assumed"
    MAYBE = "maybe"
    FAILS = "fails"


class CommandStop(msgspec.Struct, frozen=True):
    """The command tells the container's main process to stop, ``at`` seconds after it began; ``sure`` that it does."""

    at: float
    sure: bool
    program: str


class Length(msgspec.Struct, frozen=True):
    """``low`` to ``high`` seconds (None: no upper bound). ``assumed`` are programs that count as returning at once.

    ``ends``: nothing of the script runs after it, for certain (True) or perhaps (None). ``fault`` says why it can't run.
    """

    low: float = 0.0
    high: float | None = 0.0
    assumed: tuple[str, ...] = ()
    status: CommandEnd = CommandEnd.SUCCEEDS
    stop: CommandStop | None = None
    ends: bool | None = False
    fault: str = ""

    def then(self, other: Length) -> Length:
        if self.ends is True:
            return self
        after = other.perhaps() if self.ends is None else other
        high = None if self.high is None or after.high is None else self.high + after.high
        return Length(
            self.low + after.low,
            high,
            self.assumed + after.assumed,
            other.status,
            self.stop or _later(after.stop, self),
            None if self.ends is None else after.ends,
            self.fault or after.fault,
        )

    def beside(self, other: Length) -> Length:
        """Both at once, as in a pipeline; it is over when the last of them is."""
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        low = max(self.low, other.low)
        stop = self.stop or other.stop
        return Length(low, high, self.assumed + other.assumed, other.status, stop, fault=self.fault or other.fault)

    def perhaps(self) -> Length:
        """The same where it is not known whether it runs."""
        stop = None if self.stop is None else msgspec.structs.replace(self.stop, sure=False)
        ends = False if self.ends is False else None
        return Length(0.0, self.high, self.assumed, self.status, stop, ends)

    def in_background(self) -> Length:
        """It goes on by itself, and what follows does not wait."""
        stop = self.stop if self.stop is not None and self.stop.at == 0 else None
        return Length(0.0, 0.0, self.assumed, stop=stop)

    def in_subshell(self) -> Length:
        """An exit ends the subshell alone."""
        return msgspec.structs.replace(
            self, ends=False, status=CommandEnd.MAYBE if self.ends is not False else self.status
        )


def _later(stop: CommandStop | None, before: Length) -> CommandStop | None:
    if stop is None:
        return None
    return CommandStop(before.low + stop.at, stop.sure and before.high == before.low, stop.program)


#: Nothing can be read off.
UNKNOWN = Length(0.0, None, status=CommandEnd.ASSUMED)
