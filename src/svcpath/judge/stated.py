"""The error text that the user saw (``--symptom``): it ranks hypotheses and never decides alone.

A hypothesis is refuted only when its layer was looked at and passed by evidence that excludes it, and supported when a
finding of one of its codes fails.
"""

from __future__ import annotations

from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import Evidence, Falsifier, Finding, Hypothesis, NotTested, Standing, Status
from svcpath.findings.shell import fill
from svcpath.findings.symptoms import Cause, Symptom, recognise
from svcpath.judge.tally import LayerResult


def hypotheses(symptom: Symptom, request: Request, layers: tuple[LayerResult, ...] = ()) -> tuple[Hypothesis, ...]:
    """The causes in order, with the standing that ``layers`` give each; supported ones first, refuted last."""
    by_name = {layer.name: layer for layer in layers}
    names = {"ns": request.namespace or "NAMESPACE", "service": request.service or "SERVICE", "pod": "BACKEND-POD"}
    ranked = []
    for cause in symptom.causes:
        standing, supports = _standing(cause, by_name.get(cause.layer))
        falsifier = Falsifier(fill(cause.command, names), cause.refutes)
        ranked.append(Hypothesis(cause.text, cause.layer, standing, supports, (), falsifier))
    return tuple(sorted(ranked, key=lambda hypothesis: list(Standing).index(hypothesis.standing)))


def _standing(cause: Cause, layer: LayerResult | None) -> tuple[Standing, tuple[Evidence, ...]]:
    if layer is None:
        return Standing.POSSIBLE, ()
    for shown in layer.findings:
        if shown.code in cause.codes and shown.status is Status.FAIL:
            return (shown.best.standing if shown.best else Standing.SUPPORTED), shown.evidence
    clean = layer.status in (Status.PASS, Status.WARN) and not layer.not_tested
    return (Standing.REFUTED if clean else Standing.POSSIBLE), ()


def left_open(request: Request, layers: tuple[LayerResult, ...]) -> tuple[Finding, ...]:
    """The finding that a ``--symptom`` adds when no layer fails: it leaves open what the evidence leaves open."""
    symptom = recognise(request.symptom) if request.symptom else None
    if symptom is None or any(layer.status is Status.FAIL for layer in layers):
        return ()
    ranked = hypotheses(symptom, request, layers)
    still_open = [hypothesis for hypothesis in ranked if hypothesis.standing is not Standing.REFUTED]
    if not still_open:
        return ()
    first = still_open[0]
    return (
        finding(
            "SP010",
            Status.INCONCLUSIVE,
            f'"{request.symptom}" leaves open: {"; ".join(hypothesis.cause for hypothesis in still_open)}',
            standing=None,
            others=ranked,
            layer=first.layer,
            remedy=f"run: {first.falsifier.command}" if first.falsifier else "",
        ),
    )


def gap(request: Request) -> tuple[NotTested, ...]:
    """A symptom that none of the known ones is: it was given, and it ranks nothing."""
    if not request.symptom or recognise(request.symptom) is not None:
        return ()
    what = f'the symptom "{request.symptom}"'
    return (NotTested("evidence", what, "of no known kind: it is no error of a lookup or of a connection"),)
