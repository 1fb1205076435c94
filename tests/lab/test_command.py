"""A command that takes the place of the process: input, output and exit code are its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from svcpath_lab import command
from svcpath_lab.errors import LabError

BECOME = "import sys; from svcpath_lab.command import become; become(sys.argv[1:])"


def _become(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", BECOME, *words]
    return subprocess.run(line, input=given, capture_output=True, text=True, timeout=60, check=False)


def test_standard_input_goes_to_the_command_and_its_exit_code_comes_back() -> None:
    done = _become("sh", "-c", "cat; echo wrong >&2; exit 7", given="hi\n")
    assert (done.stdout, done.stderr, done.returncode) == ("hi\n", "wrong\n", 7)


def test_a_pipe_that_is_closed_ends_the_command() -> None:
    script = f"{sys.executable} -c '{BECOME}' yes | head -1"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("y\n", "")


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(LabError, match="no-such-program: No such file"):
        command.become(["no-such-program"])
