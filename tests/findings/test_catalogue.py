"""A catalogue that contradicts itself is not loaded: what its entries say of each other holds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from svcpath.errors import ModelError, UnknownTarget
from svcpath.findings.catalogue import (
    CatalogueEntry,
    DisproofTemplate,
    Rests,
    catalogue,
    checked,
    disproof,
    entry,
    finding,
)
from svcpath.findings.finding import LAYERS
from svcpath.status import Confidence, Status


def _entry(**fields: Any) -> CatalogueEntry:
    return CatalogueEntry(**{"layer": "endpoints", "title": "a title", "meaning": "a meaning", **fields})


SOUND = {
    "SP301": _entry(rests_on=frozenset({Rests.OBJECTS}), empty_slice_proves=True, explains=("SP302",)),
    "SP302": _entry(symptom=True, yields_to=("SP301",), remedy="delete {address}"),
}


def test_entries_that_fit_each_other_are_taken_as_they_are() -> None:
    assert checked(SOUND) == SOUND


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"explains": ("SP999",)}, "names SP999, which it does not have"),
        ({"symptom": True, "yields_to": ("SP998", "SP999")}, "names SP998, SP999, which it does not have"),
        ({"explains": ("SP303",)}, "to itself"),
        ({"symptom": True, "yields_to": ("SP303",)}, "to itself"),
        ({"yields_to": ("SP301",)}, "is no symptom"),
        ({"empty_slice_proves": True}, "rests on no objects"),
        ({"empty_slice_proves": True, "rests_on": frozenset({Rests.SLICES})}, "rests on no objects"),
        ({"remedy": "delete {}"}, "unnamed field"),
        ({"remedy": "delete {address"}, "does not parse"),
        ({"disproof": DisproofTemplate("kubectl get {}", "showing it")}, "unnamed field"),
        ({"disproof": DisproofTemplate("kubectl get {name}", "showing {}")}, "unnamed field"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused_with_its_code(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ModelError, match=f"SP303.*{why}|{why}.*SP303|of SP303.*{why}"):
        checked({**SOUND, "SP303": _entry(**fields)})


def test_the_catalogue_that_ships_holds_what_it_says() -> None:
    assert checked(catalogue()) == catalogue()
    assert list(catalogue()) == sorted(catalogue())


def test_a_code_that_is_not_there_is_told_where_codes_are_listed() -> None:
    with pytest.raises(UnknownTarget, match="explain --list"):
        entry("SP999")
    assert entry("sp301") == entry("SP301")


# --- findings that are written by it -------------------------------------------------------------------------------------


def test_a_finding_lies_at_the_layer_of_its_code() -> None:
    homes = {
        code: finding(code, Status.FAIL, "it is so").layer
        for code, known in catalogue().items()
        if known.layer != "evidence"
    }
    assert all(catalogue()[code].layer == home for code, home in homes.items())
    assert set(homes.values()) == set(LAYERS)


def test_a_code_about_the_evidence_needs_the_layer_that_it_speaks_of() -> None:
    with pytest.raises(ModelError, match="SP001 is about the evidence itself"):
        finding("SP001", Status.WARN, "damaged")
    assert finding("SP001", Status.WARN, "damaged", layer="ports").layer == "ports"


def test_a_finding_explains_what_its_code_can_explain_only_where_it_says_so() -> None:
    assert finding("SP617", Status.FAIL, "full").explains == ()
    assert finding("SP617", Status.FAIL, "full", explaining=True).explains == entry("SP617").explains == ("SP304",)
    assert finding("SP305", Status.FAIL, "gone", explaining=True).explains == ()


def test_a_finding_without_a_confidence_has_no_cause() -> None:
    assert finding("SP305", Status.FAIL, "gone", confidence=None).hypotheses == ()
    proven = finding("SP305", Status.FAIL, "gone", confidence=Confidence.PROVEN)
    assert [(cause.confidence, cause.cause) for cause in proven.hypotheses] == [
        (Confidence.PROVEN, entry("SP305").title)
    ]


def test_what_disproves_a_finding_is_a_sentence_about_the_output_of_the_command() -> None:
    for code, known in catalogue().items():
        if known.disproof is not None:
            assert re.search(r"\bdisproves? it\b", known.disproof.refutes), code
            assert not known.disproof.refutes.endswith("."), code


def test_names_are_quoted_in_a_command_and_plain_in_prose() -> None:
    made = disproof("SP617", key="a b")
    assert made is not None
    assert made.command == "sysctl 'a b'"
