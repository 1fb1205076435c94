"""One row of the score: what was made, what diagnose said about it, and how the two compare. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from svcpath.reports.score import SCHEMA, Diagnosed, ScoreContract, ScoreRow
from svcpath_lab.faults.fault import Fault


class FaultScore(msgspec.Struct, frozen=True, kw_only=True):
    fault: str
    mode: str
    expected_status: tuple[str, ...]
    expected_layer: tuple[str, ...]
    expected_codes: tuple[str, ...]
    given: Diagnosed
    seconds: float
    evidence: str = "recorded"

    @property
    def right_status(self) -> bool:
        return self.given.status in self.expected_status

    @property
    def right_layer(self) -> bool:
        """Healthy where healthy was right; else the layer, or that of the cause, is among those expected."""
        if self.given.status == "healthy":
            return "healthy" in self.expected_status
        layers = {self.given.layer, self.given.cause_layer} - {""}
        return self.right_status and bool(layers & set(self.expected_layer))

    @property
    def right_cause(self) -> bool:
        if self.given.status == "healthy":
            return self.right_layer
        return self.right_layer and (not self.expected_codes or self.given.code in self.expected_codes)

    @property
    def inconclusive(self) -> bool:
        return self.given.status == "inconclusive"

    @property
    def false_accusation(self) -> bool:
        """A fault is said where there is none, or at a layer where it is not."""
        return self.given.status == "fault" and not (
            "fault" in self.expected_status
            and {self.given.layer, self.given.cause_layer} - {""} & set(self.expected_layer)
        )

    @property
    def mark(self) -> str:
        if self.false_accusation:
            return "FALSE"
        if self.right_cause:
            return "right"
        if self.right_layer:
            return "layer"
        return "undecided" if self.inconclusive else "missed"


def given_by(report: dict[str, Any]) -> Diagnosed:
    """What a ``svcpath.report/v1`` document concludes; raises KeyError when it is none."""
    verdict = report["verdict"]
    return Diagnosed(
        status=verdict["status"],
        layer=verdict.get("layer") or "",
        cause_layer=verdict.get("cause_layer") or "",
        code=verdict.get("code") or "",
        confidence=verdict.get("confidence") or "",
        summary=verdict.get("summary") or "",
    )


def row(fault: Fault, mode: str, given: Diagnosed, seconds: float, evidence: str = "recorded") -> FaultScore:
    return FaultScore(
        fault=fault.name,
        mode=mode,
        expected_status=fault.expect.statuses,
        expected_layer=fault.expect.layers,
        expected_codes=fault.expect.codes,
        given=given,
        seconds=round(seconds, 2),
        evidence=evidence,
    )


def totals(rows: Sequence[FaultScore]) -> dict[str, int]:
    return {
        "rows": len(rows),
        "right_layer": sum(row.right_layer for row in rows),
        "right_cause": sum(row.right_cause for row in rows),
        "inconclusive": sum(row.inconclusive for row in rows),
        "false_accusations": sum(row.false_accusation for row in rows),
    }


def results(rows: Sequence[FaultScore], facts: dict[str, str]) -> ScoreContract:
    """What is shown and kept: date, versions and machine in ``facts``, totals, and a row for each fault."""
    judged = (
        ScoreRow(
            **{name: getattr(row, name) for name in row.__struct_fields__},
            mark=row.mark,
            right_layer=row.right_layer,
            right_cause=row.right_cause,
        )
        for row in rows
    )
    return ScoreContract(schema=SCHEMA, facts=facts, totals=totals(rows), rows=tuple(judged))
