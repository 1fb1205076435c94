"""The raw log of an experiment: everything that was seen, in the order in which it arrived, one JSON object a line.

``at`` is the time of receipt in seconds since 1970; ``what`` names the kind of entry; the rest belongs to that kind.
What is printed about an experiment is computed from this alone, so a doubt can be followed to its line.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


class RawLog:
    """Append entries from several threads; each is written at once, so a cut-off run keeps what it saw."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()
        self.entries: list[Entry] = []

    def add(self, what: str, **values: Any) -> Entry:
        with self._lock:
            entry: Entry = {"at": round(time.time(), 6), "what": what, **values}
            if self._file.closed:  # a reader thread that ends after the run
                return entry
            self.entries.append(entry)
            self._file.write(json.dumps(entry, sort_keys=False) + "\n")
            self._file.flush()
            return entry

    def close(self) -> None:
        with self._lock:
            self._file.close()


def read(path: Path) -> list[Entry]:
    """The entries of a kept log."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def of_kind(entries: Iterable[Entry], *kinds: str) -> list[Entry]:
    return [entry for entry in entries if entry["what"] in kinds]
