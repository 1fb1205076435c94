"""The recorded runs as the tests read them."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "resolvers"


@cache
def lines(name: str) -> tuple[str, ...]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return tuple(file.read().splitlines())
