"""What is said of a case's files, by diagnose or by budget, in one form; each file set is judged once in a process."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import msgspec

from svcpath.api import budget, diagnose
from svcpath.evidence.sources.manifests import ManifestBytes
from svcpath.findings.catalogue import catalogue, disproof
from tests.cases.case import Case, cases, source
from tests.cases.public.case import decisive_text, everything

#: The sets of files that a case has.
EVIDENCE, HEALTHY, DISPROVED = "evidence", "healthy", "disproved"


@dataclass(frozen=True)
class CaseVerdict:
    """``codes``: code -> statuses of the findings that are no mere remark. ``disproofs``: code -> command as printed."""

    status: str
    layer: str | None
    code: str | None
    confidence: str | None
    codes: dict[str, frozenset[str]]
    disproofs: dict[str, str]
    decisive: str
    whole: str


def files_of(case: Case, which: str) -> dict[str, bytes]:
    found: dict[str, bytes] = getattr(case, which)
    return found


@functools.cache
def _verdict_of(name: str, which: str) -> CaseVerdict:
    case = next(case for case in cases() if case.name == name)
    return _budgeted(case, which) if case.written.budget is not None else _diagnosed(case, which)


def verdict_of(case: Case, which: str = EVIDENCE) -> CaseVerdict:
    return _verdict_of(case.name, which)


def _diagnosed(case: Case, which: str) -> CaseVerdict:
    report = diagnose(source(files_of(case, which)), **msgspec.structs.asdict(case.written.ask))
    codes: dict[str, frozenset[str]] = {}
    printed: dict[str, str] = {}
    for finding in report.findings:
        if finding.status != "pass":
            codes[finding.code] = codes.get(finding.code, frozenset()) | {finding.status}
            for hypothesis in finding.hypotheses[:1]:
                printed.setdefault(finding.code, hypothesis.disproof)
    verdict = report.verdict
    return CaseVerdict(
        status=verdict.status,
        layer=verdict.layer,
        code=verdict.code,
        confidence=verdict.confidence,
        codes=codes,
        disproofs={code: command for code, command in printed.items() if command},
        decisive=decisive_text(report),
        whole=everything(report),
    )


def _budgeted(case: Case, which: str) -> CaseVerdict:
    """A budget prints no disproofs; `svcpath explain CODE` does, and is read with the workload's names filled in."""
    assert case.written.budget is not None
    report = budget(ManifestBytes(files_of(case, which)), **msgspec.structs.asdict(case.written.budget))
    first = report.workloads[0]
    names = {"namespace": first.namespace or "default", "kind": first.kind.lower(), "workload": first.name}
    codes: dict[str, frozenset[str]] = {}
    for finding in report.findings:
        codes[finding.code] = codes.get(finding.code, frozenset()) | {finding.level}
    wanted = case.written.expect.code
    text = "\n".join(finding.message for finding in report.findings)
    return CaseVerdict(
        status=report.outcome,
        layer=None,
        code=wanted if wanted in codes else None,
        confidence=None,
        codes=codes,
        disproofs={code: made.command for code in codes if catalogue()[code] and (made := disproof(code, **names))},
        decisive="\n".join(finding.message for finding in report.findings if finding.code == wanted),
        whole=text,
    )
