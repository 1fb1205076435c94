"""What a figure depends on, and where figures are written."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent.parent / "results"


def machine() -> dict[str, Any]:
    model = ""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def best(action: Callable[[], object], times: int = 3) -> float:
    """Wall-clock seconds of the fastest run: what the machine can do, not what else it was doing."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return min(found)


def version(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "not installed"
    return (done.stdout or done.stderr).strip().splitlines()[0] if done.returncode == 0 else "not installed"


def write(name: str, figures: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"bench-{name}.json"
    path.write_text(json.dumps(figures, indent=1) + "\n")
    sys.stdout.write(f"{path.relative_to(RESULTS.parent)}\n")
    for key, value in figures["ratios"].items():
        mark = "holds" if value["ratio"] <= value["limit"] else "MISSED"
        sys.stdout.write(f"  {mark:6} {value['ratio']:8.2f} of at most {value['limit']:5.2f}  {key}\n")
