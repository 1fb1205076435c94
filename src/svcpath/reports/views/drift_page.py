"""Drift with all there is to open: a station for each node, each difference as a claim with its code and rule."""

from __future__ import annotations

from svcpath.models.dataplanes import DifferenceKind
from svcpath.reports.dataplane import DriftContract, DriftRow, NodeDrift
from svcpath.reports.document import Cell, Claim, Document, Exhibit, Mark, Matrix, Path, Point, Points, Section, Station
from svcpath.reports.views import dataplane
from svcpath.reports.views.codes import About, about
from svcpath.walk.nodes.differences import BREAKS, CODES

#: Rows drawn; the JSON form holds all.
ROWS = 400


def page(report: DriftContract) -> Document:
    sections: list[Section] = [dataplane.drift_statement(report)]
    sections.append(Path(tuple(_station(one, report) for one in report.nodes), title="Nodes"))
    if report.rows:
        columns = ("frontend", "node", "what", "backend", "share", "since", "rule")
        rows = tuple(_row(one) for one in report.rows[:ROWS])
        left = len(report.rows) - ROWS
        note = f"and {left} more rows in the JSON form" if left > 0 else ""
        sections.append(Matrix("Differences", columns, rows, note))
    if report.not_looked_at:
        sections.append(Points("Not looked at", tuple(Point(text) for text in report.not_looked_at)))
    return Document("Data planes against the slices", tuple(sections), "drift")


def mark_of(row: DriftRow) -> Mark:
    """What breaks a new connection fails; what has not been synced yet, or breaks none, warns."""
    return Mark.FAIL if DifferenceKind(row.kind) in BREAKS and row.cause != "late" else Mark.WARN


def _station(node: NodeDrift, report: DriftContract) -> Station:
    rows = [row for row in report.rows if row.node == node.node]
    mark = Mark.PASS
    if rows:
        mark = Mark.FAIL if any(mark_of(row) is Mark.FAIL for row in rows) else Mark.WARN
    elif node.undecided:
        mark = Mark.INCONCLUSIVE
    counts = (("missing", node.missing), ("stale", node.stale), ("other", node.other))
    found = ", ".join(f"{count} {name}" for name, count in counts if count) or "as the slices say"
    sentence = f"{node.mode}, {node.frontends} frontends, {node.backends} backends: {found}"
    details: list[Section] = [_claim(row) for row in rows[:ROWS]]
    unread = [Point(f"line {one.line}: {one.text}") for one in report.undecided if one.node == node.node]
    if unread:
        details.append(Points("Lines not understood that may matter", tuple(unread[:50])))
    if node.said_by:
        details.append(Points("The mode is said by", tuple(Point(text) for text in node.said_by)))
    if node.not_covered:
        details.append(Points("The dump does not hold", tuple(Point(text) for text in node.not_covered)))
    return Station(node.node, mark, sentence, details=tuple(details))


def _claim(row: DriftRow) -> Claim:
    kind = DifferenceKind(row.kind)
    code = CODES.get(kind, "")
    known = about(code) if code else About(row.kind, "", "")
    exhibit = Exhibit(f"rule in {row.path}", "", row.path, row.rule)
    return Claim(
        code=code or row.kind,
        mark=mark_of(row),
        text=dataplane.drift_text(row),
        about="dataplane",
        share=f"{row.share} of new connections" if row.share else "",
        title=known.title,
        meaning=known.meaning,
        help=known.help,
        exhibits=(exhibit,) if row.path else (),
    )


def _row(row: DriftRow) -> tuple[Cell, ...]:
    age = f"{row.age:.0f} s" if row.age is not None else ""
    wanted = f"the slices give {row.wanted}" if row.wanted else ""
    place = f"{row.path}:{row.rule}" if row.rule else row.path
    return (
        Cell(row.frontend or "none", below=row.service),
        Cell(row.node),
        Cell(row.kind.upper(), mark_of(row), below=row.cause),
        Cell(row.backend, below=wanted),
        Cell(row.share, share=_part(row.share)),
        Cell(age, below=row.slice),
        Cell(place, below=row.note),
    )


def _part(share: str) -> float | None:
    above, _, below = share.partition("/")
    return int(above) / int(below) if above.isdecimal() and below.isdecimal() and int(below) else None
