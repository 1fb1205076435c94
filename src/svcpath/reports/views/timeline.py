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
    shown = [moment for moment in report.moments if verbose or (moment.kind not in _NOISE and moment.at > -30)]
    rows = tuple((f"{moment.at:+.3f}", moment.kind, _text(moment), moment.place) for moment in shown)
    sections.append(Table(("seconds", "what", "", "recorded at"), rows, "rlll"))
    hidden = len(report.moments) - len(shown)
    if hidden:
        sections.append(Note(f"{hidden} events left out (-v has them)"))
    sections.extend(tables(report))
    for finding in report.findings:
        sections.append(Statement(MARKS[finding.level], _WORDS[finding.level], finding.text, finding.code))
    if report.deletions and (unfinished(report) or not report.findings):
        sections.append(_outcome(report))
    if report.gaps:
        sections.append(Points("Where a gap can't be ruled out", tuple(Point(text) for text in report.gaps)))
    return Document(f"0 = {report.zero}", tuple(sections))


def tables(report: TimelineContract) -> list[Section]:
    """What each deletion measured, and when new connections failed."""
    sections: list[Section] = []
    if report.deletions:
        table = tuple(_deletion(deletion) for deletion in report.deletions)
        columns = ("Pod", "grace", "slice", "nodes", "signal", "ended", "exit", "removed", "gone")
        sections.append(Table(columns, table, "lrrrrrlrr", title="Seconds after each Pod's own delete"))
    if report.connections:
        late = f"{report.connections} connections and requests recorded, {report.failed} failed"
        sections.append(Note(late))
    if report.outages:
        edges = tuple(
            (
                f"{outage.start:.2f}",
                f"{outage.end:.2f}",
                str(outage.failed),
                f"-{outage.before:.2f} / +{outage.after:.2f}",
            )
            for outage in report.outages
        )
        sections.append(Table(("from", "to", "failed", "uncertainty"), edges, "rrrl", title="New connections failed"))
    return sections


def statement(report: TimelineContract) -> Statement:
    """The recording in one sentence: its worst finding, else that nothing was lost."""
    if not report.deletions:
        return Statement(Status.INCONCLUSIVE, "NO DELETION", "nothing is deleted in the recording")
    for level in MARKS:
        found = [finding for finding in report.findings if finding.level == level]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            return Statement(MARKS[level], _WORDS[level], f"{found[0].text}{more}", found[0].code)
    return _outcome(report)


def unfinished(report: TimelineContract) -> tuple[str, ...]:
    """Pods that were still running when the recording ended."""
    return tuple(deletion.pod for deletion in report.deletions if deletion.gone is None and not deletion.exits)


def _outcome(report: TimelineContract) -> Statement:
    left = unfinished(report)
    if left:
        names = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
        text = f"the recording ends before {names} ended: what became of its requests is not in it"
        return Statement(Status.INCONCLUSIVE, "NOT OVER", text)
    return Statement(Status.PASS, "DRAINED", "nothing was lost that the recording shows")


def _text(moment: MomentRecord) -> str:
    return moment.text if moment.exact else f"{moment.text} (computed)"


def _deletion(deletion: DeletionRecord) -> tuple[str, ...]:
    slowest = max(deletion.nodes, key=lambda node: node[1], default=None)
    ended = max((exit_.at for exit_ in deletion.exits), default=None)
    codes = ", ".join(f"{exit_.container} {exit_.code}" for exit_ in deletion.exits)
    return (
        deletion.pod,
        str(deletion.grace),
        _seconds(deletion.slice_noticed),
        f"{slowest[1]:.2f} ({slowest[0]})" if slowest else "?",
        _seconds(deletion.signal),
        _seconds(ended),
        codes or "?",
        _seconds(deletion.endpoint_removed),
        _seconds(deletion.gone),
    )


def _seconds(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
