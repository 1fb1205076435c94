"""Writes the shipped JSON Schemas anew from the records (``make schema``)."""

from __future__ import annotations

from pathlib import Path

from svcpath.reports.schema import CONTRACTS, encoded

FOLDER = Path(__file__).parents[2] / "src" / "svcpath" / "reports" / "schemas"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, (record, contract) in CONTRACTS.items():
        (FOLDER / name).write_bytes(encoded(record, contract))


if __name__ == "__main__":
    main()
