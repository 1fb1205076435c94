"""The differences between two commits that are meant: a YAML list, each with the reason.

    - inputs: kind-some-*       names of inputs, with * and ? as in a shell
      differs: verdict          the key that differs: verdict, layers, findings, not_tested, sentences, error
      holds: SP306              a word of the difference's line; left out, any line of that key
      why: ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    inputs: str
    differs: str
    why: str
    holds: str = ""

    def covers(self, name: str, row: str) -> bool:
        return fnmatchcase(name, self.inputs) and row.startswith(f"{self.differs}: ") and self.holds in row


def read(path: Path) -> tuple[Expected, ...]:
    return msgspec.yaml.decode(path.read_bytes(), type=tuple[Expected, ...])


def unseen(allowed: Iterable[Expected], rows: Mapping[str, Sequence[str]]) -> tuple[Expected, ...]:
    """Entries whose inputs were compared and did not differ like that."""
    return tuple(
        entry
        for entry in allowed
        if any(fnmatchcase(name, entry.inputs) for name in rows)
        and not any(entry.covers(name, row) for name, found in rows.items() for row in found)
    )
