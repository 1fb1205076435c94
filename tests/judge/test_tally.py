"""What one layer comes to: the worst leads, its own before another layer's, and a layer that looked at nothing says so."""

from __future__ import annotations

import pytest

from svcpath.findings.finding import Gap, LayerAnswer
from svcpath.status import Status
from tests.judge.build import found, judged, layer, looked

PASS, WARN, FAIL, OPEN = Status.PASS, Status.WARN, Status.FAIL, Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("statuses", "status", "leads"),
    [
        ((WARN, FAIL), FAIL, 1),
        ((WARN, OPEN), OPEN, 1),
        ((OPEN, FAIL, WARN), FAIL, 1),
        ((WARN, WARN), WARN, 0),
        ((FAIL, FAIL), FAIL, 0),
        ((PASS, WARN), WARN, 1),
    ],
)
def test_the_worst_finding_leads_and_of_equals_the_first(
    statuses: tuple[Status, ...], status: Status, leads: int
) -> None:
    findings = [found("SP305", "endpoints", status, sentence=f"number {at}") for at, status in enumerate(statuses)]
    result = layer(judged({"endpoints": looked(*findings)}), "endpoints")
    assert (result.status, result.sentence) == (status, f"number {leads}")


def test_a_layers_own_finding_leads_before_an_equal_one_that_an_earlier_layer_showed() -> None:
    moved, own = found("SP306", "endpoints", sentence="moved"), found("SP305", "endpoints", sentence="own")
    diagnosis = judged({"resolution": looked(moved), "endpoints": looked(own)})
    assert layer(diagnosis, "endpoints").sentence == "own"
    assert [finding.sentence for finding in layer(diagnosis, "endpoints").findings] == ["own", "moved"]
    assert layer(diagnosis, "resolution").status is PASS


def test_a_worse_finding_that_another_layer_showed_leads_before_the_own() -> None:
    moved, own = found("SP306", "endpoints", sentence="moved"), found("SP305", "endpoints", WARN, sentence="own")
    diagnosis = judged({"dataplane": looked(moved), "endpoints": looked(own)})
    assert (layer(diagnosis, "endpoints").status, layer(diagnosis, "endpoints").sentence) == (FAIL, "moved")


def test_the_same_finding_of_two_layers_counts_once() -> None:
    finding = found("SP305", "endpoints")
    assert len(layer(judged({"endpoints": looked(finding), "ports": looked(finding)}), "endpoints").findings) == 1


def test_a_layer_with_nothing_bad_passes_with_its_phrases() -> None:
    remark = found("SP602", "dataplane", PASS, sentence="no reject")
    result = layer(judged({"dataplane": looked(remark, passes=("w1 agrees", "w2 agrees"))}), "dataplane")
    assert (result.status, result.sentence) == (PASS, "w1 agrees, w2 agrees")


GAP = Gap("pod", "a connection", "not tried")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (LayerAnswer(gaps=(GAP,)), "not tried"),
        (LayerAnswer(gaps=(GAP, GAP)), "not tried"),
        (LayerAnswer(gaps=(GAP,), otherwise="no port"), "no port"),
        (LayerAnswer(), "nothing to look at"),
    ],
)
def test_a_layer_that_looked_at_nothing_is_not_looked_at_and_says_why(answer: LayerAnswer, sentence: str) -> None:
    result = layer(judged({"pod": answer}), "pod")
    assert (result.status, result.sentence) == (Status.NOT_LOOKED_AT, sentence)


def test_a_finding_of_a_layer_that_looked_at_nothing_else_counts() -> None:
    remark = LayerAnswer(findings=(found("SP602", "dataplane", PASS, sentence="no reject"),))
    assert layer(judged({"dataplane": remark}), "dataplane").status is PASS
