"""From seven layer results to one verdict, by DESIGN's rules of judgement.

``fault``: some layer fails; its first finding that fails names the code. ``inconclusive``: none fails, and some layer
looked without a decision, or none warns and the layer that has to pass was not looked at. ``warning``: no fault, nothing
undecided, and some layer warns. ``healthy``: every layer with evidence passes and, for a Service, ``endpoints`` is among
them; for a Service that was asked for by name also ``service``, or a node's table that agrees with the slices: slices
alone tell neither frontend nor port.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from svcpath.findings.catalogue import entry
from svcpath.findings.finding import Finding, LayerName
from svcpath.judge.tally import LayerResult
from svcpath.status import Confidence, Status

_LOOKED = (Status.PASS, Status.WARN)

VerdictStatus = Literal["healthy", "warning", "fault", "inconclusive"]


class Verdict(msgspec.Struct, frozen=True):
    """``layer`` is the first that fails (for a warning the first that warns, else None); ``cause_layer`` where the best
    hypothesis lies; ``finding`` the one that decides, one of those of the layers; ``code`` is its code, empty for healthy."""

    status: VerdictStatus
    layer: LayerName | None
    cause_layer: LayerName | None
    code: str
    confidence: Confidence | None
    summary: str
    finding: Finding | None = None


def verdict(layers: tuple[LayerResult, ...], *, service: bool, named: bool = False) -> Verdict:
    """``service``: a Service is judged, so its endpoints must have been looked at. ``named``: the user asked for it by
    name, so it must have been looked at itself."""
    for number, layer in enumerate(layers):
        if layer.status is Status.FAIL:
            return _with_cause(_led_by(layer, Status.FAIL, "fault"), layers[number + 1 :])
    for layer in layers:
        if layer.status is Status.INCONCLUSIVE:
            return msgspec.structs.replace(_led_by(layer, Status.INCONCLUSIVE, "inconclusive"), layer=None)
    by_name = {layer.name: layer for layer in layers}
    endpoints = by_name["endpoints"]
    passed = [layer.name for layer in layers if layer.status is Status.PASS]
    unseen = endpoints.status not in _LOOKED if service else not passed
    for layer in layers:
        if layer.status is Status.WARN and not (unseen and _only_damage(layer)):
            warning = _led_by(layer, Status.WARN, "warning")
            if not (unseen and service):
                return warning
            # A warning from less evidence than a healthy verdict needs says so.
            return msgspec.structs.replace(warning, summary=f"{warning.summary}; the endpoints were not looked at")
    if unseen and service:
        return _nothing_shown(f"the endpoints were not looked at ({endpoints.sentence}), so nothing is shown to work")
    if named and not any(by_name[name].status in _LOOKED for name in ("service", "dataplane")):
        why = by_name["service"].sentence
        return _nothing_shown(
            f"the Service was not looked at ({why}), so neither its address nor its ports are shown to work"
        )
    if not passed:
        return _nothing_shown("the evidence shows nothing about any layer")
    open_parts = _not_looked_at(layers)
    more = f"; not looked at: {open_parts}" if open_parts else ""
    return Verdict("healthy", None, None, "", None, f"every layer looked at passes ({', '.join(passed)}){more}")


def _nothing_shown(summary: str) -> Verdict:
    return Verdict("inconclusive", None, None, "", None, summary)


def _with_cause(seen: Verdict, later: tuple[LayerResult, ...]) -> Verdict:
    """A layer that fails by what was seen alone (lookups, connections), and a later one that says why: that is the cause
    (``yields_to`` in the catalogue: a setting of the node, which every packet crosses, of lookups too; a Service that does
    not exist, and so has no name)."""
    causes = entry(seen.code).yields_to
    for layer in later:
        for found in layer.findings:
            if found.status is Status.FAIL and found.code in causes and found.best is not None:
                return msgspec.structs.replace(
                    seen,
                    cause_layer=found.best.layer,
                    code=found.code,
                    confidence=found.best.confidence,
                    summary=f"{seen.summary}; the cause: {found.sentence}",
                    finding=found,
                )
    return seen


def _only_damage(layer: LayerResult) -> bool:
    """The layer warns of nothing but damaged files: nothing of it was looked at."""
    return all(entry(found.code).layer == "evidence" for found in layer.findings if found.status is Status.WARN)


def _led_by(layer: LayerResult, status: Status, word: VerdictStatus) -> Verdict:
    """The verdict that a layer's first finding of ``status`` gives: one that says why before one that only says what was
    seen (a lookup or connection that failed), and of each kind the proven ones first."""
    confidences = list(Confidence)
    found = min(
        (found for found in layer.findings if found.status is status),
        key=lambda found: (
            entry(found.code).symptom,
            confidences.index(found.best.confidence) if found.best else len(confidences),
        ),
    )
    best = found.best
    return Verdict(
        word,
        layer.name,
        best.layer if best else layer.name,
        found.code,
        best.confidence if best else None,
        found.sentence,
        found,
    )


def _not_looked_at(layers: tuple[LayerResult, ...]) -> str:
    """What was not looked at, as words for the sentence of a healthy verdict."""
    named: list[str] = []
    for layer in layers:
        if layer.not_looked_at:
            named.extend(gap.what for gap in layer.not_looked_at)
        elif layer.status is Status.NOT_LOOKED_AT:
            named.append(layer.name)
    return ", ".join(dict.fromkeys(named))
