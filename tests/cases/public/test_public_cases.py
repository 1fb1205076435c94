"""Each public case gives its status, its layer and its words; so does the renamed case; its mended twin is healthy."""

from __future__ import annotations

import pytest

from tests.cases.public.case import case, check, names, renamed
from tests.cases.public.mended.every import MEND, mended

RANGE = (1, 69)


@pytest.mark.parametrize("name", names(*RANGE))
def test_a_public_case_gives_its_status_layer_and_words(name: str) -> None:
    check(case(name))


@pytest.mark.parametrize("name", names(*RANGE))
def test_a_renamed_case_gives_the_same_under_its_new_names(name: str) -> None:
    check(renamed(case(name)))


@pytest.mark.parametrize("name", [name for name in names(*RANGE) if case(name).status != "OK"])
def test_the_mended_twin_is_healthy(name: str) -> None:
    report = mended(case(name)).report
    findings = [f"{one.code} {one.status} {one.sentence}" for one in report.findings]
    assert report.verdict.status == "healthy", f"{report.verdict.summary}\n{findings}"


def test_every_broken_case_has_a_way_to_mend_it() -> None:
    assert {name for name in names(*RANGE) if case(name).status != "OK"} <= set(MEND)
