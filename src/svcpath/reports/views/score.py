"""A score as a Document: the totals, and each fault with what was expected and what was text."""

from __future__ import annotations

from svcpath.reports.document import Document, Note, Path, Point, Points, Section, Statement, StatusLine, Table
from svcpath.reports.score import ScoreContract, ScoreRow
from svcpath.status import Status

MARKS = {
    "right": Status.PASS,
    "layer": Status.WARN,
    "undecided": Status.INCONCLUSIVE,
    "missed": Status.FAIL,
    "FALSE": Status.FAIL,
}
TITLE = "Faults made and diagnosed"


def document(report: ScoreContract) -> Document:
    """The short one: a line for each fault, and the false accusations apart."""
    return Document(TITLE, (_table(report), _statement(report), *_false(report)), "score")


def page(report: ScoreContract) -> Document:
    """The long one: a line for each fault, which opens to what was expected of it."""
    sections: list[Section] = [_statement(report), *_false(report)]
    sections.append(Path(tuple(_line(row) for row in report.rows), title="Faults"))
    if report.facts:
        sections.append(Table(("fact", "value"), tuple(sorted(report.facts.items())), title="Measured on"))
    return Document(TITLE, tuple(sections), "score")


def _table(report: ScoreContract) -> Table:
    rows = tuple(
        (
            row.mark,
            row.fault,
            row.mode,
            row.evidence,
            _words("/".join(row.expected_status), "/".join(row.expected_layer), "/".join(row.expected_codes)),
            _words(row.given.status, row.given.layer, row.given.code),
            row.given.confidence,
            f"{row.seconds:.1f}",
        )
        for row in report.rows
    )
    return Table(("mark", "fault", "mode", "evidence", "expected", "given", "confidence", "s"), rows, "lllllllr")


def _false(report: ScoreContract) -> tuple[Section, ...]:
    row = tuple(
        Point(f"{row.fault} ({row.mode}, {row.evidence}): {row.given.summary}")
        for row in report.rows
        if row.mark == "FALSE"
    )
    return (Points("False accusations", row),) if row else ()


def _words(*words: str) -> str:
    return " ".join(filter(None, words))


def _statement(report: ScoreContract) -> Statement:
    totals = report.totals
    rows, right = totals.get("rows", 0), totals.get("right_cause", 0)
    false, open_ = totals.get("false_accusations", 0), totals.get("inconclusive", 0)
    text = (
        f"{totals.get('right_layer', 0)} of {rows} at the right layer, {right} with the right cause, "
        f"{open_} undecided, {false} false accusations"
    )
    status = Status.FAIL if false else Status.PASS if rows and right == rows else Status.WARN
    return Statement(status, "SCORE", text)


def _line(row: ScoreRow) -> StatusLine:
    given = row.given
    where = f" at {given.layer}" if given.layer else ""
    code = f" {given.code}" if given.code else ""
    points = [
        Point(f"expected: {' or '.join(row.expected_status)} at {' or '.join(row.expected_layer) or 'no layer'}"),
        Point(f"expected codes: {', '.join(row.expected_codes) or 'any'}"),
        Point(f"text: {given.status}{where}{code}{f', {given.confidence}' if given.confidence else ''}"),
    ]
    details = (Points("Compared", tuple(points)), Note(f"{row.evidence} evidence, {row.seconds:g} s"))
    text = f"{row.mark}: {given.status}{where}{code}: {given.summary}"
    return StatusLine(
        f"{row.fault} ({row.mode}, {row.evidence})", MARKS.get(row.mark, Status.INCONCLUSIVE), text, details=details
    )
