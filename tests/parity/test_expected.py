"""Differences that are meant: each is covered by its entry, and an entry without its difference is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.__main__ import differences
from tests.parity.expected import Expected, read, unseen
from tests.walk.layers.every_input import BROKEN, SOUND

MEANT = Expected("made-a_*", ("verdict", "sentences"), "because", "SP306")
ROW = "verdict: ['fault', 'SP306'] -> ['inconclusive', 'SP306']"


@pytest.mark.parametrize(
    ("name", "row", "covered"),
    [
        ("made-a_pod", ROW, True),
        ("made-b_pod", ROW, False),
        ("made-a_pod", ROW.replace("SP306", "SP305"), False),
        ("made-a_pod", "findings: only before: ['SP306']", False),
    ],
)
def test_a_difference_is_meant_by_input_key_and_word(name: str, row: str, covered: bool) -> None:
    assert MEANT.covers(name, row) is covered


def test_what_was_to_differ_and_does_not_is_reported() -> None:
    rows = {"made-a_pod": [ROW], "made-a_slice": [], "made-b_pod": []}
    assert list(unseen([MEANT], rows, sentences=False)) == ["made-a_slice: verdict SP306"]
    assert len(list(unseen([MEANT], rows, sentences=True))) == 3


def test_a_difference_is_a_line_that_begins_with_its_key() -> None:
    before = {"verdict": ["fault"], "findings": [["SP306"]], "sentences": {"pod": "a"}}
    after = {"verdict": ["healthy"], "findings": [], "sentences": {"pod": "b"}}
    rows = differences(before, after, sentences=True)
    assert [row.partition(":")[0] for row in rows] == ["findings", "sentences", "verdict"]
    assert len(differences(before, after, sentences=False)) == 2
    assert differences(before, before, sentences=True) == []


def test_the_list_that_is_kept_names_inputs_that_there_are() -> None:
    names = [f"made-{kind.name}" for kind in (*BROKEN, *SOUND)]
    for entry in read(Path(__file__).with_name("expected.yaml")):
        assert any(entry.not_differing(name, ()) for name in names), entry.inputs
        assert entry.why
