"""Recorded runs of real resolvers against the models: one table, and each mismatch side by side."""

from __future__ import annotations

from svcpath.plural import count
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
        mismatches=tuple(_row(verdict) for verdict in summary.mismatches),
        not_judged=len(summary.open),
        without_model=len(summary.skipped),
        probes=dict(summary.by_probe),
    )


def _row(verdict: ReplayVerdict) -> RowRecord:
    return RowRecord(
        line=verdict.row.line,
        probe=verdict.row.probe,
        names=verdict.row.names,
        case=verdict.row.case,
        reason=verdict.reason,
        expected=verdict.expected,
        recorded=verdict.recorded,
        expected_queries=verdict.expected_queries,
        recorded_queries=verdict.recorded_queries,
    )


def document(report: ReplayReport) -> Document:
    rows = tuple(
        (probe, str(sum(counts)), *(str(count) for count in counts)) for probe, counts in report.probes.items()
    )
    table = Table(("probe", "rows", "match", "mismatch", "not judged", "no model"), rows, "lrrrrr")
    bad = len(report.mismatches)
    words = (
        f"{count(report.rows, 'row')}, {count(bad, 'mismatch')}; {report.not_judged} not judged since packet order or chance decides, "
        f"{report.without_model} without a model"
    )
    sections: list[Section] = [
        table,
        Statement(Status.FAIL if bad else Status.PASS, "MISMATCH" if bad else "EQUAL", words),
    ]
    for verdict in report.mismatches[:SHOWN]:
        sections.append(
            Points(
                f"line {verdict.line}  {verdict.probe}  {', '.join(verdict.names)}  {verdict.case}: {verdict.reason} differ",
                (
                    Point(f"model    {' | '.join(verdict.expected)}"),
                    Point(f"recorded {verdict.recorded}"),
                    Point(f"model asks    {'; '.join(verdict.expected_queries)}"),
                    Point(f"recorded asks {'; '.join(verdict.recorded_queries)}"),
                ),
            )
        )
    if bad > SHOWN:
        sections.append(Points(f"and {bad - SHOWN} more (-o json has all)", ()))
    return Document("Recorded runs against the models", tuple(sections))
