"""How long ``svcpath --version`` takes, as a ratio to ``python -c pass``: the claim is at most 4."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.bench._machine import machine, write

LIMIT = 4.0


def measure(rounds: int = 15) -> dict[str, float]:
    """Medians in milliseconds, the two taken in turn so that both see the same machine."""
    command = Path(sys.executable).with_name("svcpath")
    calls = {"python": [sys.executable, "-c", "pass"], "version": [str(command), "--version"]}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            subprocess.run(call, capture_output=True, check=True)
            taken[name].append((time.perf_counter() - start) * 1000)
    medians = {f"{name} ms": statistics.median(held) for name, held in taken.items()}
    return {**medians, "ratio": medians["version ms"] / medians["python ms"]}


def main() -> None:
    found = {name: round(value, 2) for name, value in measure().items()}
    ratio = {"ratio": found.pop("ratio"), "limit": LIMIT}
    write("start", {"machine": machine(), **found, "ratios": {"svcpath --version to python -c pass": ratio}})


if __name__ == "__main__":
    main()
