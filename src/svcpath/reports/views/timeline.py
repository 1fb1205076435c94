"""A timeline as a Document: the moments in order, what each deletion measured, what it says."""

from __future__ import annotations

from svcpath.reports.document import Document, Note, Point, Points, Section, Statement, Table
from svcpath.reports.timeline import DeletionRecord, MomentRecord, TimelineContract
from svcpath.status import Status

MARKS = {"error": Status.FAIL, "warning": Status.WARN, "note": Status.PASS}
_WORDS = {"error": "LOST", "warning": "WARNING", "note": "NOTE"}
#: Kinds that are left out unless everything is asked for.
_NOISE = frozenset({"event"})


def document(report: TimelineContract, *, verbose: bool = False) -> Document:
    sections: list[Section] = []
    shown = [one for one in report.moments if verbose or (one.kind not in _NOISE and one.at > -30)]
    rows = tuple((f"{one.at:+.3f}", one.kind, _text(one), one.place) for one in shown)
    sections.append(Table(("seconds", "what", "", "recorded at"), rows, "rlll"))
    hidden = len(report.moments) - len(shown)
    if hidden:
        sections.append(Note(f"{hidden} events left out (-v has them)"))
    sections.extend(tables(report))
    for one in report.findings:
        sections.append(Statement(MARKS[one.level], _WORDS[one.level], one.text, one.code))
    if report.deletions and (unfinished(report) or not report.findings):
        sections.append(_outcome(report))
    if report.gaps:
        sections.append(Points("Where a gap can't be ruled out", tuple(Point(text) for text in report.gaps)))
    return Document(f"0 = {report.zero}", tuple(sections))


def tables(report: TimelineContract) -> list[Section]:
    """What each deletion measured, and when new connections failed."""
    sections: list[Section] = []
    if report.deletions:
        table = tuple(_deletion(one) for one in report.deletions)
        columns = ("Pod", "grace", "slice", "nodes", "signal", "ended", "exit", "removed", "gone")
        sections.append(Table(columns, table, "lrrrrrlrr", title="Seconds after each Pod's own delete"))
    if report.connections:
        late = f"{report.connections} connections and requests recorded, {report.failed} failed"
        sections.append(Note(late))
    if report.outages:
        edges = tuple(
            (f"{one.start:.2f}", f"{one.end:.2f}", str(one.failed), f"-{one.before:.2f} / +{one.after:.2f}")
            for one in report.outages
        )
        sections.append(Table(("from", "to", "failed", "uncertainty"), edges, "rrrl", title="New connections failed"))
    return sections


def statement(report: TimelineContract) -> Statement:
    """The recording in one sentence: its worst finding, else that nothing was lost."""
    if not report.deletions:
        return Statement(Status.INCONCLUSIVE, "NO DELETION", "nothing is deleted in the recording")
    for level in MARKS:
        found = [one for one in report.findings if one.level == level]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            return Statement(MARKS[level], _WORDS[level], f"{found[0].text}{more}", found[0].code)
    return _outcome(report)


def unfinished(report: TimelineContract) -> tuple[str, ...]:
    """Pods that were still running when the recording ended."""
    return tuple(one.pod for one in report.deletions if one.gone is None and not one.exits)


def _outcome(report: TimelineContract) -> Statement:
    left = unfinished(report)
    if left:
        names = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
        text = f"the recording ends before {names} ended: what became of its requests is not in it"
        return Statement(Status.INCONCLUSIVE, "NOT OVER", text)
    return Statement(Status.PASS, "DRAINED", "nothing was lost that the recording shows")


def _text(one: MomentRecord) -> str:
    return one.text if one.exact else f"{one.text} (computed)"


def _deletion(one: DeletionRecord) -> tuple[str, ...]:
    slowest = max(one.nodes, key=lambda node: node[1], default=None)
    ended = max((each.at for each in one.exits), default=None)
    codes = ", ".join(f"{each.container} {each.code}" for each in one.exits)
    return (
        one.pod,
        str(one.grace),
        _seconds(one.slice_noticed),
        f"{slowest[1]:.2f} ({slowest[0]})" if slowest else "?",
        _seconds(one.signal),
        _seconds(ended),
        codes or "?",
        _seconds(one.endpoint_removed),
        _seconds(one.gone),
    )


def _seconds(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
