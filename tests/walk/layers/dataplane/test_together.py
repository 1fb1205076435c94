"""Slices and tables that were not read together: what may have changed between them is no proof of drift."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from svcpath.api import diagnose
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports.records import Report
from svcpath.reports.report import encode
from tests.fixtures.cluster import cluster
from tests.fixtures.objects import NAMESPACE

TABLES = {Kind.IPTABLES_SAVE, Kind.NFT_LIST, Kind.NFT_JSON}


class Clocked:
    """Evidence whose tables were read so many seconds after all else; None: without times."""

    def __init__(self, files: dict[str, bytes], later: float | None) -> None:
        self.held = BytesSource(files)
        self.later = later

    def observe(self, needs: Sequence[Need]) -> list[tuple[Observation[Any], ...]]:
        return [tuple(self._read(observation) for observation in found) for found in self.held.observe(needs)]

    def _read(self, observation: Observation[Any]) -> Observation[Any]:
        if self.later is None:
            return observation
        second = int(self.later) if observation.kind in TABLES else 0
        where = msgspec.structs.replace(observation.provenance, at=f"2026-11-30T10:00:{second:02d}Z")
        return dataclasses.replace(observation, provenance=where)


def stale(later: float | None) -> Report:
    """The tables hold a backend that the slices have lost."""
    made = cluster(3).settle()
    made.dumps = True
    evidence = made.evidence()
    for item in made.of("EndpointSlice"):
        item["endpoints"] = item["endpoints"][1:]
    evidence["objects.json"] = made.evidence()["objects.json"]
    return diagnose(Clocked(evidence, later), "svc/web", namespace=NAMESPACE)


@pytest.mark.parametrize(("later", "confidence"), [(None, "proven"), (3, "proven"), (30, "supported")])
def test_drift_is_proven_where_slices_and_table_were_read_together(later: float | None, confidence: str) -> None:
    report = stale(later)
    assert (report.verdict.status, report.verdict.code, report.verdict.confidence) == ("fault", "SP603", confidence)
    printed = b"30 s apart" in encode(report)
    assert printed is (confidence == "supported")
