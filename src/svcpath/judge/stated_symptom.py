"""The error text that the user saw (``--symptom``): it ranks hypotheses and never decides alone.

A hypothesis is refuted only when its layer was looked at and passed by evidence that excludes it, and supported when a
finding of one of its codes fails.
"""

from __future__ import annotations

from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import Disproof, Evidence, Finding, Gap, Hypothesis
from svcpath.findings.shell import fill
from svcpath.findings.symptoms import Symptom, UsualCause, recognise
from svcpath.judge.tally import LayerResult
from svcpath.status import Confidence, Status


def hypotheses(symptom: Symptom, request: Request, layers: tuple[LayerResult, ...] = ()) -> tuple[Hypothesis, ...]:
    """The causes in order, with the confidence that ``layers`` give each; supported ones first, refuted last."""
    by_name = {layer.name: layer for layer in layers}
    names = {"ns": request.namespace or "NAMESPACE", "service": request.service or "SERVICE", "pod": "BACKEND-POD"}
    ranked = []
    for cause in symptom.causes:
        confidence, supports = _confidence(cause, by_name.get(cause.layer))
        disproof = Disproof(fill(cause.command, names), cause.refutes)
        ranked.append(Hypothesis(cause.text, cause.layer, confidence, supports, (), disproof))
    return tuple(sorted(ranked, key=lambda hypothesis: list(Confidence).index(hypothesis.confidence)))


def _confidence(cause: UsualCause, layer: LayerResult | None) -> tuple[Confidence, tuple[Evidence, ...]]:
    if layer is None:
        return Confidence.POSSIBLE, ()
    for shown in layer.findings:
        if shown.code in cause.codes and shown.status is Status.FAIL:
            return (shown.best.confidence if shown.best else Confidence.SUPPORTED), shown.evidence
    clean = layer.status in (Status.PASS, Status.WARN) and not layer.not_looked_at
    return (Confidence.REFUTED if clean else Confidence.POSSIBLE), ()


def left_open(request: Request, layers: tuple[LayerResult, ...]) -> tuple[Finding, ...]:
    """The finding that a ``--symptom`` adds when no layer fails: it leaves open what the evidence leaves open."""
    symptom = recognise(request.symptom) if request.symptom else None
    if symptom is None or any(layer.status is Status.FAIL for layer in layers):
        return ()
    ranked = hypotheses(symptom, request, layers)
    still_open = [hypothesis for hypothesis in ranked if hypothesis.confidence is not Confidence.REFUTED]
    if not still_open:
        return ()
    first = still_open[0]
    return (
        finding(
            "SP010",
            Status.INCONCLUSIVE,
            f'"{request.symptom}" leaves open: {"; ".join(hypothesis.cause for hypothesis in still_open)}',
            confidence=None,
            others=ranked,
            layer=first.layer,
            remedy=f"run: {first.disproof.command}" if first.disproof else "",
        ),
    )


def gap(request: Request) -> tuple[Gap, ...]:
    """A symptom that none of the known ones is: it was given, and it ranks nothing."""
    if not request.symptom or recognise(request.symptom) is not None:
        return ()
    what = f'the symptom "{request.symptom}"'
    return (Gap("evidence", what, "unrecognized: it is no error of a lookup or of a connection"),)
