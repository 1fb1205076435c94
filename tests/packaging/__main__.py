"""``python -m tests.packaging``: both wheels built, installed from the lock file into new environments, and run; the figures, beside
those of the wheel before the lab was a distribution of its own, go to results/wheel.json.

Times are medians in milliseconds of commands started in turn, so that they see the same machine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.bench._machine import RESULTS, machine
from tests.fixtures.commits import ROOT, checked_out, commit
from tests.packaging import wheels

#: The last commit whose wheel holds the lab; SVCPATH_WHEEL_BEFORE names another ("" for none).
BEFORE = os.environ.get("SVCPATH_WHEEL_BEFORE", "3e37ff1")
ROUNDS = 25
_STARTS = {
    "python -c pass": ["-c", "pass"],
    "import svcpath": ["-c", "import svcpath"],
    "svcpath --version": ["-m", "svcpath", "--version"],
    "svcpath --help": ["-m", "svcpath", "--help"],
}
_VARIABLES = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def install(folder: Path, *distributions: Path) -> Path:
    """The Python of a new environment: the dependencies with their hashes, then the wheels. Asks the package index."""
    venv.create(folder, symlinks=True, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "run.lock")], check=True)
    subprocess.run([*pip, "--no-deps", *map(str, distributions)], check=True)
    return python


def run(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, *words], env=_VARIABLES, cwd="/", capture_output=True, text=True, check=False)


def sizes(wheel: Path) -> dict[str, Any]:
    """Bytes of the wheel, and compressed bytes by what is directly below its package."""
    rooms: dict[str, int] = {}
    for name, size in wheels.content(wheel).items():
        below = name.split("/")[1] if name.startswith("svcpath") and ".dist-info/" not in name else "metadata"
        rooms[below] = rooms.get(below, 0) + size
    largest = dict(sorted(rooms.items(), key=lambda room: -room[1])[:8])
    return {"bytes": wheel.stat().st_size, "files": len(wheels.content(wheel)), "largest": largest}


def starts(pythons: dict[str, Path]) -> dict[str, dict[str, Any]]:
    """For each environment and command its median time, and the modules that it imports (``-X importtime``)."""
    taken: dict[tuple[str, str], list[float]] = {}
    failed: set[tuple[str, str]] = set()
    for _ in range(ROUNDS):
        for label, python in pythons.items():
            for name, words in _STARTS.items():
                begun = time.perf_counter()
                if run(python, *words).returncode:
                    failed.add((label, name))
                taken.setdefault((label, name), []).append((time.perf_counter() - begun) * 1000)
    figures: dict[str, dict[str, Any]] = {}
    for (label, name), values in taken.items():
        if (label, name) in failed:  # an older commit's may need what is no longer installed
            continue
        imported = run(pythons[label], "-X", "importtime", *_STARTS[name]).stderr
        modules = sum(line.startswith("import time:") for line in imported.splitlines()) - 1
        figures.setdefault(label, {})[name] = {"ms": round(statistics.median(values), 1), "modules": modules}
    return figures


def main() -> None:
    before = commit(BEFORE)
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        folder = Path(scratch)
        built = {name: wheels.build(path, folder / name) for name, path in wheels.PROJECTS.items()}
        pythons = {
            "svcpath": install(folder / "alone", built["svcpath"]),
            "svcpath and svcpath-lab": install(folder / "both", *built.values()),
        }
        if before:
            built["svcpath before"] = wheels.build(stack.enter_context(checked_out(before)), folder / "before")
            pythons["svcpath before"] = install(folder / "old", built["svcpath before"])
        commands = {
            f"{label}: svcpath {' '.join(words)}": _ended(run(python, "-m", "svcpath", *words))
            for label, python in pythons.items()
            for words in (("--version",), ("demo",), ("lab", "--help"), ("drain", "run", "--lab", "not-up"))
        }
        figures: dict[str, Any] = {
            "machine": machine(),
            "before": before,
            "wheels": {name: sizes(wheel) for name, wheel in built.items()},
            "starts": starts(pythons),
            "commands": commands,
        }
    path = RESULTS / "wheel.json"
    path.write_text(json.dumps(figures, indent=1) + "\n")
    sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    for name, size in figures["wheels"].items():
        sys.stdout.write(f"  {size['bytes']:9,} bytes in {size['files']:4} files  {name}\n")
    for label, by_command in figures["starts"].items():
        for name, figure in by_command.items():
            sys.stdout.write(f"  {figure['ms']:7.1f} ms {figure['modules']:4} modules  {label}: {name}\n")


def _ended(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    last = (done.stderr or done.stdout).strip().splitlines()
    return {"exit": done.returncode, "last line": last[-1].strip() if last else ""}


if __name__ == "__main__":
    main()
