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
    for record in report.workloads:
        status, word = budget.WORDS[record.outcome]
        sentence = f"{word}: {budget.sentence(record)}"
        details = tuple(part for part in budget.workload(record) if not isinstance(part, Statement))
        lines.append(StatusLine(budget.title(record), status, sentence, details=details))
    lines.sort(key=lambda line: [Status.FAIL, Status.INCONCLUSIVE, Status.PASS].index(line.status))
    sections: list[Section] = [_statement(report), Path(tuple(lines), title="Workloads")]
    sections.extend(_finding(finding) for finding in report.findings[:FINDINGS])
    sections.extend(budget.unread(report))
    only = report.workloads[0]
    name = budget.title(only) if len(report.workloads) == 1 else f"{len(report.workloads)} workloads"
    return Document(name, tuple(sections), "drain budget")


def _statement(report: BudgetContract) -> Statement:
    status, word = budget.WORDS[report.outcome]
    if len(report.workloads) == 1:
        return Statement(status, word, budget.sentence(report.workloads[0]))
    counts = {outcome: sum(1 for record in report.workloads if record.outcome == outcome) for outcome in budget.WORDS}
    words = {"does-not-hold": "do not hold", "undetermined": "depend on what is not known", "holds": "hold"}
    sentence = ", ".join(f"{counts[outcome]} {words[outcome]}" for outcome in words if counts.get(outcome))
    return Statement(status, word, f"of {len(report.workloads)} workloads {sentence}")


def _finding(record: BudgetFinding) -> FindingCard:
    known = about(record.code)
    finding = Finding(
        code=record.code,
        layer="lifecycle",
        status=LEVELS[record.level],
        sentence=f"{record.object}: {record.message}" if record.object else record.message,
        evidence=(Evidence(sentence=record.object or record.file, path=record.file, line=record.line),)
        if record.file
        else (),
    )
    return FindingCard(finding, title=record.title, meaning=known.meaning, help=known.help)
