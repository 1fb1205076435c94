"""The scores of several labs as one results file:  python -m tests.lab.joined RESULTS.json SCORE.json...

Versions and machine must be the same in all; dates, modes, lots and what was not made are put side by side.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from svcpath.reports.report import encode
from svcpath.reports.score import ScoreContract
from svcpath_lab.score.row import FaultScore, results

_SIDE_BY_SIDE = ("date", "modes", "lot", "not made")


def joined(parts: Sequence[ScoreContract]) -> ScoreContract:
    """One score of all rows. Raises ValueError when the parts are of different versions or machines."""
    facts = dict(parts[0].facts)
    for name in _SIDE_BY_SIDE:
        values = dict.fromkeys(part.facts[name] for part in parts if part.facts.get(name))
        if values:
            facts[name] = ("; " if name == "not made" else " ").join(values)
    for part in parts[1:]:
        differing = [
            name for name in {*facts, *part.facts} - set(_SIDE_BY_SIDE) if facts.get(name) != part.facts.get(name)
        ]
        if differing:
            raise ValueError(f"the scores differ in {', '.join(sorted(differing))}")
    return results(
        [
            FaultScore(**{name: getattr(row, name) for name in FaultScore.__struct_fields__})
            for part in parts
            for row in part.rows
        ],
        facts,
    )


def main(target: str, *names: str) -> None:
    parts = [msgspec.json.decode(Path(name).read_bytes(), type=ScoreContract) for name in names]
    Path(target).write_bytes(encode(joined(parts)))
    sys.stdout.write(f"{target}: {sum(len(part.rows) for part in parts)} diagnoses\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
