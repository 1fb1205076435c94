"""Each kind of fault is found at its layer in its own words, and its healthy neighbour stays silent."""

from __future__ import annotations

import pytest

from svcpath.reports.records import Report
from tests.cases.public.case import contains, decisive_text
from tests.walk.layers.every_input import BROKEN, SOUND, Broken, Sound


def _verdict(report: Report) -> str:
    lines = [f"{finding.code} {finding.status} at {finding.layer}: {finding.sentence}" for finding in report.findings]
    head = f"{report.verdict.status} at {report.verdict.layer} {report.verdict.code}: {report.verdict.summary}"
    return "\n".join([head, *lines])


@pytest.mark.parametrize("broken", BROKEN, ids=lambda made: made.name)
def test_a_broken_input_is_found_at_its_layer_in_its_words(broken: Broken) -> None:
    report = broken.report
    assert (report.verdict.status, report.verdict.layer, report.verdict.code) == (
        broken.status,
        broken.layer,
        broken.code or None,
    ), _verdict(report)
    text = decisive_text(report)
    missing = [word for word in broken.says if not contains(text, word) and word not in text]
    assert not missing, f"{missing} not in:\n{text}"


@pytest.mark.parametrize("sound", SOUND, ids=lambda made: made.name)
def test_its_healthy_neighbour_stays_silent(sound: Sound) -> None:
    report = sound.report
    bad = [finding for finding in report.findings if finding.status in ("fail", "inconclusive", "warn")]
    assert {finding.code for finding in bad} <= set(sound.warns), _verdict(report)
    assert report.verdict.status == ("warning" if bad else "healthy"), _verdict(report)


def test_no_proven_finding_rests_on_evidence_that_was_not_looked_at() -> None:
    for broken in BROKEN:
        report = broken.report
        observations = {observation.id: observation for observation in report.observations}
        for finding in report.findings:
            for hypothesis in finding.hypotheses:
                if hypothesis.confidence == "proven":
                    states = {observations[key.observation].state for key in hypothesis.supports if key.observation}
                    assert states, f"{broken.name}: {finding.code} is proven by nothing"
                    assert "unreadable" not in states, f"{broken.name}: {finding.code}"


def test_a_broken_input_lies_with_the_layer_that_its_verdict_names() -> None:
    """Those in evidence/ are odd as evidence, whatever their verdict names."""
    for broken in BROKEN:
        folder = broken.build.__module__.split(".")[-2]
        assert folder == "evidence" or broken.layer in (folder, None), broken.name
