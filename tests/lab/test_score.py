"""Marks of the score: right, right layer only, undecided, missed, and above all the false accusation."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from svcpath.reports.score import Diagnosed, ScoreContract
from svcpath_lab.faults.fault import Expect, Fault
from svcpath_lab.score.row import given_by, results, row, totals
from tests.lab.joined import joined

ENDPOINTS = Fault(about="", name="x", expect=Expect(layer="endpoints", codes=("SP301",)))
HEADLESS = Fault(about="", name="h", expect=Expect(layer="resolution", codes=("SP116",)))
WARNING = Fault(about="", name="w", expect=Expect(status="warning", layer="lifecycle"))
HEALTHY = Fault(about="", name="ok", expect=Expect(status="healthy"))
EITHER = Fault(about="", name="e", expect=Expect(status=("warning", "healthy"), layer="dataplane"))


@pytest.mark.parametrize(
    ("fault", "given", "mark"),
    [
        (ENDPOINTS, Diagnosed(status="fault", layer="endpoints", code="SP301"), "right"),
        (ENDPOINTS, Diagnosed(status="fault", layer="endpoints", code="SP304"), "layer"),
        (ENDPOINTS, Diagnosed(status="fault", layer="ports", code="SP403"), "FALSE"),
        (ENDPOINTS, Diagnosed(status="fault", layer="resolution", cause_layer="endpoints", code="SP301"), "right"),
        (ENDPOINTS, Diagnosed(status="inconclusive", layer="endpoints"), "undecided"),
        (ENDPOINTS, Diagnosed(status="healthy"), "missed"),
        (ENDPOINTS, Diagnosed(status="warning", layer="endpoints", code="SP301"), "missed"),
        (ENDPOINTS, Diagnosed(status="error"), "missed"),
        (HEADLESS, Diagnosed(status="fault", layer="resolution", cause_layer="endpoints", code="SP116"), "right"),
        (WARNING, Diagnosed(status="warning", layer="lifecycle", code="SP706"), "right"),
        (WARNING, Diagnosed(status="fault", layer="lifecycle", code="SP706"), "FALSE"),
        (WARNING, Diagnosed(status="warning", layer="pod", code="SP503"), "missed"),
        (HEALTHY, Diagnosed(status="healthy"), "right"),
        (HEALTHY, Diagnosed(status="inconclusive"), "undecided"),
        (HEALTHY, Diagnosed(status="warning", layer="pod"), "missed"),
        (HEALTHY, Diagnosed(status="fault", layer="pod"), "FALSE"),
        (EITHER, Diagnosed(status="healthy"), "right"),
        (EITHER, Diagnosed(status="warning", layer="dataplane", code="SP608"), "right"),
        (EITHER, Diagnosed(status="fault", layer="dataplane", code="SP608"), "FALSE"),
    ],
)
def test_a_given_diagnosis_gets_its_mark(fault: Fault, given: Diagnosed, mark: str) -> None:
    assert row(fault, "iptables", given, 1.0).mark == mark


def test_totals_count_each_kind_and_the_results_hold_a_row_for_each() -> None:
    rows = [
        row(ENDPOINTS, "iptables", Diagnosed(status="fault", layer="endpoints", code="SP301"), 1.234),
        row(HEALTHY, "nftables", Diagnosed(status="fault", layer="pod"), 0.5),
        row(HEALTHY, "nftables", Diagnosed(status="inconclusive"), 0.5),
    ]
    assert totals(rows) == {"rows": 3, "right_layer": 1, "right_cause": 1, "inconclusive": 1, "false_accusations": 1}
    kept = results(rows, {"date": "2026-01-01"})
    assert kept.schema == "svcpath.score/v1"
    assert [row.mark for row in kept.rows] == ["right", "FALSE", "undecided"]
    assert kept.rows[0].seconds == 1.23


def test_a_report_is_read_by_its_contract() -> None:
    verdict = {
        "status": "fault",
        "layer": "ports",
        "cause_layer": None,
        "code": "SP403",
        "confidence": "proven",
        "summary": "s",
    }
    assert given_by({"verdict": verdict}) == Diagnosed(
        status="fault", layer="ports", code="SP403", confidence="proven", summary="s"
    )
    with pytest.raises(KeyError):
        given_by({})


def test_the_committed_results_fit_their_contract_and_accuse_nothing_falsely() -> None:
    path = Path(__file__).parents[2] / "results" / "score.json"
    kept = msgspec.json.decode(path.read_bytes(), type=ScoreContract)
    assert kept.totals["rows"] == len(kept.rows)
    assert kept.totals["right_layer"] == sum(row.right_layer for row in kept.rows)
    assert kept.totals["right_cause"] == sum(row.right_cause for row in kept.rows)
    assert kept.totals["false_accusations"] == sum(row.mark == "FALSE" for row in kept.rows) == 0
    assert {(row.mode, row.evidence) for row in kept.rows} == {
        (mode, evidence) for mode in ("iptables", "nftables") for evidence in ("recorded", "live")
    }
    for name in ("date", "svcpath", "kubernetes", "kernel", "processors"):
        assert kept.facts[name]


def test_scores_of_two_labs_are_joined_and_those_of_two_releases_are_not() -> None:
    right = row(ENDPOINTS, "iptables", Diagnosed(status="fault", layer="endpoints", code="SP301"), 1.0)
    missed = row(ENDPOINTS, "nftables", Diagnosed(status="healthy"), 2.0)
    first = results([right], {"kernel": "6", "modes": "iptables", "lot": "1"})
    second = results([missed], {"kernel": "6", "modes": "nftables", "lot": "2", "not made": "x: no time"})
    both = joined((first, second))
    assert both.facts == {"kernel": "6", "modes": "iptables nftables", "lot": "1 2", "not made": "x: no time"}
    assert (both.totals["rows"], both.totals["right_layer"]) == (2, 1)
    assert both.rows == (*first.rows, *second.rows)
    other = results([missed], {"kernel": "7", "modes": "nftables"})
    with pytest.raises(ValueError, match="kernel"):
        joined((first, other))
