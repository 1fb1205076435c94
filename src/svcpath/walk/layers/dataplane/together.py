"""Were the slices and a node's table read at the same time?

A running cluster changes while it is looked at. Where a look hangs (a node that takes few new connections), objects and table
may be half a minute apart, and an endpoint that came or went between them looks like drift. Files that a person recorded
carry no times: those are taken as one look.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from svcpath.evidence.facts.observation import Observation
from svcpath.models.dataplanes import DifferenceKind
from svcpath.models.dataplanes.times import seconds_of

#: Seconds in which a change reaches every node: the slice's batch, kube-proxy's minSyncPeriod, and a look's own time.
TOGETHER = 10.0
#: What an endpoint that came or went makes of a table.
BY_ENDPOINTS = frozenset(
    {
        DifferenceKind.STALE,
        DifferenceKind.MISSING,
        DifferenceKind.WRONG_PORT,
        DifferenceKind.WRONG_TARGET,
        DifferenceKind.UNEXPECTED_REJECT,
        DifferenceKind.UNEXPECTED_DROP,
        DifferenceKind.REJECT_MISSING,
        DifferenceKind.DROP_MISSING,
    }
)


def apart(kind: DifferenceKind, table: Observation[Any], slices: Sequence[Observation[Any]]) -> str:
    """What to say where a difference of this kind may come from the time between the looks; else empty."""
    at = _at(table)
    read = [moment for slice_ in slices if (moment := _at(slice_)) is not None]
    if kind not in BY_ENDPOINTS or at is None or not read:
        return ""
    seconds = max(abs(at - moment) for moment in read)
    if seconds <= TOGETHER:
        return ""
    return f"slices and table were read {seconds:.0f} s apart: endpoints may have changed between them"


def _at(observation: Observation[Any]) -> float | None:
    return seconds_of(observation.provenance.at) if observation.provenance.at else None
