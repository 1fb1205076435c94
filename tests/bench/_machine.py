"""What a figure depends on, and where figures are written."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
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
    """Processor seconds (user and system, of this process and its children) of the cheapest run.

    Not the wall clock: on a machine that does other things at the same time only this can be compared.
    """
    found = []
    for _ in range(times):
        before = _processor_seconds()
        kept = action()
        found.append(_processor_seconds() - before)
        del kept  # giving it back is not part of making it
    return min(found)


def _processor_seconds() -> float:
    mine, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


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
