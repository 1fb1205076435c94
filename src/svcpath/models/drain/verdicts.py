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
        *(said for one in found.deletions for said in _ends(found, one)),
        *_lost(found),
        *_rollout(found),
    )


def _ends(found: DrainTimeline, one: Deletion) -> Iterator[Said]:
    for each in one.killed:
        signal = f"its stop signal at {one.hook_ends:.1f} s" if one.hook_ends is not None else "its stop signal"
        lost = requests_lost(found, one)
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
            f"container {each.container} of {one.pod} {verb} {signal} and was killed at {each.at:.1f} s "
            f"(exit code {each.code}, grace {one.grace} s): {harm}; PID 1 without a handler ignores the signal",
        )


def requests_lost(found: DrainTimeline, one: Deletion) -> int | None:
    """How many requests on this Pod were cut; None when no client was recorded."""
    mine = [each for each in found.connections if each.peer and each.peer in (one.pod, *one.addresses)]
    noted = [remark.status for remark in found.remarks if remark.status is not None and remark.names(one.pod)]
    if not mine and not noted:
        return None
    cut = sum(1 for each in mine if each.outcome not in ("ok", "http-error"))
    return cut + sum(1 for status in noted if status // 100 not in (2, 3))


def _lost(found: DrainTimeline) -> Iterator[Said]:
    for one in found.outages:
        edge = f" (the edges may lie {one.before:.2f} s earlier and {one.after:.2f} s later)"
        yield Said(
            "SP708",
            "error",
            f"{one.failed} new connections failed from {one.start:.2f} s to {one.end:.2f} s{edge}",
        )


def _rollout(found: DrainTimeline) -> Iterator[Said]:
    reported = found.rollout_reported
    if reported is None:
        return
    left = [
        one
        for one in found.deletions
        if one.zero - found.zero <= reported and (one.gone is None or one.zero - found.zero + one.gone > reported)
    ]
    if left:
        last = max((one.zero - found.zero + one.gone for one in left if one.gone is not None), default=None)
        until = f"until {last:.1f} s" if last is not None else "to the end of the recording"
        names = ", ".join(one.pod for one in left[:3])
        yield Said(
            "SP701",
            "note",
            f"the rollout was reported complete at {reported:.1f} s, while {names} went on terminating {until}",
        )
