"""The one pass from what a walk brought back to a diagnosis.

findings of all layers
  -> in doubt where the evidence is (doubts.py)
  -> with what the evidence itself says (damaged files, two clusters)
  -> with what is still open: a connection that failed unexplained (failed_connection.py), the stated symptom (stated_symptom.py)
  -> those that another finding explains become warnings
  -> a status and a sentence for each layer (tally.py)
  -> the verdict (verdict.py)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.finding import Change, Finding, Gap, LayerName
from svcpath.judge import doubts, failed_connection, gaps, stated_symptom
from svcpath.judge.tally import LayerResult, tally
from svcpath.judge.verdict import Verdict, verdict
from svcpath.status import Status
from svcpath.walk.picture.path import RequestPath
from svcpath.walk.walked import LayerWalk, Walked


class Diagnosis(msgspec.Struct, frozen=True):
    """A walk, judged: what was asked, what each layer comes to, the verdict, and what could not be looked at."""

    request: Request
    verdict: Verdict
    layers: tuple[LayerResult, ...]
    changes: tuple[Change, ...]
    path: RequestPath
    not_looked_at: tuple[Gap, ...]
    unread: tuple[Observation[Any], ...]


def judge(walked: Walked) -> Diagnosis:
    layers = _layers(walked)
    request = walked.request
    return Diagnosis(
        request=request,
        verdict=verdict(layers, service=bool(request.service), named=walked.named),
        layers=layers,
        changes=walked.changes,
        path=walked.path,
        not_looked_at=(
            *(gap for layer in layers for gap in layer.not_looked_at),
            *gaps.unplaced(walked.quality.unplaced),
            *stated_symptom.gap(request),
        ),
        unread=walked.unread,
    )


def provisional(asked: LayerWalk) -> LayerResult:
    """What a layer comes to by its own looks alone, for whoever watches the walk."""
    own = tuple(found for found in asked.answer.findings if found.layer == asked.layer)
    return tally(asked.layer, asked.answer, own, gaps.of_layer(asked.layer, asked.answer.gaps, asked.met, ()))


#: The findings of each layer, its own before those that another layer's evidence showed.
_Placed = dict[LayerName, tuple[Finding, ...]]


def _layers(walked: Walked) -> tuple[LayerResult, ...]:
    doubt = doubts.doubts(walked.quality, walked.unread)
    unread = gaps.unread(walked.unread)
    missing = {asked.layer: gaps.of_layer(asked.layer, asked.answer.gaps, asked.met, unread) for asked in walked.asked}
    placed = {name: tuple(doubt.lowered(found) for found in own) for name, own in _placed(walked.asked).items()}
    placed = _with(placed, doubts.findings(walked.quality))
    placed = _with(placed, failed_connection.unexplained(walked.failed, _flat(placed)))
    placed = _with(placed, stated_symptom.left_open(walked.request, _tallied(walked.asked, placed, missing)))
    return _decisive(_tallied(walked.asked, _explained_to_warnings(placed), missing))


def _placed(asked: tuple[LayerWalk, ...]) -> _Placed:
    own: _Placed = {
        layer.layer: tuple(found for found in layer.answer.findings if found.layer == layer.layer) for layer in asked
    }
    return _with(own, (found for layer in asked for found in layer.answer.findings if found.layer != layer.layer))


def _with(placed: _Placed, findings: Iterable[Finding]) -> _Placed:
    more = dict(placed)
    for found in findings:
        if found not in more[found.layer]:
            more[found.layer] = (*more[found.layer], found)
    return more


def _flat(placed: _Placed) -> tuple[Finding, ...]:
    return tuple(found for findings in placed.values() for found in findings)


def _explained_to_warnings(placed: _Placed) -> _Placed:
    """A fault that another finding explains (old flows of a Service that was scaled to zero) becomes a warning beside it."""
    explained = {code for found in _flat(placed) if found.status is Status.FAIL for code in found.explains}
    return {
        name: tuple(
            msgspec.structs.replace(found, status=Status.WARN)
            if found.code in explained and found.status is Status.FAIL
            else found
            for found in findings
        )
        for name, findings in placed.items()
    }


def _tallied(
    asked: tuple[LayerWalk, ...], placed: _Placed, missing: dict[LayerName, tuple[Gap, ...]]
) -> tuple[LayerResult, ...]:
    return tuple(tally(layer.layer, layer.answer, placed[layer.layer], missing[layer.layer]) for layer in asked)


def _decisive(layers: tuple[LayerResult, ...]) -> tuple[LayerResult, ...]:
    """What is said after the first layer that fails no longer decides."""
    first = next((number for number, layer in enumerate(layers) if layer.status is Status.FAIL), len(layers))
    return tuple(msgspec.structs.replace(layer, decisive=number <= first) for number, layer in enumerate(layers))
