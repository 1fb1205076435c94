"""A recorded drain as a picture on one axis: Pods' lives, endpoints' conditions, data planes, rollout, every connection."""

from __future__ import annotations

from datetime import datetime

from svcpath.models.drain.changes import EndpointChange
from svcpath.reports.document import (
    Connections,
    Document,
    FindingCard,
    Lane,
    LaneEvent,
    Point,
    Points,
    Section,
    Span,
    Timeline,
)
from svcpath.reports.records import Finding
from svcpath.reports.timeline import DeletionRecord, MomentRecord, TimelineContract, TimelineFinding
from svcpath.reports.views import timeline as moments
from svcpath.reports.views.codes import about
from svcpath.status import Status

#: Lanes of one kind and moments on one lane that are drawn; the JSON form holds all.
LANES, MOMENTS = 60, 200
#: Seconds before 0 that are shown even when nothing is seen there.
BEFORE = 2.0

OUTCOMES = {"ok": Status.PASS, "http-error": Status.WARN}
CONDITIONS = {
    EndpointChange.READY: Status.PASS,
    EndpointChange.SERVING: Status.WARN,
    EndpointChange.NOT_SERVING: Status.FAIL,
}


def page(report: TimelineContract) -> Document:
    sections: list[Section] = [moments.statement(report)]
    if report.moments or report.columns:
        sections.append(drawn(report))
    sections.extend(_finding(finding) for finding in report.findings)
    sections.extend(moments.tables(report))
    if report.gaps:
        sections.append(Points("Where a gap can't be ruled out", tuple(Point(text) for text in report.gaps)))
    return Document(f"0 = {report.zero}", tuple(sections), "timeline")


def _finding(record: TimelineFinding) -> FindingCard:
    known = about(record.code)
    return FindingCard(
        Finding(code=record.code, layer="lifecycle", status=moments.MARKS[record.level], sentence=record.text),
        title=known.title,
        meaning=known.meaning,
        help=known.help,
    )


def drawn(report: TimelineContract) -> Timeline:
    shown = [moment for moment in report.moments if moment.at > -30]
    columns = report.columns
    times = [moment.at for moment in shown]
    if columns is not None:
        times += [at for at in (*columns.start[:1], max(columns.end, default=0.0)) if at > -30]
    start, end = min([-BEFORE, *times]), max([1.0, *times])
    lanes = [*_pods(report, end), *_endpoints(shown, start, end), *_planes(shown), *_others(report, shown)]
    connections = None
    if columns is not None:
        connections = Connections(
            starts=columns.start,
            lengths=tuple(max(0.0, b - a) for a, b in zip(columns.start, columns.end, strict=True)),
            outcome=columns.outcome,
            backend=columns.peer,
            outcomes=tuple((text, OUTCOMES.get(text, Status.FAIL)) for text in columns.outcomes),
            backends=tuple(name or "no answer" for name in columns.peers),
        )
    return Timeline("On one axis", start, end + (end - start) * 0.02, tuple(lanes), connections, _terms(report))


def _offset(report: TimelineContract, deletion: DeletionRecord) -> float:
    """How much later this Pod's own 0 is than that of the axis."""
    try:
        return (datetime.fromisoformat(deletion.zero) - datetime.fromisoformat(report.zero)).total_seconds()
    except (ValueError, TypeError):
        return 0.0


def _pods(report: TimelineContract, end: float) -> list[Lane]:
    lanes = []
    for deletion in report.deletions[:LANES]:
        zero = _offset(report, deletion)
        ended = max((exit_.at for exit_ in deletion.exits), default=None)
        gone = deletion.gone if deletion.gone is not None else ended
        last = gone if gone is not None else end - zero
        signal = deletion.signal if deletion.signal is not None and deletion.signal <= last else None
        spans = []
        if signal:
            spans.append(Span(zero, zero + signal, "preStop"))
        if signal is not None:
            stopped = ended if ended is not None and ended >= signal else last
            spans.append(Span(zero + signal, zero + stopped, "after SIGTERM", Status.WARN))
        else:
            spans.append(Span(zero, zero + last, "terminating"))
        events = [
            LaneEvent(zero, f"delete, grace {deletion.grace} s"),
            LaneEvent(zero + deletion.grace, "grace ends", Status.FAIL),
        ]
        events += [
            LaneEvent(
                zero + exit_.at,
                f"{exit_.container} exit code {exit_.code}{f' ({exit_.reason})' if exit_.reason else ''}",
                Status.FAIL
                if deletion.killed and exit_.code == 137
                else Status.PASS
                if exit_.code in (0, 143)
                else Status.WARN,
            )
            for exit_ in deletion.exits
        ]
        if deletion.gone is not None:
            events.append(LaneEvent(zero + deletion.gone, "gone"))
        where = f" ({deletion.node})" if deletion.node else ""
        lanes.append(Lane(f"{deletion.pod}{where}", "Pods", tuple(spans), tuple(events)))
    return lanes


