"""Writes the JSON Schemas that ship with the package: ``python -m tests.reports.write_schemas``."""

from __future__ import annotations

import json
from pathlib import Path

import svcpath.reports
from svcpath.reports.contracts import CONTRACTS, Contract, json_schema

FOLDER = Path(svcpath.reports.__file__).parent / "schemas"


def path_of(contract: Contract) -> Path:
    """svcpath.report/v1 -> svcpath.report-v1.schema.json"""
    return FOLDER / f"{contract.schema.replace('/', '-')}.schema.json"


def text_of(contract: Contract) -> str:
    return json.dumps(json_schema(contract), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for contract in CONTRACTS.values():
        path_of(contract).write_text(text_of(contract))
