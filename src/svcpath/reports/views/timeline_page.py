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
from svcpath.reports.timeline import DeletionRecord, MomentRecord, SaidRecord, TimelineContract
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
    sections.extend(_finding(one) for one in report.findings)
    sections.extend(moments.tables(report))
    if report.gaps:
        sections.append(Points("Where a gap can't be ruled out", tuple(Point(text) for text in report.gaps)))
    return Document(f"0 = {report.zero}", tuple(sections), "timeline")


def _finding(one: SaidRecord) -> FindingCard:
    known = about(one.code)
    return FindingCard(
        Finding(code=one.code, layer="lifecycle", status=moments.MARKS[one.level], sentence=one.text),
        title=known.title,
        meaning=known.meaning,
        help=known.help,
    )


def drawn(report: TimelineContract) -> Timeline:
    shown = [one for one in report.moments if one.at > -30]
    columns = report.columns
    times = [one.at for one in shown]
    if columns is not None:
        times += [at for at in (*columns.start[:1], max(columns.end, default=0.0)) if at > -30]
    start, end = min([-BEFORE, *times]), max([1.0, *times])
    lanes = [*_pods(report, end), *_endpoints(shown, start, end), *_planes(shown), *_others(report, shown)]
    held = None
    if columns is not None:
        held = Connections(
            starts=columns.start,
            lengths=tuple(max(0.0, b - a) for a, b in zip(columns.start, columns.end, strict=True)),
            outcome=columns.outcome,
            backend=columns.peer,
            outcomes=tuple((text, OUTCOMES.get(text, Status.FAIL)) for text in columns.outcomes),
            backends=tuple(name or "no answer" for name in columns.peers),
        )
    return Timeline("On one axis", start, end + (end - start) * 0.02, tuple(lanes), held, _terms(report))


def _offset(report: TimelineContract, one: DeletionRecord) -> float:
    """How much later this Pod's own 0 is than that of the axis."""
    try:
        return (datetime.fromisoformat(one.zero) - datetime.fromisoformat(report.zero)).total_seconds()
    except (ValueError, TypeError):
        return 0.0


def _pods(report: TimelineContract, end: float) -> list[Lane]:
    lanes = []
    for one in report.deletions[:LANES]:
        zero = _offset(report, one)
        ended = max((each.at for each in one.exits), default=None)
        gone = one.gone if one.gone is not None else ended
        last = gone if gone is not None else end - zero
        signal = one.signal if one.signal is not None and one.signal <= last else None
        spans = []
        if signal:
            spans.append(Span(zero, zero + signal, "preStop"))
        if signal is not None:
            stopped = ended if ended is not None and ended >= signal else last
            spans.append(Span(zero + signal, zero + stopped, "after the stop signal", Status.WARN))
        else:
            spans.append(Span(zero, zero + last, "terminating"))
        events = [
            LaneEvent(zero, f"delete, grace {one.grace} s"),
            LaneEvent(zero + one.grace, "grace ends", Status.FAIL),
        ]
        events += [
            LaneEvent(
                zero + each.at,
                f"{each.container} exit code {each.code}{f' ({each.reason})' if each.reason else ''}",
                Status.FAIL
                if one.killed and each.code == 137
                else Status.PASS
                if each.code in (0, 143)
                else Status.WARN,
            )
            for each in one.exits
        ]
        if one.gone is not None:
            events.append(LaneEvent(zero + one.gone, "gone"))
        where = f" ({one.node})" if one.node else ""
        lanes.append(Lane(f"{one.pod}{where}", "Pods", tuple(spans), tuple(events)))
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
        events = [LaneEvent(one.at, one.text) for one in shown if one.kind == kind][:MOMENTS]
        said = report.rollout_reported
        if kind == "rollout" and said is not None and all(abs(each.at - said) > 0.01 for each in events):
            events.append(LaneEvent(said, "reported complete", Status.PASS))
        if events:
            lanes.append(Lane(name, "Around", events=tuple(events)))
    if report.outages:
        spans = tuple(Span(one.start, one.end, f"{one.failed} failed", Status.FAIL) for one in report.outages[:MOMENTS])
        lanes.append(Lane("new connections failed", "Around", spans))
    return lanes


def _terms(report: TimelineContract) -> tuple[Span, ...]:
    """The measured terms of the first deletion's budget."""
    if not report.deletions:
        return ()
    one = report.deletions[0]
    zero = _offset(report, one)
    terms = []
    slowest = max((at for _, at, _ in one.nodes), default=one.slice_noticed)
    if slowest is not None and slowest > 0:
        terms.append(Span(zero, zero + slowest, "slice and data plane" if one.nodes else "slice"))
    ended = max((each.at for each in one.exits), default=None)
    if one.signal is not None and ended is not None and ended >= one.signal:
        terms.append(Span(zero + one.signal, zero + ended, "shutdown after the signal"))
    return tuple(terms)
