"""Recorded runs of real resolvers against the models: one table, and each mismatch side by side."""

from __future__ import annotations

from svcpath.replay import ReplayVerdict, Summary
from svcpath.reports.document import Document, Point, Points, Section, Statement, Table
from svcpath.reports.records import Record
from svcpath.status import Status

SCHEMA = "svcpath.replay/v1"

#: Mismatches shown in full on a terminal; the JSON form holds all.
SHOWN = 20


class RowRecord(Record, frozen=True, kw_only=True):
    line: int
    probe: str
    names: tuple[str, ...]
    case: str
    reason: str
    expected: tuple[str, ...]
    recorded: str
    expected_queries: tuple[str, ...]
    recorded_queries: tuple[str, ...]


class ReplayReport(Record, frozen=True, kw_only=True):
    """``probes``: per probe [matches, mismatches, not judged since order or chance decides, without a model]."""

    schema: str
    rows: int
    matches: int
    mismatches: tuple[RowRecord, ...]
    not_judged: int
    without_model: int
    probes: dict[str, tuple[int, int, int, int]]


def report(summary: Summary) -> ReplayReport:
    return ReplayReport(
        schema=SCHEMA,
        rows=summary.rows,
        matches=summary.matches,
        mismatches=tuple(_row(one) for one in summary.mismatches),
        not_judged=len(summary.open),
        without_model=len(summary.skipped),
        probes=dict(summary.by_probe),
    )


def _row(one: ReplayVerdict) -> RowRecord:
    return RowRecord(
        line=one.row.line,
        probe=one.row.probe,
        names=one.row.names,
        case=one.row.case,
        reason=one.reason,
        expected=one.expected,
        recorded=one.recorded,
        expected_queries=one.expected_queries,
        recorded_queries=one.recorded_queries,
    )


def document(report: ReplayReport) -> Document:
    rows = tuple(
        (probe, str(sum(counts)), *(str(count) for count in counts)) for probe, counts in report.probes.items()
    )
    table = Table(("probe", "rows", "match", "mismatch", "not judged", "no model"), rows, "lrrrrr")
    bad = len(report.mismatches)
    words = (
        f"{report.rows} rows, {bad} mismatches; {report.not_judged} not judged since packet order or chance decides, "
        f"{report.without_model} without a model"
    )
    sections: list[Section] = [
        table,
        Statement(Status.FAIL if bad else Status.PASS, "MISMATCH" if bad else "EQUAL", words),
    ]
    for one in report.mismatches[:SHOWN]:
        sections.append(
            Points(
                f"line {one.line}  {one.probe}  {', '.join(one.names)}  {one.case}: {one.reason} differ",
                (
                    Point(f"model    {' | '.join(one.expected)}"),
                    Point(f"recorded {one.recorded}"),
                    Point(f"model asks    {'; '.join(one.expected_queries)}"),
                    Point(f"recorded asks {'; '.join(one.recorded_queries)}"),
                ),
            )
        )
    if bad > SHOWN:
        sections.append(Points(f"and {bad - SHOWN} more (-o json has all)", ()))
    return Document("Recorded runs against the models", tuple(sections))
