"""What a stranger meets in these folders: names that fit a line, files that can be read in one go, a guide that is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import svcpath

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))
SOURCES = Path(svcpath.__file__).parent
GUIDE = (TESTS.parent / "CONTRIBUTING.md").read_text()


def test_no_tests_name_is_longer_than_80_characters() -> None:
    names = [name for path in FILES for name in re.findall(r"(?m)^ *(?:async )?def (test_\w+)", path.read_text())]
    assert [name for name in names if len(name) > 80] == []


def test_no_file_of_tests_is_longer_than_400_lines() -> None:
    long = {str(path.relative_to(TESTS)): path.read_text().count("\n") for path in FILES}
    assert {path: lines for path, lines in long.items() if lines > 400} == {}


def test_no_test_runs_a_loop_in_its_own_thread() -> None:
    """The browser's tests leave one running there: a test beside them on the same worker uses tests/fixtures/looped.py."""
    runs = re.compile(r"(?m)^[^\"'#\n]*\basyncio\.run\(")
    assert [str(path.relative_to(TESTS)) for path in FILES if runs.search(path.read_text())] == []


def test_the_case_in_the_guide_is_the_one_that_runs() -> None:
    entry, case = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    assert (TESTS / "cases" / "service" / "left-to-another-proxy" / "case.yaml").read_text() == case
    assert entry in (SOURCES / "findings" / "catalogue.yaml").read_text()


def test_the_check_in_the_guide_is_the_one_that_runs() -> None:
    (function,) = re.findall(r"```python\n(.*?) +\.\.\.\n```", GUIDE, re.DOTALL)
    assert function in (SOURCES / "walk" / "layers" / "service" / "other_proxy.py").read_text()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/(?!.*LAYER)[\w./-]+)`", GUIDE))))
def test_every_path_of_tests_in_the_guide_is_there(path: str) -> None:
    assert (TESTS.parent / path).exists()
