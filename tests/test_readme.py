"""The README does what it shows: Python blocks run, and each ``$ svcpath`` prints what stands below it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.running import svcpath

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()

_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: "echo $?" below a command shows its exit code; without it a fault is known by the verdict that is printed.
_EXIT = re.compile(r"^\$ echo \$\?\n(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """One command of a console block and the lines below it; ``...`` in a line stands for what is left out."""

    command: str
    output: str
    code: int | None


def shown(block: str) -> list[Shown]:
    found: list[Shown] = []
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        first, _, rest = part.partition("\n")
        if not first.startswith("$ "):
            continue
        command = first[2:].strip()
        if command == "echo $?":
            found[-1] = Shown(found[-1].command, found[-1].output, int(rest.strip()))
        elif command.startswith("svcpath"):
            found.append(Shown(command, rest.rstrip("\n"), None))
    return found


CONSOLE = [
    block for language, text in _BLOCK.findall(README) if language in ("console", "shell") for block in shown(text)
]
PYTHON = [text for language, text in _BLOCK.findall(README) if language in ("python", "py")]


def test_the_readme_shows_at_least_a_diagnosis() -> None:
    assert any(block.command.startswith("svcpath diagnose") for block in CONSOLE)


@pytest.mark.parametrize("block", CONSOLE, ids=lambda block: block.command[:70])
def test_a_command_of_the_readme_prints_what_stands_below_it(block: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(block.command, comments=True)
    if {"|", ">", "&&", ";"} & set(words) or "--context" in words or words[1:2] in (["lab"], ["drain"]):
        pytest.skip("needs a cluster or a shell")
    ran = svcpath(*words[1:])
    assert "Traceback" not in ran.err
    expected = block.code if block.code is not None else _code(block.output)
    if expected is not None:
        assert ran.code == expected, ran.both
    if block.output.strip():
        assert _matches(block.output, ran.out.rstrip("\n")), f"README shows\n{block.output}\n\nand it prints\n{ran.out}"


def _code(output: str) -> int | None:
    """The exit code that the printed verdict stands for."""
    for word, code in (("FAULT", 1), ("FAILS", 1), ("INCONCLUSIVE", 3), ("HEALTHY", 0), ("WARNING", 0)):
        if re.search(rf"^{word}\b", output, re.MULTILINE):
            return code
    return None


def _matches(wanted: str, printed: str) -> bool:
    """Equal but for trailing space; a line of ``...`` alone stands for any number of lines, within a line for any text."""
    pattern = ""
    for line in wanted.splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"[ \t]*\n"
    return re.fullmatch(pattern, printed + "\n") is not None


@pytest.mark.parametrize("text", PYTHON, ids=range(len(PYTHON)))
def test_a_python_block_of_the_readme_runs(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    if ">>>" in text:
        import doctest

        test = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0
    else:
        exec(compile(text, "README.md", "exec"), {})
