"""How long ``svcpath --version`` and ``--help`` take: the first as a ratio to ``python -c pass`` (the claim is at most 4), both
beside an old commit in one run (no worse than a tenth).

All are started in turn, so that they see the same machine; byte code is written before anything is timed.
"""

from __future__ import annotations

import compileall
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from tests.bench._machine import machine, write
from tests.fixtures.commits import OLD, ROOT, checked_out, commit

LIMIT, NO_WORSE = 4.0, 1.1
_START = "from svcpath.cli.main import main; main()"


def measure(trees: dict[str, Path], rounds: int = 25) -> dict[str, float]:
    """Medians in milliseconds by what was started; ``trees`` are checkouts by their name."""
    calls: dict[str, tuple[list[str], str]] = {"python": (["-c", "pass"], "")}
    for label, tree in trees.items():
        compileall.compile_dir(tree / "src", quiet=2)
        for option in ("version", "help"):
            calls[f"{option} {label}"] = (["-c", _START, f"--{option}"], str(tree / "src"))
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, (words, sources) in calls.items():
            environment = {**os.environ, "PYTHONPATH": sources}
            start = time.perf_counter()
            subprocess.run([sys.executable, *words], env=environment, capture_output=True, check=True)
            taken[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(values) for name, values in taken.items()}


def main() -> None:
    old = commit(OLD)
    with ExitStack() as stack:
        trees = ({"old": stack.enter_context(checked_out(old))} if old else {}) | {"new": ROOT}
        found = measure(trees)
    ratios = {
        "svcpath --version to python -c pass": {"ratio": found["version new"] / found["python"], "limit": LIMIT},
    }
    for option in ("version", "help") if old else ():
        ratio = found[f"{option} new"] / found[f"{option} old"]
        ratios[f"svcpath --{option} to that of the old commit"] = {"ratio": ratio, "limit": NO_WORSE}
    write(
        "start",
        {
            "machine": machine(),
            "old": old,
            **{f"{name} ms": round(value, 2) for name, value in found.items()},
            "ratios": {name: {key: round(value, 3) for key, value in ratio.items()} for name, ratio in ratios.items()},
        },
    )


if __name__ == "__main__":
    main()
