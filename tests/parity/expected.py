"""The differences between two commits that are meant: a YAML list, each with the reason.

    - inputs: made-some_*            names of inputs, with * and ? as in a shell
      differs: [verdict, findings]   the keys that differ: verdict, layers, findings, not_looked_at, sentences, error
      holds: SP306                   a word of each difference's line; left out, any line of those keys
      why: ...

Each key of an entry has to differ, in every input that is compared and that the entry names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    inputs: str
    differs: tuple[str, ...]
    why: str
    holds: str = ""

    def covers(self, name: str, row: str) -> bool:
        return fnmatchcase(name, self.inputs) and row.partition(":")[0] in self.differs and self.holds in row

    def not_differing(self, name: str, rows: Sequence[str]) -> tuple[str, ...]:
        """Keys that were to differ in the input ``name``, and do not."""
        if not fnmatchcase(name, self.inputs):
            return ()
        seen = {row.partition(":")[0] for row in rows if self.covers(name, row)}
        return tuple(key for key in self.differs if key not in seen)


def read(path: Path) -> tuple[Expected, ...]:
    return msgspec.yaml.decode(path.read_bytes(), type=tuple[Expected, ...])


def unseen(allowed: Iterable[Expected], rows: Mapping[str, Sequence[str]], *, sentences: bool) -> Iterator[str]:
    """What was to differ and does not, a line each; of sentences only where they were compared."""
    for entry in allowed:
        for name, found in rows.items():
            for key in entry.not_differing(name, found):
                if sentences or key != "sentences":
                    yield f"{name}: {key} {entry.holds}".rstrip()
