"""``svcpath --version`` answers at once: nothing that takes time to import is imported for it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import svcpath

HEAVY = (
    "typer",
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
