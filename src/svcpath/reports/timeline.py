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


class SaidRecord(Record, frozen=True, kw_only=True):
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
    findings: tuple[SaidRecord, ...]
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
    for one in observations:
        if one.kind is not Kind.TIMELINE or one.value is None:
            continue
        for entry in one.value.entries:
            try:
                at = seconds_of(entry.at)
            except FormatError:
                continue
            kind, _, text = entry.event.partition(" ")
            if kind not in ("pod", "target"):  # listings, not happenings
                found.append(Remark(at, kind, " ".join(text.split()), f"{one.provenance.path}:{entry.line}"))
    return tuple(found)


def timeline_report(found: DrainTimeline, gaps: Sequence[str] = ()) -> TimelineContract:
    return TimelineContract(
        schema=SCHEMA,
        zero=stamp_of(found.zero),
        deletions=tuple(_deletion(found, one) for one in found.deletions),
        moments=tuple(
            MomentRecord(
                at=round(one.at, 3),
                time=stamp_of(found.zero + one.at),
                kind=one.kind,
                text=one.text,
                exact=one.exact,
                place=one.place,
                subject=one.subject,
                change=one.change,
            )
            for one in found.moments
        ),
        connections=len(found.connections),
        failed=sum(1 for one in found.connections if one.outcome not in ("ok", "http-error")),
        outages=tuple(
            OutageRecord(
                start=round(one.start, 3),
                end=round(one.end, 3),
                failed=one.failed,
                before=round(one.before, 3),
                after=round(one.after, 3),
            )
            for one in found.outages
        ),
        rollout_reported=_round(found.rollout_reported),
        findings=tuple(SaidRecord(code=one.code, level=one.level, text=one.text) for one in findings(found)),
        gaps=tuple(gaps),
        columns=_columns(found) if found.connections else None,
    )


def _columns(found: DrainTimeline) -> ColumnsRecord:
    ordered = sorted(found.connections, key=lambda one: (one.start, one.end, one.peer))
    outcomes = {name: i for i, name in enumerate(sorted({one.outcome for one in ordered}))}
    peers = {name: i for i, name in enumerate(sorted({one.peer for one in ordered}))}
    return ColumnsRecord(
        start=tuple(round(one.start - found.zero, 4) for one in ordered),
        end=tuple(round(one.end - found.zero, 4) for one in ordered),
        outcome=tuple(outcomes[one.outcome] for one in ordered),
        peer=tuple(peers[one.peer] for one in ordered),
        outcomes=tuple(outcomes),
        peers=tuple(peers),
    )


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _deletion(found: DrainTimeline, one: Deletion) -> DeletionRecord:
    return DeletionRecord(
        pod=one.pod,
        namespace=one.namespace,
        node=one.node,
        zero=stamp_of(one.zero),
        uncertain=round(one.uncertain, 3),
        grace=one.grace,
        slice_noticed=_round(one.noticed),
        conditions=one.conditions,
        signal=_round(one.hook_ends),
        exits=tuple(
            ExitRecord(container=each.container, code=each.code, reason=each.reason, at=round(each.at, 3))
            for each in one.exits
        ),
        killed=bool(one.killed),
        endpoint_removed=_round(one.removed),
        gone=_round(one.gone),
        nodes=tuple((node, round(at, 3), round(width, 3)) for node, at, width in one.planes),
        requests_lost=requests_lost(found, one),
    )


def measured(found: DrainTimeline) -> GivenTerms:
    """What a recording tells of the terms of a budget: the slowest node's propagation, the longest shutdown after a
    signal, the longest request that ended well."""
    propagation = [at for one in found.deletions for _, at, _ in one.planes]
    shutdowns = [
        one.ended - one.hook_ends
        for one in found.deletions
        if one.ended is not None and one.hook_ends is not None and not one.killed and one.ended >= one.hook_ends
    ]
    details: dict[str, str] = {}
    if propagation:
        slowest = max(((at, node) for one in found.deletions for node, at, _ in one.planes))
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
    rows: list[Any] = [msgspec.to_builtins(one) for one in report.moments]
    rows.extend(
        {
            "at": round(one.start - found.zero, 6),
            "time": stamp_of(one.start),
            "kind": f"connection {one.kind}",
            "due": round(one.due - found.zero, 6),
            "connected": None if one.connected is None else round(one.connected - found.zero, 6),
            "first_byte": None if one.first_byte is None else round(one.first_byte - found.zero, 6),
            "end": round(one.end - found.zero, 6),
            "peer": one.peer,
            "outcome": one.outcome,
            "status": one.status,
            "text": one.detail,
        }
        for one in found.connections
    )
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def comma_separated(report: TimelineContract, found: DrainTimeline) -> bytes:
    """RFC 4180: moments and connections in one table."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow((*_COLUMNS, "end", "peer", "outcome"))
    for one in report.moments:
        writer.writerow((f"{one.at:.3f}", one.time, one.kind, one.text, str(one.exact).lower(), one.place, "", "", ""))
    for each in found.connections:
        start, end = each.start - found.zero, each.end - found.zero
        row = (f"{start:.6f}", stamp_of(each.start), f"connection {each.kind}", each.detail, "true", "")
        writer.writerow((*row, f"{end:.6f}", each.peer, each.outcome))
    return out.getvalue().encode()
