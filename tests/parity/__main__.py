"""Compares what two commits say of every case, made input, recording and bundle.

    python -m tests.parity BEFORE [--more FOLDER]... [--only PATTERN] [--allow FILE] [--sentences]

``BEFORE`` is a commit (or a folder with its sources); the other side is this checkout. Differences of status, layer, code,
confidence, of any layer's status, of any finding and of what was not looked at are printed; with ``--sentences`` those of the
layers' sentences too. The exit code is 0 when exactly the differences that ``--allow`` lists are there (expected.py tells its
form), 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.fixtures.commits import ROOT, checked_out
from tests.parity.expected import Expected, read, unseen
from tests.parity.inputs import inputs, write
from tests.parity.side import Progress, answers


@contextmanager
def sources(commit: str) -> Iterator[Path]:
    """The sources of a commit, or those of a folder."""
    if (Path(commit) / "src").is_dir():
        yield Path(commit).resolve() / "src"
        return
    with checked_out(commit) as tree:
        yield tree / "src"


def differences(before: dict[str, Any], after: dict[str, Any], *, sentences: bool) -> list[str]:
    """A line each: what differs (a key of the runner's row), then how."""
    found = []
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if old == new or (key == "sentences" and not sentences):
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            found += [
                f"{key}: {name}: {old.get(name)} -> {new.get(name)}" for name in old if old[name] != new.get(name)
            ]
        elif isinstance(old, list) and isinstance(new, list) and key != "verdict":
            found += [f"{key}: only before: {row}" for row in old if row not in new]
            found += [f"{key}: only after: {row}" for row in new if row not in old]
        else:
            found.append(f"{key}: {old} -> {new}")
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.parity")
    parser.add_argument("before", help="a commit, or a folder that holds src/")
    parser.add_argument("--more", action="append", type=Path, default=[], help="a folder of case folders")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="inputs whose name matches")
    parser.add_argument("--allow", type=Path, metavar="FILE", help="differences that are meant, each with its reason")
    parser.add_argument("--sentences", action="store_true")
    return parser.parse_args()


def main() -> int:
    options = _options()
    allowed: tuple[Expected, ...] = read(options.allow) if options.allow else ()
    with tempfile.TemporaryDirectory() as name, sources(options.before) as old:
        folder, names = Path(name), []
        for found, bundle in inputs(options.more):
            if fnmatch(found.name, options.only):
                names.append(write(found, folder, bundle=bundle))
        progress = Progress(len(names))
        with ThreadPoolExecutor(2) as both:
            before = both.submit(answers, old, folder, names, lambda: progress.step("before"))
            after = both.submit(answers, ROOT / "src", folder, names, lambda: progress.step("after"))
        was, is_ = before.result(), after.result()
    rows = {name: differences(was[name], is_[name], sentences=options.sentences) for name in names}
    meant, other = 0, 0
    for name in sorted(rows):
        for row in rows[name]:
            reason = next((entry.why for entry in allowed if entry.covers(name, row)), "")
            meant, other = meant + bool(reason), other + (not reason)
            sys.stdout.write(f"{name}\n    {row}\n" + (f"    expected: {reason}\n" if reason else ""))
    stale = list(unseen(allowed, rows, sentences=options.sentences))
    for row in stale:
        sys.stdout.write(f"expected, and it does not differ: {row}\n")
    different = sum(bool(found) for found in rows.values())
    sys.stdout.write(
        f"{different} of {len(names)} inputs differ; of the differences {meant} are expected, {other} are not\n"
    )
    return 1 if other or stale else 0


if __name__ == "__main__":
    sys.exit(main())
