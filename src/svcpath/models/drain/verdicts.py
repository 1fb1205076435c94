"""What a timeline says: findings with their times, free of any report."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from svcpath.models.drain.deletion import Deletion
from svcpath.models.drain.timeline import DrainTimeline


class Said(msgspec.Struct, frozen=True):
    """``level`` is error (requests were lost), warning or note."""

    code: str
    level: str
    text: str


def findings(found: DrainTimeline) -> tuple[Said, ...]:
    return (
        *(finding for deletion in found.deletions for finding in _ends(found, deletion)),
        *_lost(found),
        *_rollout(found),
    )


def _ends(found: DrainTimeline, deletion: Deletion) -> Iterator[Said]:
    for exit_ in deletion.killed:
        signal = f"SIGTERM at {deletion.hook_ends:.1f} s" if deletion.hook_ends is not None else "SIGTERM"
        lost = requests_lost(found, deletion)
        harm = (
            "no request was lost"
            if lost == 0
            else f"{lost} requests were cut"
            if lost
            else "whether a request was lost was not recorded"
        )
        # Requests that were done before the signal leave nothing it could have been finishing.
        verb = "did not end on" if lost is None else "ignored"
        yield Said(
            "SP720",
            "error" if lost else "warning",
            f"container {exit_.container} of {deletion.pod} {verb} {signal} and was killed at {exit_.at:.1f} s "
            f"(exit code {exit_.code}, grace {deletion.grace} s): {harm}; PID 1 without a handler ignores the signal",
        )


def requests_lost(found: DrainTimeline, deletion: Deletion) -> int | None:
    """How many requests on this Pod were cut; None when no client was recorded."""
    mine = [
        connection
        for connection in found.connections
        if connection.peer and connection.peer in (deletion.pod, *deletion.addresses)
    ]
    noted = [remark.status for remark in found.remarks if remark.status is not None and remark.names(deletion.pod)]
    if not mine and not noted:
        return None
    cut = sum(1 for connection in mine if connection.outcome not in ("ok", "http-error"))
    return cut + sum(1 for status in noted if status // 100 not in (2, 3))


def _lost(found: DrainTimeline) -> Iterator[Said]:
    for outage in found.outages:
        edge = f" (the edges may lie {outage.before:.2f} s earlier and {outage.after:.2f} s later)"
        yield Said(
            "SP708",
            "error",
            f"{outage.failed} new connections failed from {outage.start:.2f} s to {outage.end:.2f} s{edge}",
        )


def _rollout(found: DrainTimeline) -> Iterator[Said]:
    reported = found.rollout_reported
    if reported is None:
        return
    left = [
        deletion
        for deletion in found.deletions
        if deletion.zero - found.zero <= reported
        and (deletion.gone is None or deletion.zero - found.zero + deletion.gone > reported)
    ]
    if left:
        last = max(
            (deletion.zero - found.zero + deletion.gone for deletion in left if deletion.gone is not None), default=None
        )
        until = f"until {last:.1f} s" if last is not None else "to the end of the recording"
        names = ", ".join(deletion.pod for deletion in left[:3])
        yield Said(
            "SP701",
            "note",
            f"the rollout was reported complete at {reported:.1f} s, while {names} went on terminating {until}",
        )
