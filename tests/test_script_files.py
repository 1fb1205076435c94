"""The programs that svcpath runs inside containers and on nodes: each parses in its language, and its linter is content."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import svcpath
import svcpath_lab
from svcpath.evidence.sources import dials, inpod_scripts, node_looks
from svcpath.evidence.sources.scripts import one_line, text

ROOT = Path(__file__).parents[1]
SOURCE = Path(svcpath.__file__).parent
SENT = SOURCE / "evidence" / "sources" / "scripts"
LAB = Path(svcpath_lab.__file__).parent
SHELL = sorted((*SOURCE.rglob("*.sh"), *LAB.rglob("*.sh")))
PYTHON = sorted((*SENT.glob("[!_]*.py"), *(SOURCE / "drain" / "scripts").glob("[!_]*.py")))
#: What tests/apt-packages.txt brings; any other tool is used where it is.
PROMISED = ("shellcheck", "php", "ruby")
SHELLS = (("sh", "-n"), ("dash", "-n"), ("bash", "--posix", "-n"), ("busybox", "sh", "-n"))


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found:
        return found
    if os.environ.get("SVCPATH_CI") == "1" and name in PROMISED:
        pytest.fail(f"no {name} on this machine; tests/apt-packages.txt has it")
    pytest.skip(f"no {name} on this machine")


def _passes(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SHELL, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(path: Path) -> None:
    _passes(_tool("shellcheck"), path)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_each_shell_reads_every_file_and_every_text_made_of_them(shell: tuple[str, ...], tmp_path: Path) -> None:
    program = _tool(shell[0])
    texts = {path.name: path.read_text() for path in SHELL}
    looks = {
        **node_looks.PROXY_LOOKS,
        **node_looks.CILIUM_LOOKS,
        "flows": node_looks.FLOWS,
        "health": node_looks.HEALTH,
    }
    scripts = {
        "client": inpod_scripts.client_look(lookups=True),
        "beside": inpod_scripts.beside_look(),
        "dials": dials.script(),
        "node": inpod_scripts.Script.of(looks),
        "lookups": inpod_scripts.Script.of(inpod_scripts.LOOKUPS),
    }
    texts |= {name: script.command()[2] for name, script in scripts.items()}
    for name, shell_text in texts.items():
        path = tmp_path / name.replace("/", ".")
        path.write_text(shell_text)
        _passes(program, *shell[1:], path)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.name)
def test_python_compiles_without_a_warning_and_ruff_finds_nothing(path: Path) -> None:
    _passes(
        sys.executable, "-W", "error", "-c", "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')", path
    )
    _passes(sys.executable, "-m", "ruff", "check", "--no-cache", path)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("lookup.php", ("php", "-l")),
        ("lookup.rb", ("ruby", "-wc")),
        ("lookup.js", ("node", "--check")),
        ("Lookup.java", ("javac", "-Xlint:all", "-Werror", "-d", "{out}")),
    ],
)
def test_other_languages_parse(name: str, command: tuple[str, ...], tmp_path: Path) -> None:
    program = _tool(command[0])
    _passes(program, *(word.format(out=tmp_path) for word in command[1:]), SENT / name)


def test_no_file_is_without_a_linter() -> None:
    endings = {path.suffix for path in SENT.iterdir() if path.is_file()}
    assert endings == {".py", ".sh", ".php", ".rb", ".js", ".java"}


def test_what_is_sent_is_the_file_without_its_head() -> None:
    assert one_line("lookup.php").startswith("foreach(")
    assert text("dial.py").startswith("import socket,")
    assert one_line("health.sh") == 'for p in "$@"; do echo "port $p"; fetch localhost "$p" /healthz; echo; done'
    for path in SENT.iterdir():
        if path.suffix in (".sh", ".rb", ".js", ".java"):
            assert not text(path.name).startswith(("#", "//")), path.name


@pytest.mark.parametrize("path", [path for path in SHELL if path.parent == SENT], ids=lambda path: path.name)
def test_no_comment_stands_where_lines_are_joined(path: Path) -> None:
    """On one line a comment would hide all that follows."""
    assert not [line for line in text(path.name).split("\n") if line.strip().startswith("#")]
