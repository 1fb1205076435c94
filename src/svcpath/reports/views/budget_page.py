"""Budgets with all there is to open: a line for each workload, each finding a claim with its code, file and line."""

from __future__ import annotations

from svcpath.reports.budget import BudgetContract, BudgetFinding
from svcpath.reports.document import Document, FindingCard, Path, Section, Statement, StatusLine
from svcpath.reports.records import Evidence, Finding
from svcpath.reports.views import budget
from svcpath.reports.views.codes import about
from svcpath.status import Status

LEVELS = {"error": Status.FAIL, "warning": Status.WARN, "note": Status.PASS}
#: Findings drawn; the JSON form holds all.
FINDINGS = 400


def page(report: BudgetContract) -> Document:
    if not report.workloads:
        return budget.document(report)
    lines = []
    for one in report.workloads:
        status, word = budget.WORDS[one.outcome]
        said = f"{word}: {budget.said(one)}"
        details = tuple(part for part in budget.workload(one) if not isinstance(part, Statement))
        lines.append(StatusLine(budget.title(one), status, said, details=details))
    lines.sort(key=lambda one: [Status.FAIL, Status.INCONCLUSIVE, Status.PASS].index(one.status))
    sections: list[Section] = [_statement(report), Path(tuple(lines), title="Workloads")]
    sections.extend(_finding(one) for one in report.findings[:FINDINGS])
    sections.extend(budget.unread(report))
    only = report.workloads[0]
    name = budget.title(only) if len(report.workloads) == 1 else f"{len(report.workloads)} workloads"
    return Document(name, tuple(sections), "drain budget")


def _statement(report: BudgetContract) -> Statement:
    status, word = budget.WORDS[report.outcome]
    if len(report.workloads) == 1:
        return Statement(status, word, budget.said(report.workloads[0]))
    counts = {outcome: sum(1 for one in report.workloads if one.outcome == outcome) for outcome in budget.WORDS}
    words = {"lost": "do not hold", "open": "depend on what is not known", "holds": "hold"}
    said = ", ".join(f"{counts[outcome]} {words[outcome]}" for outcome in words if counts.get(outcome))
    return Statement(status, word, f"of {len(report.workloads)} workloads {said}")


def _finding(one: BudgetFinding) -> FindingCard:
    known = about(one.code)
    finding = Finding(
        code=one.code,
        layer="lifecycle",
        status=LEVELS[one.level],
        sentence=f"{one.object}: {one.message}" if one.object else one.message,
        evidence=(Evidence(sentence=one.object or one.file, path=one.file, line=one.line),) if one.file else (),
    )
    return FindingCard(finding, title=one.title, meaning=known.meaning, help=known.help)
