"""One side of the comparison: a commit's answers to all inputs, in processes of a bounded number of inputs each.

A process keeps what it has worked out (the old side grew to gigabytes over all inputs), so none lives long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RUNNER = Path(__file__).with_name("runner.py")
CHUNK = 40


class Progress:
    """One line on stderr, written over while both sides go on."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done: Counter[str] = Counter()
        self._lock = threading.Lock()

    def step(self, side: str) -> None:
        with self._lock:
            self._done[side] += 1
            shown = ", ".join(f"{name} {count}" for name, count in sorted(self._done.items()))
            over = all(count == self._total for count in self._done.values()) and len(self._done) == 2
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{shown} of {self._total}" + ("\n" if over else ""))
            elif over or self._done[side] % CHUNK == 0:
                sys.stderr.write(f"{shown} of {self._total}\n")
            sys.stderr.flush()


def answers(source: Path, folder: Path, names: Sequence[str], step: Callable[[], None]) -> dict[str, dict[str, Any]]:
    """name -> the runner's row, by the sources at ``source``; ``step`` is called with each row. Exits with what a process
    that broke had to say."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(names), CHUNK):
        command = [sys.executable, str(RUNNER), str(folder), *names[start : start + CHUNK]]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                row = json.loads(line)
                found[row.pop("name")] = row
                step()
        if process.returncode:
            raise SystemExit(f"{source}: the runner ended with {process.returncode}")
    return found
