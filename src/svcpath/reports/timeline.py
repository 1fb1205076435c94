"""The contract ``svcpath.timeline/v1``: one or several deletions on one axis, with what was measured and what it says."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.kubernetes import Event, Object
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.formats.evidence import WatchEvent
from svcpath.models.drain.changes import EndpointChange
from svcpath.models.drain.deletion import Deletion
from svcpath.models.drain.moments import ReceivedEvent, Remark, seconds_of, stamp_of
from svcpath.models.drain.terms import GivenTerms
from svcpath.models.drain.timeline import DrainTimeline
from svcpath.models.drain.verdicts import findings, requests_lost
from svcpath.reports.records import Record

SCHEMA = "svcpath.timeline/v1"

#: A watch that starts with a listing receives all of it within this many seconds.
_LISTING = 2.0


class MomentRecord(Record, frozen=True, kw_only=True):
    """``at`` seconds after 0, ``time`` RFC 3339; ``exact`` false is computed, not seen. Of a slice ``subject`` is the
    address and ``change`` its condition or removed, of a dataplane the node, and whether it sends there; else empty."""

    at: float
    time: str
    kind: str
    text: str
    exact: bool
    place: str
    subject: str = ""
    change: EndpointChange = EndpointChange.NONE


class ExitRecord(Record, frozen=True, kw_only=True):
    container: str
    code: int
    reason: str
    at: float


class DeletionRecord(Record, frozen=True, kw_only=True):
    """Seconds after this Pod's own 0, ``zero``; null: not in the recording. ``nodes`` are (node, seconds, uncertainty) of
    each data plane. ``requests_lost`` null: no client was recorded."""

    pod: str
    namespace: str
    node: str
    zero: str
    uncertain: float
    grace: int
    slice_noticed: float | None
    conditions: str
    signal: float | None
    exits: tuple[ExitRecord, ...]
    killed: bool
    endpoint_removed: float | None
    gone: float | None
    nodes: tuple[tuple[str, float, float], ...]
    requests_lost: int | None


class OutageRecord(Record, frozen=True, kw_only=True):
    start: float
    end: float
    failed: int
    before: float
    after: float


class TimelineFinding(Record, frozen=True, kw_only=True):
    code: str
    level: str
    text: str


class ColumnsRecord(Record, frozen=True, kw_only=True):
    """Connections and requests as columns, seconds after 0; ``outcome`` and ``peer`` are indices into ``outcomes`` and
    ``peers``."""

    start: tuple[float, ...]
    end: tuple[float, ...]
    outcome: tuple[int, ...]
    peer: tuple[int, ...]
    outcomes: tuple[str, ...]
    peers: tuple[str, ...]


class TimelineContract(Record, frozen=True, kw_only=True):
    schema: str
    zero: str
    deletions: tuple[DeletionRecord, ...]
    moments: tuple[MomentRecord, ...]
    connections: int
    failed: int
    outages: tuple[OutageRecord, ...]
    rollout_reported: float | None
    findings: tuple[TimelineFinding, ...]
    gaps: tuple[str, ...]
    columns: ColumnsRecord | None = None


def seen_of(events: Sequence[WatchEvent]) -> tuple[ReceivedEvent, ...]:
    """Recorded watch events as states with times; those without a receive time can't be placed and are left out."""
    started: dict[tuple[str, Kind], float] = {}
    found: list[ReceivedEvent] = []
    for event in events:
        observation = event.observation
        if not event.received or observation.value is None:
            continue
        try:
            received = seconds_of(event.received)
        except FormatError:
            continue
        where = observation.provenance
        start = started.setdefault((where.path, observation.kind), received)
        place = f"{where.path}:{where.line}" if where.line else where.path
        first = event.type == "ADDED" and received - start < _LISTING and _older(observation.value, received)
        found.append(ReceivedEvent(received, event.type, observation.value, place, first))
    return tuple(found)


def _older(obj: Any, received: float) -> bool:
    """Whether the object was there before the watch began: only then is an ADDED its listing."""
    made = obj.at if isinstance(obj, Event) else obj.metadata.creation_timestamp if isinstance(obj, Object) else None
    try:
        return made is None or seconds_of(made) < received - 1
    except FormatError:
        return True


def remarks_of(observations: Sequence[Observation[Any]]) -> tuple[Remark, ...]:
    """The stamped lines of a client's log."""
    found = []
    for observation in observations:
        if observation.kind is not Kind.TIMELINE or observation.value is None:
            continue
        for entry in observation.value.entries:
            try:
                at = seconds_of(entry.at)
            except FormatError:
                continue
            kind, _, text = entry.event.partition(" ")
            if kind not in ("pod", "target"):  # listings, not happenings
                found.append(Remark(at, kind, " ".join(text.split()), f"{observation.provenance.path}:{entry.line}"))
    return tuple(found)