def _endpoints(shown: list[MomentRecord], start: float, end: float) -> list[Lane]:
    """Each address between its changes: the three conditions as the slice had them."""
    lanes = []
    for address, changes in _by_subject(shown, "slice"):
        spans = []
        for moment, following in zip(changes, [*(later.at for later in changes[1:]), end], strict=True):
            if moment.change is not EndpointChange.REMOVED:
                spans.append(Span(moment.at, following, _predicate(moment), CONDITIONS.get(moment.change)))
        events = tuple(
            LaneEvent(moment.at, _predicate(moment)) for moment in changes if moment.change is EndpointChange.REMOVED
        )
        lanes.append(Lane(address, "Endpoints", tuple(spans), events))
    return lanes


def _planes(shown: list[MomentRecord]) -> list[Lane]:
    return [
        Lane(
            node,
            "Data planes",
            events=tuple(
                LaneEvent(
                    moment.at,
                    _predicate(moment),
                    Status.WARN if moment.change is EndpointChange.SENDS_NO_LONGER else Status.PASS,
                )
                for moment in changes[:MOMENTS]
            ),
        )
        for node, changes in _by_subject(shown, "dataplane")
    ]


def _by_subject(shown: list[MomentRecord], kind: str) -> list[tuple[str, list[MomentRecord]]]:
    """The moments of a kind by what they are about, as many lanes as are drawn."""
    found: dict[str, list[MomentRecord]] = {}
    for moment in shown:
        if moment.kind == kind:
            found.setdefault(moment.subject, []).append(moment)
    return list(found.items())[:LANES]


def _predicate(moment: MomentRecord) -> str:
    """The text without its subject, which the lane says."""
    return moment.text.removeprefix(f"{moment.subject} ")


def _others(report: TimelineContract, shown: list[MomentRecord]) -> list[Lane]:
    lanes = []
    for kind, name in (("rollout", "rollout status"), ("client", "client"), ("event", "events of the API")):
        events = [LaneEvent(moment.at, moment.text) for moment in shown if moment.kind == kind][:MOMENTS]
        reported = report.rollout_reported
        if kind == "rollout" and reported is not None and all(abs(event.at - reported) > 0.01 for event in events):
            events.append(LaneEvent(reported, "reported complete", Status.PASS))
        if events:
            lanes.append(Lane(name, "Around", events=tuple(events)))
    if report.outages:
        spans = tuple(
            Span(outage.start, outage.end, f"{outage.failed} failed", Status.FAIL)
            for outage in report.outages[:MOMENTS]
        )
        lanes.append(Lane("new connections failed", "Around", spans))
    return lanes


def _terms(report: TimelineContract) -> tuple[Span, ...]:
    """The measured terms of the first deletion's budget."""
    if not report.deletions:
        return ()
    deletion = report.deletions[0]
    zero = _offset(report, deletion)
    terms = []
    slowest = max((at for _, at, _ in deletion.nodes), default=deletion.slice_noticed)
    if slowest is not None and slowest > 0:
        terms.append(Span(zero, zero + slowest, "endpoint propagation" if deletion.nodes else "slice"))
    ended = max((exit_.at for exit_ in deletion.exits), default=None)
    if deletion.signal is not None and ended is not None and ended >= deletion.signal:
        terms.append(Span(zero + deletion.signal, zero + ended, "shutdown after the signal"))
    return tuple(terms)
