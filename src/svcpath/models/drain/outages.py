"""When did new connections fail? Runs of failures, with how far each edge may be off: clients try only so often."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svcpath.models.drain.moments import SampledConnection


class Outage(msgspec.Struct, frozen=True):
    """A time in which new connections failed: the first that failed to the last before one that worked. The edges lie
    between the neighbours' starts: ``before`` and ``after`` are how much earlier and later it may have been."""

    start: float
    end: float
    failed: int
    before: float
    after: float


def outages(connections: Sequence[SampledConnection], zero: float = 0.0) -> list[Outage]:
    """Runs of new connections that failed, in the order of their start, with the uncertainty of each edge."""
    ordered = sorted(
        (connection for connection in connections if connection.kind == "new"), key=lambda connection: connection.start
    )
    found: list[Outage] = []
    run: list[SampledConnection] = []
    good: SampledConnection | None = None
    for connection in ordered:
        if connection.outcome != "ok":
            run.append(connection)
            continue
        if run:
            found.append(_outage(run, good, connection, zero))
            run = []
        good = connection
    if run:
        found.append(_outage(run, good, None, zero))
    return found


def _outage(
    run: Sequence[SampledConnection], before: SampledConnection | None, after: SampledConnection | None, zero: float
) -> Outage:
    first, last = run[0], run[-1]
    return Outage(
        start=first.start - zero,
        end=last.start - zero,
        failed=len(run),
        before=first.start - before.start if before else 0.0,
        after=after.start - last.start if after else 0.0,
    )
