"""Error texts that are known: the file is checked when it is read, and the longest matching words decide."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

import pytest

from svcpath.errors import ModelError
from svcpath.findings.catalogue import catalogue
from svcpath.findings.finding import LAYERS
from svcpath.findings.symptoms import recognise, symptoms

ENTRY = """
- name: refused
  words: [connection refused]
  causes:
    - {text: nothing listens, layer: ports, codes: [CODE], command: ss -ltn, refutes: the port shown disproves it}
"""


def _loaded(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "symptoms.yaml").write_text(text)
    monkeypatch.setattr(importlib.resources, "files", lambda _: folder)
    symptoms.__wrapped__()


def test_a_cause_of_a_code_that_is_in_the_catalogue_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _loaded(ENTRY.replace("CODE", "SP403"), tmp_path, monkeypatch)


def test_a_cause_of_an_unknown_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="SP999"):
        _loaded(ENTRY.replace("CODE", "SP999"), tmp_path, monkeypatch)


def test_every_symptom_has_causes_of_known_layers_and_words_in_lower_case() -> None:
    for symptom in symptoms():
        assert symptom.causes, symptom.name
        assert symptom.words, symptom.name
        assert all(word == word.lower() for word in symptom.words), symptom.name
        for cause in symptom.causes:
            assert cause.layer in LAYERS, symptom.name
            assert set(cause.codes) <= set(catalogue()), symptom.name


def test_names_of_symptoms_are_different() -> None:
    names = [symptom.name for symptom in symptoms()]
    assert len(set(names)) == len(names)


def test_each_word_of_a_symptom_is_recognised_as_it() -> None:
    for symptom in symptoms():
        for word in symptom.words:
            assert recognise(f"curl: (7) {word.upper()} after 3 ms") is symptom, word


def test_an_unknown_text_is_no_symptom() -> None:
    assert recognise("it feels slow") is None


def test_the_file_ships_with_the_package() -> None:
    assert importlib.resources.files("svcpath.findings").joinpath("symptoms.yaml").is_file()
