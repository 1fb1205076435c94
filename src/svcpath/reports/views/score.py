"""A score as a Document: the totals, and each fault with what was expected and what was said."""

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
    sections.append(Path(tuple(_line(one) for one in report.rows), title="Faults"))
    if report.facts:
        sections.append(Table(("fact", "value"), tuple(sorted(report.facts.items())), title="Measured on"))
    return Document(TITLE, tuple(sections), "score")


def _table(report: ScoreContract) -> Table:
    rows = tuple(
        (
            one.mark,
            one.fault,
            one.mode,
            one.evidence,
            _words("/".join(one.expected_status), "/".join(one.expected_layer), "/".join(one.expected_codes)),
            _words(one.given.status, one.given.layer, one.given.code),
            one.given.confidence,
            f"{one.seconds:.1f}",
        )
        for one in report.rows
    )
    return Table(("mark", "fault", "mode", "evidence", "expected", "given", "confidence", "s"), rows, "lllllllr")


def _false(report: ScoreContract) -> tuple[Section, ...]:
    said = tuple(
        Point(f"{one.fault} ({one.mode}, {one.evidence}): {one.given.summary}")
        for one in report.rows
        if one.mark == "FALSE"
    )
    return (Points("False accusations", said),) if said else ()


def _words(*words: str) -> str:
    return " ".join(filter(None, words))


def _statement(report: ScoreContract) -> Statement:
    totals = report.totals
    rows, right = totals.get("rows", 0), totals.get("right_cause", 0)
    false, open_ = totals.get("false_accusations", 0), totals.get("inconclusive", 0)
    said = (
        f"{totals.get('right_layer', 0)} of {rows} at the right layer, {right} with the right cause, "
        f"{open_} undecided, {false} false accusations"
    )
    status = Status.FAIL if false else Status.PASS if rows and right == rows else Status.WARN
    return Statement(status, "SCORE", said)


def _line(one: ScoreRow) -> StatusLine:
    given = one.given
    where = f" at {given.layer}" if given.layer else ""
    code = f" {given.code}" if given.code else ""
    points = [
        Point(f"expected: {' or '.join(one.expected_status)} at {' or '.join(one.expected_layer) or 'no layer'}"),
        Point(f"expected codes: {', '.join(one.expected_codes) or 'any'}"),
        Point(f"said: {given.status}{where}{code}{f', {given.confidence}' if given.confidence else ''}"),
    ]
    details = (Points("Compared", tuple(points)), Note(f"{one.evidence} evidence, {one.seconds:g} s"))
    text = f"{one.mark}: {given.status}{where}{code}: {given.summary}"
    return StatusLine(
        f"{one.fault} ({one.mode}, {one.evidence})", MARKS.get(one.mark, Status.INCONCLUSIVE), text, details=details
    )
