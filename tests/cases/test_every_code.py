"""Each code of the catalogue is produced by a case: a check that nothing triggers may be dead, or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from svcpath.api import diagnose
from svcpath.drain.load import load
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.findings.catalogue import catalogue
from svcpath.models.drain import verdicts
from svcpath.reports.records import Report
from tests.cases.case import cases
from tests.cases.public.case import case, names
from tests.cases.verdicts import verdict_of
from tests.lab.recordings import MODES, recorded, report_of
from tests.walk.layers.every_input import BROKEN, SOUND

DRAINS = Path(__file__).parents[1] / "data" / "drain"
SERVICES = ("echo-server", "echo-headless", "empty-service", "wrong-port")


def _codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


def _quick() -> Iterator[tuple[str, set[str]]]:
    """What makes codes, with those that it makes."""
    for folder in cases():
        yield f"case {folder.name}", set(verdict_of(folder).codes)
    for name in names(1, 69):
        yield f"public case {name}", _codes(case(name).report)
    for kind in (*BROKEN, *SOUND):
        yield f"input {kind.name}", _codes(kind.report)
    for mode in MODES:
        for service in SERVICES:
            source = BytesSource(recording_files(mode))
            report = diagnose(source, f"svc/{service}", namespace="service-ops", client="pod/client")
            yield f"recording {mode} {service}", _codes(report)
    drain, _ = load([DRAINS / "recorded"])
    yield "recorded drain", {finding.code for finding in verdicts.findings(drain)}


def _lab(missing: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Recordings of the lab whose fault expects one of ``missing``: to walk all of them takes long."""
    for mode in MODES:
        for fault, recording in recorded(mode).items():
            if missing.intersection(recording.expected["expect"]["codes"]):
                yield f"lab recording {mode} {fault}", _codes(report_of(mode, fault))


def test_every_code_of_the_catalogue_is_produced_by_a_case() -> None:
    first: dict[str, str] = {}
    for where, codes in _quick():
        for code in codes:
            first.setdefault(code, where)
    for where, codes in _lab(set(catalogue()) - set(first)):
        for code in codes:
            first.setdefault(code, where)
    missing = sorted(set(catalogue()) - set(first))
    known = "\n".join(f"{code}: {first[code]}" for code in sorted(first))
    assert not missing, f"produced by no case: {', '.join(missing)}; add a folder to tests/cases\n{known}"