def timeline_report(found: DrainTimeline, gaps: Sequence[str] = ()) -> TimelineContract:
    return TimelineContract(
        schema=SCHEMA,
        zero=stamp_of(found.zero),
        deletions=tuple(_deletion(found, deletion) for deletion in found.deletions),
        moments=tuple(
            MomentRecord(
                at=round(moment.at, 3),
                time=stamp_of(found.zero + moment.at),
                kind=moment.kind,
                text=moment.text,
                exact=moment.exact,
                place=moment.place,
                subject=moment.subject,
                change=moment.change,
            )
            for moment in found.moments
        ),
        connections=len(found.connections),
        failed=sum(1 for connection in found.connections if connection.outcome not in ("ok", "http-error")),
        outages=tuple(
            OutageRecord(
                start=round(outage.start, 3),
                end=round(outage.end, 3),
                failed=outage.failed,
                before=round(outage.before, 3),
                after=round(outage.after, 3),
            )
            for outage in found.outages
        ),
        rollout_reported=_round(found.rollout_reported),
        findings=tuple(
            TimelineFinding(code=finding.code, level=finding.level, text=finding.text) for finding in findings(found)
        ),
        gaps=tuple(gaps),
        columns=_columns(found) if found.connections else None,
    )


def _columns(found: DrainTimeline) -> ColumnsRecord:
    ordered = sorted(found.connections, key=lambda connection: (connection.start, connection.end, connection.peer))
    outcomes = {name: i for i, name in enumerate(sorted({connection.outcome for connection in ordered}))}
    peers = {name: i for i, name in enumerate(sorted({connection.peer for connection in ordered}))}
    return ColumnsRecord(
        start=tuple(round(connection.start - found.zero, 4) for connection in ordered),
        end=tuple(round(connection.end - found.zero, 4) for connection in ordered),
        outcome=tuple(outcomes[connection.outcome] for connection in ordered),
        peer=tuple(peers[connection.peer] for connection in ordered),
        outcomes=tuple(outcomes),
        peers=tuple(peers),
    )


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _deletion(found: DrainTimeline, deletion: Deletion) -> DeletionRecord:
    return DeletionRecord(
        pod=deletion.pod,
        namespace=deletion.namespace,
        node=deletion.node,
        zero=stamp_of(deletion.zero),
        uncertain=round(deletion.uncertain, 3),
        grace=deletion.grace,
        slice_noticed=_round(deletion.noticed),
        conditions=deletion.conditions,
        signal=_round(deletion.hook_ends),
        exits=tuple(
            ExitRecord(container=exit_.container, code=exit_.code, reason=exit_.reason, at=round(exit_.at, 3))
            for exit_ in deletion.exits
        ),
        killed=bool(deletion.killed),
        endpoint_removed=_round(deletion.removed),
        gone=_round(deletion.gone),
        nodes=tuple((node, round(at, 3), round(width, 3)) for node, at, width in deletion.planes),
        requests_lost=requests_lost(found, deletion),
    )


def measured(found: DrainTimeline) -> GivenTerms:
    """What a recording tells of the terms of a budget: the slowest node's propagation, the longest shutdown after a
    signal, the longest request that ended well."""
    propagation = [at for deletion in found.deletions for _, at, _ in deletion.planes]
    shutdowns = [
        deletion.ended - deletion.hook_ends
        for deletion in found.deletions
        if deletion.ended is not None
        and deletion.hook_ends is not None
        and not deletion.killed
        and deletion.ended >= deletion.hook_ends
    ]
    details: dict[str, str] = {}
    if propagation:
        slowest = max(((at, node) for deletion in found.deletions for node, at, _ in deletion.planes))
        details["propagation"] = f"slowest node {slowest[1]}"
    if shutdowns:
        details["shutdown"] = f"the slowest of {len(shutdowns)}"
    return GivenTerms(
        propagation=round(max(propagation), 3) if propagation else None,
        shutdown=round(max(shutdowns), 3) if shutdowns else None,
        measured=frozenset(details),
        details=tuple(details.items()),
    )


# --- export -------------------------------------------------------------------------------------------------------

_COLUMNS = ("at", "time", "kind", "text", "exact", "place")


def json_lines(report: TimelineContract, found: DrainTimeline) -> bytes:
    """Every moment, then every connection, one JSON object a line."""
    rows: list[Any] = [msgspec.to_builtins(moment) for moment in report.moments]
    rows.extend(
        {
            "at": round(connection.start - found.zero, 6),
            "time": stamp_of(connection.start),
            "kind": f"connection {connection.kind}",
            "due": round(connection.due - found.zero, 6),
            "connected": None if connection.connected is None else round(connection.connected - found.zero, 6),
            "first_byte": None if connection.first_byte is None else round(connection.first_byte - found.zero, 6),
            "end": round(connection.end - found.zero, 6),
            "peer": connection.peer,
            "outcome": connection.outcome,
            "status": connection.status,
            "text": connection.detail,
        }
        for connection in found.connections
    )
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def comma_separated(report: TimelineContract, found: DrainTimeline) -> bytes:
    """RFC 4180: moments and connections in one table."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow((*_COLUMNS, "end", "peer", "outcome"))
    for moment in report.moments:
        writer.writerow(
            (
                f"{moment.at:.3f}",
                moment.time,
                moment.kind,
                moment.text,
                str(moment.exact).lower(),
                moment.place,
                "",
                "",
                "",
            )
        )
    for connection in found.connections:
        start, end = connection.start - found.zero, connection.end - found.zero
        row = (
            f"{start:.6f}",
            stamp_of(connection.start),
            f"connection {connection.kind}",
            connection.detail,
            "true",
            "",
        )
        writer.writerow((*row, f"{end:.6f}", connection.peer, connection.outcome))
    return out.getvalue().encode()
