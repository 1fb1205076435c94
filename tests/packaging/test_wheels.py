"""svcpath's wheel holds what a diagnosis needs and no lab; with svcpath-lab beside it ``svcpath lab`` is there."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

import svcpath
from svcpath.cli import extensions
from tests.packaging import wheels

#: Bytes. svcpath's wheel was 1.25 million with the lab in it, and is 1.06 million without.
LIMIT = 1_100_000
_READ = {name: tomllib.loads((folder / "pyproject.toml").read_text()) for name, folder in wheels.PROJECTS.items()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: wheels.build(path, tmp_path_factory.mktemp("wheel")) for name, path in wheels.PROJECTS.items()}


@pytest.fixture(scope="module")
def alone(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.environment(tmp_path_factory.mktemp("alone"), built["svcpath"])


@pytest.fixture(scope="module")
def both(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.environment(tmp_path_factory.mktemp("both"), *built.values())


def _ran(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(python), "-m", "svcpath", *words]
    return subprocess.run(command, env=variables, cwd="/", capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("name", wheels.PROJECTS)
def test_a_wheel_holds_its_package_and_nothing_else(name: str, built: dict[str, Path]) -> None:
    package = wheels.PACKAGES[name]
    files = {path.relative_to(package.parent).as_posix() for path in package.rglob("*") if path.is_file()}
    there = {path for path in wheels.content(built[name]) if ".dist-info/" not in path}
    assert there == {path for path in files if "__pycache__" not in path}


def test_svcpaths_wheel_is_small(built: dict[str, Path]) -> None:
    assert built["svcpath"].stat().st_size < LIMIT


def test_every_recording_that_ships_is_one_that_the_demo_reads() -> None:
    from svcpath.evidence.sources import recordings

    read = {f"{name}/{file}" for name in recordings.NAMES for file in recordings.recording_files(name)}
    folder = wheels.PACKAGES["svcpath"] / "recordings"
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.gz")} == read


def test_both_distributions_have_the_version_that_svcpath_prints() -> None:
    assert {read["project"]["version"] for read in _READ.values()} == {svcpath.__version__}
    assert f"svcpath=={svcpath.__version__}" in _READ["svcpath-lab"]["project"]["dependencies"]


def test_the_lab_needs_nothing_that_svcpaths_lock_does_not_hold() -> None:
    lab = {text for text in _READ["svcpath-lab"]["project"]["dependencies"] if not text.startswith("svcpath==")}
    assert lab <= set(_READ["svcpath"]["project"]["dependencies"])


def test_what_is_offered_from_sources_is_what_the_entry_points_offer() -> None:
    offered = _READ["svcpath-lab"]["project"]["entry-points"]
    assert {
        (group, name): value for group, entries in offered.items() for name, value in entries.items()
    } == extensions.OF_SOURCES


def test_the_wheel_alone_prints_its_version_and_plays_the_demo(alone: Path) -> None:
    assert _ran(alone, "--version").stdout == f"svcpath {svcpath.__version__}\n"
    demo = _ran(alone, "demo")
    assert demo.returncode in (0, 1), demo.stderr
    assert "wrong-port" in demo.stdout


@pytest.mark.parametrize(
    ("command", "options"), [("lab", "up"), ("lab", "--help"), ("drain run", "--scenario 2 --lab name")]
)
def test_without_the_lab_its_commands_say_what_to_install(alone: Path, command: str, options: str) -> None:
    done = _ran(alone, *command.split(), *options.split())
    assert done.returncode == 2
    assert done.stderr == (
        f"svcpath: svcpath-lab is not installed, and `svcpath {command}` needs it: "
        f"pip install svcpath-lab=={svcpath.__version__}\n"
    )


def test_with_the_lab_beside_it_its_commands_are_there(both: Path) -> None:
    assert "inject" in _ran(both, "lab", "--help").stdout
    assert _ran(both, "lab", "faults").returncode == 0
    drain = _ran(both, "drain", "run", "--scenario", "2", "--lab", "not-up")
    assert drain.returncode == 4
    assert "svcpath lab up --lab not-up" in drain.stderr


def test_the_list_of_commands_is_the_same_with_and_without_the_lab(alone: Path, both: Path) -> None:
    assert _ran(alone, "--help").stdout == _ran(both, "--help").stdout
