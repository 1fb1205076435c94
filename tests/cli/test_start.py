"""``svcpath --version`` answers at once: nothing that takes time to import is imported for it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import svcpath
from svcpath.cli.app import COMMANDS, run

HEAVY = (
    "click",
    "rich",
    "yaml",
    "msgspec",
    "dns",
    "asyncio",
    "inspect",
    "dataclasses",
    "typing",
    "importlib.metadata",
)


def _imported(*arguments: str) -> tuple[str, set[str]]:
    code = (
        "import sys\n"
        "from svcpath.cli.main import main\n"
        f"sys.argv = ['svcpath', *{list(arguments)!r}]\n"
        "try:\n    main()\n"
        "finally:\n    print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_printed_without_any_heavy_module(flag: str) -> None:
    out, modules = _imported(flag)
    assert out == f"svcpath {version('svcpath')}\n"
    assert not modules & set(HEAVY)


def test_the_version_is_that_of_the_distribution() -> None:
    assert svcpath.__version__ == version("svcpath")


def test_explaining_a_code_reads_no_yaml_with_pyyaml_and_asks_no_name_server() -> None:
    out, modules = _imported("explain", "SP403")
    assert out.startswith("SP403")
    assert "dns" not in modules


def test_the_list_of_commands_is_printed_without_importing_them() -> None:
    out, modules = _imported("--help")
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert not {
        module
        for module in modules
        if module.startswith(("svcpath.walk", "svcpath_lab", "svcpath.models", "yaml", "dns"))
    }


def test_a_command_line_imports_the_command_that_it_names() -> None:
    out, modules = _imported("diagnose", "--help")
    assert "--from" in out
    assert "svcpath.cli.diagnose" in modules
    assert not {
        module
        for module in modules
        if module.startswith(("svcpath.walk.layers", "svcpath.cli.drain", "pydantic", "yaml"))
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_of_the_list_is_there_under_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    printed = capsys.readouterr().out
    assert f" {name} [" in printed.partition("\n")[0]


def test_a_shell_is_given_the_options_of_the_command_on_its_line() -> None:
    environment = {"_SVCPATH_COMPLETE": "bash_complete", "COMP_WORDS": "svcpath diagnose --all", "COMP_CWORD": "2"}
    done = subprocess.run(
        [Path(sys.executable).with_name("svcpath")],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "plain,--all-nodes" in done.stdout.split(), done.stderr
