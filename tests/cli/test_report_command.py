"""`-o` in several forms, and `svcpath report` over what `-o json` saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svcpath.cli.app import run
from svcpath.evidence.sources.recordings import recording_files


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    folder.mkdir()
    for name, data in recording_files("iptables").items():
        (folder / name).write_bytes(data)
    return folder


FORMS = ("json", "html", "markdown", "sarif", "junit", "terminal")


def test_one_run_writes_every_form_and_report_writes_the_same_bytes_again(evidence: Path, tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    first.mkdir()
    again.mkdir()

    def outputs(folder: Path) -> list[str]:
        return [word for form in FORMS for word in ("-o", f"{form}={folder / form}")]

    asked = ["diagnose", "svc/wrong-port", "-n", "service-ops", "--from", "pod/client", "--evidence", str(evidence)]
    assert run([*asked, *outputs(first)]) == 1
    assert run(["report", str(first / "json"), *outputs(again)]) == 0
    for form in FORMS:
        assert (again / form).read_bytes() == (first / form).read_bytes(), form
    assert json.loads((first / "json").read_bytes())["verdict"]["code"] == "SP403"


@pytest.mark.parametrize(
    "asked",
    [
        ["dataplane", "drift"],
        ["dataplane", "show"],
        ["resolve", "wrong-port", "--resolver", "all", "--from", "pod/client", "-n", "service-ops"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_other_results_can_be_shown_again_too(asked: list[str], evidence: Path, tmp_path: Path) -> None:
    saved, page, again = tmp_path / "saved.json", tmp_path / "page.html", tmp_path / "again.html"
    run([*asked, "--evidence", str(evidence), "-o", f"json={saved}", "-o", f"html={page}"])
    assert run(["report", str(saved), "-o", f"html={again}"]) == 0
    assert again.read_bytes() == page.read_bytes()


def test_what_is_no_result_is_named_and_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    assert run(["report", str(wrong)]) == 4
    assert str(wrong) in capsys.readouterr().err
    assert run(["report", str(tmp_path / "none.json")]) == 4


def test_an_unknown_form_lists_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "x.json", "-o", "pdf"]) == 2
    assert "html" in capsys.readouterr().err
