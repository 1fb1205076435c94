"""The seven questions, answered from the recording of a drain that happened on a user's own workload.

What was not recorded is "not observed", never a pass: without a sampler's connections the API alone answers 3 and 7.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from svcpath.models.drain.deletion import Deletion
from svcpath.models.drain.moments import SampledConnection
from svcpath.models.drain.timeline import DrainTimeline


class QuestionStatus(enum.Enum):
    PASS = "pass"
    FAIL = "fail"
    NOTE = "note"
    NOT_OBSERVED = "not observed"


@dataclass(frozen=True, slots=True)
class Answered:
    number: int
    answer: QuestionStatus
    sentence: str


#: Seconds after the slice showed the Pod leaving in which node tables and clients' pools may lag.
_LAG = 5.0
_KEPT = frozenset(("keepalive", "websocket", "grpc"))
_NO_CLIENT = "no client was recorded (--sample-from pod/NAME --sample new=20 --sample http://SERVICE/)"


def answers(found: DrainTimeline, pods: Collection[str]) -> tuple[Answered, ...]:
    """One answer per question, about the deletions of ``pods`` alone."""
    mine = [deletion for deletion in found.deletions if deletion.pod in pods]
    if not mine:
        return tuple(Answered(number, QuestionStatus.NOT_OBSERVED, "no Pod was deleted") for number in range(1, 8))
    return (
        _readiness(found, mine),
        _longest(found, mine),
        _grace(mine),
        _pools(found, mine),
        Answered(
            5, QuestionStatus.NOT_OBSERVED, "what a client keeps of the name's answers is known to that client alone"
        ),
        Answered(6, QuestionStatus.NOT_OBSERVED, "when a load balancer removed a node stands in its own log"),
        _rollout(found, mine),
    )


def _at(found: DrainTimeline, deletion: Deletion, connection: SampledConnection) -> float:
    return connection.start - deletion.zero


def _rows(found: DrainTimeline, deletion: Deletion, kinds: Collection[str]) -> list[SampledConnection]:
    return [
        connection
        for connection in found.connections
        if connection.kind in kinds and connection.peer and connection.peer in (deletion.pod, *deletion.addresses)
    ]


def _readiness(found: DrainTimeline, mine: Sequence[Deletion]) -> Answered:
    new = [connection for connection in found.connections if connection.kind == "new"]
    if not new:
        return Answered(1, QuestionStatus.NOT_OBSERVED, _NO_CLIENT)
    bad = [connection for connection in new if connection.outcome != "ok"]
    late = [
        (_at(found, deletion, connection) - deletion.noticed, deletion.pod)
        for deletion in mine
        if deletion.noticed is not None
        for connection in _rows(found, deletion, ("new",))
    ]
    worst = max(late, default=(0.0, ""))
    sentence = f"{len(bad)} of {len(new)} new connections failed"
    if worst[0] > 0:
        sentence += f"; the last one to reach {worst[1]} began {worst[0]:.2f} s after its slice showed it leaving"
    return Answered(1, QuestionStatus.FAIL if bad or worst[0] > _LAG else QuestionStatus.PASS, sentence)


def _longest(found: DrainTimeline, mine: Sequence[Deletion]) -> Answered:
    rows = [
        (deletion, connection)
        for deletion in mine
        for connection in _rows(found, deletion, ("slow", "stream", "keepalive", "new"))
    ]
    under_way = [(deletion, connection) for deletion, connection in rows if connection.end >= deletion.zero]
    if not found.connections:
        return Answered(2, QuestionStatus.NOT_OBSERVED, _NO_CLIENT)
    lost = [connection for connection in found.connections if connection.outcome in ("cut", "timeout", "reset")]
    if lost:
        first = min(lost, key=lambda connection: connection.start)
        return Answered(
            2,
            QuestionStatus.FAIL,
            f"{len(lost)} of {len(found.connections)} requests were not answered, the first "
            f"{first.start - found.zero:.2f} s after the delete ({first.kind}: {first.outcome})",
        )
    if not under_way:
        return Answered(2, QuestionStatus.NOT_OBSERVED, "no recorded request ran on a Pod while it was leaving")
    last = max(connection.end - deletion.zero for deletion, connection in under_way)
    return Answered(
        2, QuestionStatus.PASS, f"{len(under_way)} requests ended on leaving Pods, the last after {last:.2f} s"
    )


def _grace(mine: Sequence[Deletion]) -> Answered:
    for deletion in mine:
        for ended in deletion.killed:
            sentence = f"{deletion.pod}/{ended.container} was killed at {ended.at:.2f} s (exit code 137, grace {deletion.grace} s)"
            return Answered(3, QuestionStatus.FAIL, sentence)
    seen = [deletion for deletion in mine if deletion.exits and deletion.ended is not None]
    if len(seen) < len(mine):
        missing = next(deletion.pod for deletion in mine if deletion not in seen)
        return Answered(3, QuestionStatus.NOT_OBSERVED, f"the end of {missing}'s containers is not in the recording")
    early = [(deletion, ended) for deletion in mine for ended in deletion.exits if ended.code == 137]
    if early:
        deletion, ended = early[0]
        why = ended.reason or "no reason given"
        sentence = f"{deletion.pod}/{ended.container} was killed at {ended.at:.2f} s, before its grace period of {deletion.grace} s ({why})"
        return Answered(3, QuestionStatus.NOTE, sentence)
    slowest = max(seen, key=lambda deletion: deletion.ended or 0.0)
    sentence = f"every container ended by itself, the slowest of {slowest.pod} {slowest.ended:.2f} s after the delete"
    return Answered(3, QuestionStatus.PASS, f"{sentence} (grace {slowest.grace} s)")


def _pools(found: DrainTimeline, mine: Sequence[Deletion]) -> Answered:
    kept = [connection for connection in found.connections if connection.kind in _KEPT]
    if not kept:
        return Answered(4, QuestionStatus.NOT_OBSERVED, "no kept connection was recorded (--sample keepalive=5)")
    bad = [connection for connection in kept if connection.outcome != "ok"]
    stayed = max(
        (
            _at(found, deletion, connection) - deletion.noticed
            for deletion in mine
            if deletion.noticed is not None
            for connection in _rows(found, deletion, _KEPT)
        ),
        default=0.0,
    )
    sentence = f"kept connections went on to a leaving Pod for {max(stayed, 0):.2f} s; {len(bad)} of {len(kept)} requests failed"
    return Answered(4, QuestionStatus.FAIL if bad or stayed > _LAG else QuestionStatus.PASS, sentence)


def _rollout(found: DrainTimeline, mine: Sequence[Deletion]) -> Answered:
    reported = found.rollout_reported
    gone = [deletion.zero - found.zero + deletion.gone for deletion in mine if deletion.gone is not None]
    if reported is None:
        return Answered(7, QuestionStatus.NOT_OBSERVED, "the rollout was not reported complete in the recording")
    if len(gone) < len(mine):
        return Answered(
            7, QuestionStatus.NOTE, f"reported complete at {reported:.2f} s; old Pods were still there at the end"
        )
    later = max(gone) - reported
    if later <= 0:
        return Answered(
            7, QuestionStatus.PASS, f"reported complete at {reported:.2f} s, when the last old Pod was gone"
        )
    return Answered(
        7, QuestionStatus.NOTE, f"reported complete at {reported:.2f} s, the last old Pod was gone {later:.2f} s later"
    )
