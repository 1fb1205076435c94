"""Compares what two commits say of every case, kind, recording and bundle.

    python -m tests.parity BEFORE [--more FOLDER]... [--sentences]

``BEFORE`` is a commit (or a folder with its sources); the other side is this checkout. Differences of status, layer, code,
standing, of any layer's status, of any finding and of what was not tested are printed, and the exit code is 1; with
``--sentences`` those of the layers' sentences too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.parity.inputs import inputs

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("runner.py")


@contextmanager
def sources(commit: str) -> Iterator[Path]:
    """The sources of a commit, in a work tree that is removed afterwards."""
    if (Path(commit) / "src").is_dir():
        yield Path(commit).resolve() / "src"
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", tree, commit], check=True)
        try:
            yield tree / "src"
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)


def answers(source: Path, folder: Path) -> dict[str, dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, RUNNER, folder], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{source}: {done.stderr}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row.pop("name"): row for row in rows}


def differences(before: dict[str, Any], after: dict[str, Any], *, sentences: bool) -> list[str]:
    found = []
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if old == new or (key == "sentences" and not sentences):
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            found += [
                f"{key}: {name}: {old.get(name)}\n      -> {new.get(name)}"
                for name in old
                if old[name] != new.get(name)
            ]
        elif isinstance(old, list) and isinstance(new, list) and key != "verdict":
            found += [f"{key}: only before: {row}" for row in old if row not in new]
            found += [f"{key}: only after:  {row}" for row in new if row not in old]
        else:
            found.append(f"{key}: {old} -> {new}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parity")
    parser.add_argument("before", help="a commit, or a folder that holds src/")
    parser.add_argument("--more", action="append", type=Path, default=[], help="a folder of case folders")
    parser.add_argument("--sentences", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sources(options.before) as old:
        folder = Path(name)
        count = 0
        for found in inputs(options.more):
            found.write(folder)
            count += 1
        before, after = answers(old, folder), answers(ROOT / "src", folder)
    different = 0
    for key in sorted({*before, *after}):
        rows = differences(before.get(key, {}), after.get(key, {}), sentences=options.sentences)
        different += bool(rows)
        for row in rows:
            sys.stdout.write(f"{key}\n    {row}\n")
    sys.stdout.write(f"{different} of {count} inputs differ\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
