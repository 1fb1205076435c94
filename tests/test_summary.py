"""What tests say for the end of the run is there, also from xdist's workers and from a test that failed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SPEAKERS = """
def test_passes(say_in_summary):
    say_in_summary("7 of 9, seed 3")

def test_fails(say_in_summary):
    say_in_summary("two\\nlines")
    assert False
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_lines_are_shown_at_the_end_before_the_closing_line(tmp_path: Path, workers: list[str]) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_speakers.py").write_text(SPEAKERS)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, "."]
    out = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    lines = out.splitlines()
    start = next(number for number, line in enumerate(lines) if "measured against the real thing" in line)
    assert {"7 of 9, seed 3", "two", "lines"} <= set(lines[start:])
    assert lines[-1].startswith("1 failed, 1 passed")
