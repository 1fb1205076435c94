"""Each kind of fault is found at its layer in its own words, and its healthy neighbour stays silent."""

from __future__ import annotations

import pytest

from svcpath.reports.records import Report
from tests.cases.public.case import contains, decisive_text
from tests.walk.layers.every_input import BROKEN, SOUND, Broken, Sound


def _said(report: Report) -> str:
    lines = [f"{one.code} {one.status} at {one.layer}: {one.sentence}" for one in report.findings]
    head = f"{report.verdict.status} at {report.verdict.layer} {report.verdict.code}: {report.verdict.summary}"
    return "\n".join([head, *lines])


@pytest.mark.parametrize("one", BROKEN, ids=lambda one: one.name)
def test_a_broken_input_is_found_at_its_layer_in_its_words(one: Broken) -> None:
    report = one.report
    assert (report.verdict.status, report.verdict.layer, report.verdict.code) == (
        one.status,
        one.layer,
        one.code or None,
    ), _said(report)
    text = decisive_text(report)
    missing = [word for word in one.says if not contains(text, word) and word not in text]
    assert not missing, f"{missing} not in:\n{text}"


@pytest.mark.parametrize("one", SOUND, ids=lambda one: one.name)
def test_its_healthy_neighbour_stays_silent(one: Sound) -> None:
    report = one.report
    bad = [each for each in report.findings if each.status in ("fail", "inconclusive", "warn")]
    assert {each.code for each in bad} <= set(one.warns), _said(report)
    assert report.verdict.status == ("warning" if bad else "healthy"), _said(report)


def test_no_proven_finding_rests_on_evidence_that_was_not_looked_at() -> None:
    for one in BROKEN:
        report = one.report
        held = {each.id: each for each in report.observations}
        for finding in report.findings:
            for hypothesis in finding.hypotheses:
                if hypothesis.confidence == "proven":
                    states = {held[each.observation].state for each in hypothesis.supports if each.observation}
                    assert states, f"{one.name}: {finding.code} is proven by nothing"
                    assert "unreadable" not in states, f"{one.name}: {finding.code}"


def test_a_broken_input_lies_with_the_layer_that_its_verdict_names() -> None:
    """Those in evidence/ are odd as evidence, whatever their verdict names."""
    for one in BROKEN:
        folder = one.build.__module__.split(".")[-2]
        assert folder == "evidence" or one.layer in (folder, None), one.name
