"""Each public case gives its status, its layer and its words; so does the renamed case; its fixed variant is healthy."""

from __future__ import annotations

import pytest

from tests.cases.public.case import case, check, names, renamed
from tests.cases.public.fixed.every import FIX, fixed

RANGE = (1, 69)


@pytest.mark.parametrize("name", names(*RANGE))
def test_a_public_case_gives_its_status_layer_and_words(name: str) -> None:
    check(case(name))


@pytest.mark.parametrize("name", names(*RANGE))
def test_a_renamed_case_gives_the_same_under_its_new_names(name: str) -> None:
    check(renamed(case(name)))


@pytest.mark.parametrize("name", [name for name in names(*RANGE) if case(name).status != "OK"])
def test_the_fixed_variant_is_healthy(name: str) -> None:
    report = fixed(case(name)).report
    findings = [f"{finding.code} {finding.status} {finding.sentence}" for finding in report.findings]
    assert report.verdict.status == "healthy", f"{report.verdict.summary}\n{findings}"


def test_every_broken_case_has_a_fix() -> None:
    assert {name for name in names(*RANGE) if case(name).status != "OK"} <= set(FIX)
