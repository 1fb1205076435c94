"""Deletions, rollouts, data planes and clients on one axis: from watch events and notes to moments, measures and outages.

0 is the first deletion's moment; how that is found, and how exact it is, is in ``deletion``.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svcpath.models.drain.changes import Moment, computed, of_objects, of_planes, of_remarks
from svcpath.models.drain.deletion import Deletion, deletions_of
from svcpath.models.drain.moments import PlaneChange, ReceivedEvent, Remark, SampledConnection
from svcpath.models.drain.outages import Outage, outages
from svcpath.models.drain.rollouts import of_rollouts, reported


class DrainTimeline(msgspec.Struct, frozen=True):
    """``zero`` is the epoch time of the axis; moments in order; ``remarks`` as the clients' logs have them."""

    zero: float
    deletions: tuple[Deletion, ...]
    moments: tuple[Moment, ...]
    connections: tuple[SampledConnection, ...]
    outages: tuple[Outage, ...]
    rollout_reported: float | None
    remarks: tuple[Remark, ...] = ()


def timeline(
    seen: Sequence[ReceivedEvent],
    remarks: Sequence[Remark] = (),
    connections: Sequence[SampledConnection] = (),
    planes: Sequence[PlaneChange] = (),
) -> DrainTimeline:
    """Put a recording on one axis. Its 0 is the first deletion's, or the first thing recorded where nothing is deleted."""
    ordered = sorted(seen, key=lambda event: event.received)
    deletions = deletions_of(ordered, planes)
    stamps = (
        [event.received for event in ordered]
        + [remark.at for remark in remarks]
        + [connection.start for connection in connections]
    )
    zero = min((deletion.zero for deletion in deletions), default=min(stamps, default=0.0))
    moments = [
        *of_objects(ordered, deletions, zero),
        *of_remarks(remarks, zero),
        *computed(deletions, zero),
        *of_planes(planes, zero),
        *of_rollouts(ordered, zero),
    ]
    moments.sort(key=lambda moment: (round(moment.at, 6), moment.kind))
    return DrainTimeline(
        zero=zero,
        deletions=deletions,
        moments=tuple(moments),
        connections=tuple(connections),
        outages=tuple(outages(connections, zero)),
        rollout_reported=reported(ordered, remarks, zero) if deletions else None,
        remarks=tuple(remarks),
    )
