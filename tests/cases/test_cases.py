"""Every case folder: the verdict, the healthy neighbour, and the printed disproof, run as printed on both.

A folder is all that a case needs (case.py tells its form): nothing lists it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cases.case import BadCase, Case, cases, read
from tests.cases.public.case import contains
from tests.cases.verdicts import DISPROVED, EVIDENCE, HEALTHY, CaseVerdict, files_of, verdict_of
from tests.fixtures import fake_world

CASES = cases()
WITH_DISPROOF = [case for case in CASES if case.written.disproof and not case.written.disproof.not_run]


def _shown(found: CaseVerdict) -> str:
    codes = ", ".join(f"{code} {'/'.join(sorted(statuses))}" for code, statuses in sorted(found.codes.items()))
    return (
        f"{found.status} at {found.layer} {found.code} ({found.confidence}); findings: {codes or 'none'}\n{found.whole}"
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_gets_its_verdict_in_its_words(case: Case) -> None:
    expect, found = case.written.expect, verdict_of(case)
    assert expect.layer in (case.layer, None)
    wanted = (expect.status, expect.layer, expect.code)
    assert (found.status, found.layer, found.code) == wanted, _shown(found)
    if expect.confidence:
        assert found.confidence == expect.confidence, _shown(found)
    missing = [word for word in expect.says if not contains(found.decisive, word) and word not in found.decisive]
    assert not missing, f"{missing} not in:\n{found.decisive}"
    forbidden = [word for word in expect.never_says if word.lower() in found.whole.lower()]
    assert not forbidden, f"{forbidden} in:\n{found.whole}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_healthy_neighbour_of_a_case_is_healthy(case: Case) -> None:
    found = verdict_of(case, HEALTHY)
    assert case.written.expect.code not in found.codes, _shown(found)
    if case.written.budget is not None:
        assert set(found.codes) <= set(case.written.healthy.warns), _shown(found)
        assert found.status != "does-not-hold", _shown(found)
        return
    bad = {code for code, statuses in found.codes.items() if statuses & {"fail", "warn", "inconclusive"}}
    assert bad <= set(case.written.healthy.warns), _shown(found)
    assert found.status == ("warning" if bad else "healthy"), _shown(found)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_finding_of_a_case_is_not_made_where_it_is_wrong(case: Case) -> None:
    found = verdict_of(case, DISPROVED)
    assert case.written.expect.code not in found.codes, _shown(found)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_says_what_its_disproof_prints_where_there_is_one(case: Case) -> None:
    printed = case.written.expect.code in verdict_of(case).disproofs
    assert printed == (case.written.disproof is not None), verdict_of(case).disproofs


@pytest.mark.parametrize("case", WITH_DISPROOF, ids=str)
def test_the_printed_disproof_tells_a_right_finding_from_a_wrong_one(case: Case, tmp_path: Path) -> None:
    disproof = case.written.disproof
    assert disproof is not None
    command = verdict_of(case).disproofs[case.written.expect.code]
    outputs = {}
    for which, wanted in ((EVIDENCE, disproof.here), (DISPROVED, disproof.where_wrong)):
        outputs[which] = fake_world.run(command, files_of(case, which), tmp_path / which)
        assert _prints(wanted, outputs[which]), f"{command}\nprints on {which}:\n{outputs[which]}"
    assert not _prints(disproof.where_wrong, outputs[EVIDENCE]), f"{command}\nwould refute a right finding"
    assert not _prints(disproof.here, outputs[DISPROVED]), f"{command}\nwould not refute a wrong finding"


def _prints(wanted: str, output: str) -> bool:
    if wanted == "nothing":
        return not output.strip()
    return re.search(wanted, output, re.MULTILINE) is not None


# --- the form itself --------------------------------------------------------------------------------------------------

_WHOLE = "about: a\nexpect: {status: fault, layer: ports, code: SP403}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_WHOLE + "asks: {}\n", "unknown field `asks`"),
        (_WHOLE.replace("SP403", "403"), "Expected `str`"),
        ("about: a\n", "missing required field `expect`"),
        (_WHOLE + "disproof: {here: x}\n", "here and where_wrong"),
        (_WHOLE + "disproof: {here: x, where_wrong: '('}\n", "unterminated"),
        (_WHOLE + "ask: {target: svc/web}\nbudget: {}\n", "exclude each other"),
        (_WHOLE, "needs evidence/ and healthy/"),
    ],
)
def test_a_folder_that_is_no_case_is_refused_with_its_path(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "case.yaml").write_text(text)
    with pytest.raises(BadCase, match=re.escape(str(tmp_path))) as caught:
        read(tmp_path)
    assert why in str(caught.value)


@pytest.mark.parametrize(("data", "why"), [("", "no such file to remove"), ("kind: Pod\n", "same as in evidence/")])
def test_a_neighbour_that_changes_nothing_is_refused(tmp_path: Path, data: str, why: str) -> None:
    for name in ("evidence", "healthy"):
        (tmp_path / name).mkdir()
    (tmp_path / "case.yaml").write_text(_WHOLE)
    (tmp_path / "evidence" / "pods.yaml").write_text("kind: Pod\n")
    (tmp_path / "healthy" / ("pods.yaml" if data else "other.yaml")).write_text(data)
    with pytest.raises(BadCase, match=why):
        read(tmp_path)
