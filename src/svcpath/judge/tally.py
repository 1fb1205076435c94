"""What one layer comes to: its status and the sentence that leads, from its findings and from what it looked at.

The worst finding leads; of equals the first, a layer's own before those that another layer's evidence showed. Without one
that is bad the layer passes with its phrases, if any check had something to look at, and is not looked at otherwise.
"""

from __future__ import annotations

import msgspec

from svcpath.findings.finding import Finding, Gap, LayerAnswer, LayerName
from svcpath.status import SEVERITY, Status

_BAD = (Status.FAIL, Status.INCONCLUSIVE, Status.WARN)


class LayerResult(msgspec.Struct, frozen=True):
    """``sentence`` is the layer's one line in the report; ``decisive`` is false after the first layer that fails."""

    name: LayerName
    status: Status
    sentence: str
    findings: tuple[Finding, ...] = ()
    not_looked_at: tuple[Gap, ...] = ()
    decisive: bool = True


def severity(finding: Finding) -> int:
    """0 for the worst."""
    return SEVERITY.index(finding.status)


def tally(
    name: LayerName,
    layer: LayerAnswer,
    findings: tuple[Finding, ...],
    gaps: tuple[Gap, ...],
) -> LayerResult:
    """``layer`` is what the layer's own checks looked at, ``findings`` and ``gaps`` all that are counted for it."""
    worst = min(findings, key=severity, default=None)
    if worst is not None and (worst.status in _BAD or not layer.looked):
        status, sentence = worst.status, worst.sentence
    elif layer.looked:
        status, sentence = Status.PASS, ", ".join(layer.passes)
    else:
        why = "; ".join(dict.fromkeys(gap.why for gap in layer.gaps))
        status, sentence = Status.NOT_LOOKED_AT, layer.otherwise or why or "nothing to look at"
    return LayerResult(name, status, sentence, findings, gaps)
