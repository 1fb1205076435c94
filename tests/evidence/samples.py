"""The sample files of tests/data/evidence and what they must be recognised as."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "evidence"
SAMPLES: dict[str, bytes] = {
    path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.name != "README.md"
}


def expected_kinds(name: str) -> set[str]:
    return set(name.partition("__")[0].split("+"))
