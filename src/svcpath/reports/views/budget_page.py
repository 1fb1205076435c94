"""Budgets with all there is to open: a station for each workload, each finding a claim with its code, file and line."""

from __future__ import annotations

from svcpath.reports.budget import BudgetContract, FindingRecord
from svcpath.reports.document import Claim, Document, Exhibit, Mark, Path, Section, Statement, Station
from svcpath.reports.views import budget
from svcpath.reports.views.codes import about

LEVELS = {"error": Mark.FAIL, "warning": Mark.WARN, "note": Mark.PASS}
#: Findings drawn; the JSON form holds all.
FINDINGS = 400


def page(report: BudgetContract) -> Document:
    if not report.workloads:
        return budget.document(report)
    stations = []
    for one in report.workloads:
        mark, word = budget.WORDS[one.outcome]
        said = f"{word}: {budget.said(one)}"
        details = tuple(part for part in budget.workload(one) if not isinstance(part, Statement))
        stations.append(Station(budget.title(one), mark, said, details=details))
    stations.sort(key=lambda one: [Mark.FAIL, Mark.INCONCLUSIVE, Mark.PASS].index(one.mark))
    sections: list[Section] = [_statement(report), Path(tuple(stations), title="Workloads")]
    sections.extend(_claim(one) for one in report.findings[:FINDINGS])
    sections.extend(budget.unread(report))
    only = report.workloads[0]
    name = budget.title(only) if len(report.workloads) == 1 else f"{len(report.workloads)} workloads"
    return Document(name, tuple(sections), "drain budget")


def _statement(report: BudgetContract) -> Statement:
    mark, word = budget.WORDS[report.outcome]
    if len(report.workloads) == 1:
        return Statement(mark, word, budget.said(report.workloads[0]))
    counts = {outcome: sum(1 for one in report.workloads if one.outcome == outcome) for outcome in budget.WORDS}
    words = {"lost": "do not hold", "open": "depend on what is not known", "holds": "hold"}
    said = ", ".join(f"{counts[outcome]} {words[outcome]}" for outcome in words if counts.get(outcome))
    return Statement(mark, word, f"of {len(report.workloads)} workloads {said}")


def _claim(one: FindingRecord) -> Claim:
    known = about(one.code)
    return Claim(
        code=one.code,
        mark=LEVELS[one.level],
        text=f"{one.object}: {one.message}" if one.object else one.message,
        about="lifecycle",
        title=one.title,
        meaning=known.meaning,
        help=known.help,
        exhibits=(Exhibit(one.object or one.file, "", one.file, one.line),) if one.file else (),
    )
