"""Drift with all there is to open: a line for each node, each difference as a finding with its code and rule."""

from __future__ import annotations

from svcpath.models.dataplanes import DifferenceKind
from svcpath.percent import percent_of, written
from svcpath.plural import count
from svcpath.reports.dataplane import DriftContract, DriftRow, NodeDrift
from svcpath.reports.document import Cell, Document, FindingCard, Matrix, Path, Point, Points, Section, StatusLine
from svcpath.reports.records import Evidence, Finding
from svcpath.reports.views import dataplane
from svcpath.reports.views.codes import About, about
from svcpath.status import Status
from svcpath.walk.nodes.differences import BREAKS, CODES

#: Rows drawn; the JSON form holds all.
ROWS = 400


def page(report: DriftContract) -> Document:
    sections: list[Section] = [dataplane.drift_statement(report)]
    sections.append(Path(tuple(_line(node, report) for node in report.nodes), title="Nodes"))
    if report.rows:
        columns = ("frontend", "node", "what", "backend", "share", "since", "rule")
        rows = tuple(_row(row) for row in report.rows[:ROWS])
        left = len(report.rows) - ROWS
        note = f"and {left} more rows in the JSON form" if left > 0 else ""
        sections.append(Matrix("Differences", columns, rows, note))
    if report.not_looked_at:
        sections.append(Points("Not looked at", tuple(Point(text) for text in report.not_looked_at)))
    return Document("Data planes against the slices", tuple(sections), "drift")


def status_of(row: DriftRow) -> Status:
    """What breaks a new connection fails; what has not been synced yet, or breaks none, warns."""
    return Status.FAIL if DifferenceKind(row.kind) in BREAKS and row.cause != "late" else Status.WARN


def _line(node: NodeDrift, report: DriftContract) -> StatusLine:
    rows = [row for row in report.rows if row.node == node.node]
    status = Status.PASS
    if rows:
        status = Status.FAIL if any(status_of(row) is Status.FAIL for row in rows) else Status.WARN
    elif node.undecided:
        status = Status.INCONCLUSIVE
    counts = (("missing", node.missing), ("stale", node.stale), ("other", node.other))
    found = ", ".join(f"{count} {name}" for name, count in counts if count) or "as the slices say"
    sentence = f"{node.mode}, {count(node.frontends, 'frontend')}, {count(node.backends, 'backend')}: {found}"
    details: list[Section] = [_finding(row) for row in rows[:ROWS]]
    unread = [Point(f"line {line.line}: {line.text}") for line in report.undecided if line.node == node.node]
    if unread:
        details.append(Points("Lines not understood that may matter", tuple(unread[:50])))
    if node.said_by:
        details.append(Points("The mode is said by", tuple(Point(text) for text in node.said_by)))
    if node.not_covered:
        details.append(Points("The dump does not hold", tuple(Point(text) for text in node.not_covered)))
    return StatusLine(node.node, status, sentence, details=tuple(details))


def _finding(row: DriftRow) -> FindingCard:
    kind = DifferenceKind(row.kind)
    code = CODES.get(kind, "")
    known = about(code) if code else About(row.kind, "", "")
    rule = Evidence(sentence=f"rule in {row.path}", path=row.path, line=row.rule)
    finding = Finding(
        code=code or row.kind,
        layer="dataplane",
        status=status_of(row),
        sentence=dataplane.drift_text(row),
        share=f"{percent_of(row.share)} of new connections" if row.share else "",
        evidence=(rule,) if row.path else (),
    )
    return FindingCard(finding, title=known.title, meaning=known.meaning, help=known.help)


def _row(row: DriftRow) -> tuple[Cell, ...]:
    age = f"{row.age:.0f} s" if row.age is not None else ""
    wanted = f"the slices give {row.wanted}" if row.wanted else ""
    place = f"{row.path}:{row.rule}" if row.rule else row.path
    return (
        Cell(row.frontend or "none", below=row.service),
        Cell(row.node),
        Cell(row.kind.upper(), status_of(row), below=row.cause),
        Cell(row.backend, below=wanted),
        Cell(percent_of(row.share), share=_number(row.share)),
        Cell(age, below=row.slice),
        Cell(place, below=row.note),
    )


def _number(share: str) -> float | None:
    value = written(share)
    return None if value is None else float(value)
