"""One commit's side of the walk's measurement: reads evidence and walks it as asked, one JSON object a line.

Run with PYTHONPATH at that commit's sources. It uses only what every commit has: ``svcpath.diagnose`` and BytesSource.
Orders: ``{"read": folder}`` and ``{"walk": {target, namespace, client}, "times": n}``; answers are processor seconds.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

import svcpath
from svcpath.evidence.sources.memory import BytesSource


def read(folder: str) -> tuple[BytesSource, float]:
    files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
    started = time.process_time()
    source = BytesSource(files)
    return source, time.process_time() - started


def walk(source: BytesSource, asked: dict[str, str], times: int) -> dict[str, Any]:
    seconds, status = [], ""
    for _ in range(times):
        started = time.process_time()
        report = svcpath.diagnose(source, asked["target"], namespace=asked["namespace"], client=asked["client"])
        seconds.append(time.process_time() - started)
        status = report.verdict.status
    return {"seconds": seconds, "status": status}


def main() -> None:
    source = BytesSource({})
    answer: dict[str, Any] = {"package": svcpath.__file__}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        order = json.loads(line)
        if "read" in order:
            # The evidence before it is given back first, with all that was kept of it, outside the measured time.
            source = BytesSource({})
            gc.collect()
            source, seconds = read(order["read"])
            answer = {"seconds": seconds}
        else:
            answer = walk(source, order["walk"], order["times"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
