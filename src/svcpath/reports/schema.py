"""The JSON Schema of each contract, made from its records: what a document may hold is written down once.

JSON Schema 2020-12, as msgspec derives it, with the words of an enumeration where a field holds one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.observation import State
from svcpath.reports.report import SCHEMA, Record, Report
from svcpath.walk.findings.finding import LAYERS, Standing, Status

_STATUS = [one.value for one in Status]
_STANDING = [one.value for one in Standing]

#: Record and field -> the words that it may hold.
WORDS: dict[tuple[str, str], list[str]] = {
    ("VerdictRecord", "status"): ["healthy", "warning", "fault", "inconclusive"],
    ("VerdictRecord", "layer"): list(LAYERS),
    ("VerdictRecord", "cause_layer"): list(LAYERS),
    ("VerdictRecord", "standing"): _STANDING,
    ("LayerRecord", "name"): list(LAYERS),
    ("LayerRecord", "status"): _STATUS,
    ("FindingRecord", "layer"): list(LAYERS),
    ("FindingRecord", "status"): _STATUS,
    ("HypothesisRecord", "layer"): list(LAYERS),
    ("HypothesisRecord", "standing"): _STANDING,
    ("ObservationRecord", "state"): [one.value for one in State],
    ("NotTestedRecord", "layer"): [*LAYERS, "evidence"],
}


def schema(record: type[Record], name: str) -> dict[str, Any]:
    """The schema of the contract ``name`` ("svcpath.report/v1")."""
    made = msgspec.json.schema(record)
    definitions: dict[str, Any] = made["$defs"]
    for (owner, field), words in WORDS.items():
        if owner in definitions:
            properties = definitions[owner]["properties"]
            nullable = "anyOf" in properties[field]
            properties[field] = {"enum": [*words, None] if nullable else words}
    root = definitions[record.__name__]
    root["properties"]["schema"] = {"const": name}
    for one in definitions.values():
        one.setdefault("additionalProperties", False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{name.replace('/', ':').replace('.', ':')}",
        "title": name,
        **made,
    }


def encoded(record: type[Record], name: str) -> bytes:
    """The schema as its file holds it: keys in order, two spaces, a final newline."""
    raw = msgspec.json.encode(schema(record, name), order="sorted")
    return msgspec.json.format(raw, indent=2) + b"\n"


#: File in reports/schemas -> record and contract.
CONTRACTS: dict[str, tuple[type[Record], str]] = {"svcpath.report.v1.json": (Report, SCHEMA)}
