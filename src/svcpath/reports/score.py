"""The contract ``svcpath.score/v1``: what diagnose said about each fault that was made, and how that compares.

The lab writes it; here are the types to read it back and to show it.
"""

from __future__ import annotations

from svcpath.reports.records import Record

SCHEMA = "svcpath.score/v1"


class Diagnosed(Record, frozen=True, kw_only=True):
    """What the diagnosis said; empty where it said nothing of the kind."""

    status: str
    layer: str = ""
    cause_layer: str = ""
    code: str = ""
    confidence: str = ""
    summary: str = ""


class ScoreRow(Record, frozen=True, kw_only=True):
    """``mark``: right (layer and cause), layer (alone), undecided, missed, or FALSE (an accusation of what is sound)."""

    fault: str
    mode: str
    expected_status: tuple[str, ...]
    expected_layer: tuple[str, ...]
    expected_codes: tuple[str, ...]
    given: Diagnosed
    seconds: float
    evidence: str
    mark: str
    right_layer: bool
    right_cause: bool


class ScoreContract(Record, frozen=True, kw_only=True):
    """``facts``: versions and machine; ``totals``: rows, right_layer, right_cause, inconclusive, false_accusations."""

    schema: str
    facts: dict[str, str]
    totals: dict[str, int]
    rows: tuple[ScoreRow, ...]
