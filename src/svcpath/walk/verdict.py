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

from svcpath.walk.findings.catalogue import entry
from svcpath.walk.findings.finding import (
    Finding,
    LayerName,
    LayerResult,
    NotTested,
    Standing,
    Status,
)

_LOOKED = (Status.PASS, Status.WARN)

VerdictStatus = Literal["healthy", "warning", "fault", "inconclusive"]


class Verdict(msgspec.Struct, frozen=True):
    """``layer`` is the first that fails (for a warning the first that warns, else None); ``cause_layer`` where the best
    hypothesis lies; ``code`` that of the deciding finding, empty for healthy."""

    status: VerdictStatus
    layer: LayerName | None
    cause_layer: LayerName | None
    code: str
    standing: Standing | None
    summary: str
    finding: Finding | None = None


def judge(layers: tuple[LayerResult, ...], *, service: bool, named: bool = False) -> Verdict:
    """``service``: a Service is judged, so its endpoints must have been looked at. ``named``: the user asked for it by
    name, so it must have been looked at itself."""
    for number, result in enumerate(layers):
        if result.status is Status.FAIL:
            return _explained(_from(result, Status.FAIL, "fault"), layers[number + 1 :])
    for result in layers:
        if result.status is Status.INCONCLUSIVE:
            verdict = _from(result, Status.INCONCLUSIVE, "inconclusive")
            return Verdict(
                "inconclusive",
                None,
                verdict.cause_layer,
                verdict.code,
                verdict.standing,
                verdict.summary,
                verdict.finding,
            )
    by_name = {result.name: result for result in layers}
    gaps = _gaps(layers)
    if service:
        unseen = by_name["endpoints"].status not in _LOOKED
    else:
        unseen = not any(result.status is Status.PASS for result in layers)
    for result in layers:
        if result.status is Status.WARN and not (unseen and _only_damage(result)):
            warning = _from(result, Status.WARN, "warning")
            if not unseen:
                return warning
            if not service:
                return warning
            # A warning from less evidence than a healthy verdict needs says so.
            said = f"{warning.summary}; the endpoints were not looked at"
            return msgspec.structs.replace(warning, summary=said)
    if unseen and service:
        why = by_name["endpoints"].sentence
        return Verdict(
            "inconclusive",
            None,
            None,
            "",
            None,
            f"the endpoints were not looked at ({why}), so nothing is shown to work",
        )
    if named and not any(by_name[name].status in _LOOKED for name in ("service", "dataplane")):
        why = by_name["service"].sentence
        said = f"the Service was not looked at ({why}), so neither its address nor its ports are shown to work"
        return Verdict("inconclusive", None, None, "", None, said)
    if not any(result.status is Status.PASS for result in layers):
        return Verdict("inconclusive", None, None, "", None, "the evidence shows nothing about any layer")
    passed = [result.name for result in layers if result.status is Status.PASS]
    said = f"every layer looked at passes ({', '.join(passed)})"
    return Verdict("healthy", None, None, "", None, f"{said}; not tested: {gaps}" if gaps else said)


#: What a lookup or connection that fails may come from, though a later layer finds it: a setting of the node, which
#: every packet crosses, of lookups too; a Service that does not exist, and so has no name.
_EXPLAINS = frozenset({"SP617", "SP201"})


def _explained(verdict: Verdict, later: tuple[LayerResult, ...]) -> Verdict:
    """A layer that fails by what was seen alone (lookups, connections), and a later one that says why: that is the cause."""
    if not entry(verdict.code).symptom:
        return verdict
    for result in later:
        for one in result.findings:
            if one.status is Status.FAIL and one.code in _EXPLAINS and one.best is not None:
                return msgspec.structs.replace(
                    verdict,
                    cause_layer=one.best.layer,
                    code=one.code,
                    standing=one.best.standing,
                    summary=f"{verdict.summary}; the cause: {one.sentence}",
                    finding=one,
                )
    return verdict


def _only_damage(result: LayerResult) -> bool:
    """The layer warns of nothing but a damaged file: nothing of it was looked at."""
    return all(one.code == "SP001" for one in result.findings if one.status is Status.WARN)


def _from(result: LayerResult, status: Status, word: VerdictStatus) -> Verdict:
    """The verdict that a layer's first finding of ``status`` gives: one that says why before one that only says what was
    seen (a lookup or connection that failed), and of each kind the proven ones first."""
    candidates = [one for one in result.findings if one.status is status]
    candidates.sort(
        key=lambda one: (
            entry(one.code).symptom,
            list(Standing).index(one.best.standing) if one.best else len(Standing),
        )
    )
    finding = candidates[0]
    best = finding.best
    return Verdict(
        word,
        result.name,
        best.layer if best else result.name,
        finding.code,
        best.standing if best else None,
        finding.sentence,
        finding,
    )


def _gaps(layers: tuple[LayerResult, ...]) -> str:
    """What was not tested, as words for the sentence of a healthy verdict."""
    named: list[str] = []
    for result in layers:
        gaps: tuple[NotTested, ...] = result.not_tested
        if gaps:
            named.extend(gap.what for gap in gaps)
        elif result.status is Status.NOT_TESTED:
            named.append(result.name)
    return ", ".join(dict.fromkeys(named))
