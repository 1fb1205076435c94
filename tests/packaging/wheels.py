"""Build the wheels of a checkout, and put them into an environment of their own."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

from tests.fixtures.commits import ROOT

#: The distributions of this repository by name: their folders, and the packages in them.
PROJECTS = {"svcpath": ROOT, "svcpath-lab": ROOT / "lab"}
PACKAGES = {"svcpath": ROOT / "src" / "svcpath", "svcpath-lab": ROOT / "lab" / "src" / "svcpath_lab"}


def build(project: Path, into: Path) -> Path:
    """The wheel of the project in a folder; needs hatchling and no network."""
    into.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = into.glob("*.whl")
    return wheel


def content(wheel: Path) -> dict[str, int]:
    """Each file of a wheel with its compressed size in bytes."""
    return {entry.filename: entry.compress_size for entry in zipfile.ZipFile(wheel).infolist()}


def environment(folder: Path, *wheels: Path) -> Path:
    """The Python of a new environment that has the wheels' files and the dependencies of the one that runs this, which are
    linked: no index is asked. svcpath itself, editable or not, is not among them.
    """
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    own = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("svcpath", "_svcpath", "__")) and entry.suffix != ".pth":
            (own / entry.name).symlink_to(entry)
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(own)
    return python
