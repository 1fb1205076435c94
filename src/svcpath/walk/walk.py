"""The ordered walk: six questions and what is under way, each answered from evidence, then one verdict.

| layer      | question                                                                    |
|------------|-----------------------------------------------------------------------------|
| resolution | does the name resolve, with the application's own resolver?                 |
| service    | does the answer fit the Service's type?                                     |
| endpoints  | is there a usable endpoint: ready, else serving and terminating?            |
| ports      | do port and protocol agree, down to a listening socket?                     |
| pod        | does a direct connection to the Pod's address work?                         |
| dataplane  | does the client's node carry the packet to a usable endpoint and back?      |
| lifecycle  | what is under way: terminating Pods, rollouts?                              |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.source import Source
from svcpath.walk import evidence_quality, probes, symptoms, targets, troubles, twins, unexplained
from svcpath.walk.ask import Asking
from svcpath.walk.changes import changes
from svcpath.walk.driver import Driver
from svcpath.walk.findings.finding import SEVERITY, Change, Finding, LayerResult, NotTested, Status
from svcpath.walk.layers import dataplane, endpoints, lifecycle, pod, ports, resolution, service
from svcpath.walk.layers.dataplane.tables import forget
from svcpath.walk.path import Path, path
from svcpath.walk.request import Request
from svcpath.walk.verdict import Verdict, judge

QUESTIONS: tuple[Callable[[Request], Asking[LayerResult]], ...] = (
    resolution.layer,
    service.layer,
    endpoints.layer,
    ports.layer,
    pod.layer,
    dataplane.layer,
    lifecycle.layer,
)


class Diagnosis(msgspec.Struct, frozen=True):
    """One walk, ended: what was asked, what each layer said, the verdict, and all that was looked at."""

    request: Request
    verdict: Verdict
    layers: tuple[LayerResult, ...]
    changes: tuple[Change, ...]
    path: Path
    not_tested: tuple[NotTested, ...]
    observations: tuple[Observation[Any], ...]


def walk(source: Source, request: Request, progress: Callable[[LayerResult], None] | None = None) -> Diagnosis:
    """Walk the layers in order over ``source``. Raises UsageError when the target is not clear."""
    try:
        return _walk(source, request, progress)
    finally:
        forget()


def _walk(source: Source, request: Request, progress: Callable[[LayerResult], None] | None) -> Diagnosis:
    driver = Driver(source)
    named = bool(request.service)
    request = driver.run(targets.settle(request))
    results: list[LayerResult] = []
    for question in QUESTIONS:
        asked = driver.asked
        if question is pod.layer and (request.thorough or all(one.status is not Status.FAIL for one in results)):
            driver.run(probes.ask(request))
        result = driver.run(question(request))
        result = troubles.added(result, driver.since(asked))
        results.append(result)
        if progress is not None:
            progress(result)
    moved = tuple(one for result in results for one in result.elsewhere)
    results = [_add(result, moved) for result in results]
    results = [evidence_quality.cautious(result, driver.observations) for result in results]
    damages = driver.run(evidence_quality.damages(driver.observations, request))
    results = evidence_quality.weighed(results, damages)
    mixed = driver.run(twins.check(request))
    results = [_add(result, mixed) for result in twins.weighed(results, mixed)]
    quality = driver.run(evidence_quality.check(damages))
    results = [_add(result, quality.findings) for result in results]
    results = [_add(result, driver.run(unexplained.check(request, tuple(results)))) for result in results]
    if request.symptom and (open_causes := symptoms.finding_for(request, tuple(results))):
        results = [_add(result, (open_causes,)) for result in results]
    results = [_gaps(result, evidence_quality.unread(driver.observations)) for result in results]
    layers = _decisive(_outranked(results))
    gaps = tuple(gap for result in layers for gap in result.not_tested) + quality.not_tested + symptoms.gap(request)
    looked_at = driver.observations
    return Diagnosis(
        request=request,
        verdict=judge(layers, service=bool(request.service), named=named),
        layers=layers,
        changes=driver.run(changes(request)),
        path=driver.run(path(request)),
        not_tested=gaps,
        observations=looked_at,
    )


def _gaps(result: LayerResult, unread: tuple[NotTested, ...]) -> LayerResult:
    """Name what could not be read at this layer, unless the layer has named it itself."""
    told = {gap.command for gap in result.not_tested} | {gap.why for gap in result.not_tested}
    mine = tuple(gap for gap in unread if gap.layer == result.name and not {gap.command, gap.why} & (told - {""}))
    return msgspec.structs.replace(result, not_tested=(*result.not_tested, *mine)) if mine else result


def _decisive(results: list[LayerResult]) -> tuple[LayerResult, ...]:
    """What is said after the first layer that fails no longer decides."""
    failed = False
    marked = []
    for result in results:
        marked.append(msgspec.structs.replace(result, decisive=not failed))
        failed = failed or result.status is Status.FAIL
    return tuple(marked)


def _outranked(results: list[LayerResult]) -> list[LayerResult]:
    """A fault that a later finding explains better (old flows of a Service that was scaled to zero) becomes a warning."""
    explained = {
        code for result in results for one in result.findings for code in one.explains if one.status is Status.FAIL
    }
    if not explained:
        return results
    changed = []
    for result in results:
        findings = tuple(
            msgspec.structs.replace(one, status=Status.WARN)
            if one.code in explained and one.status is Status.FAIL
            else one
            for one in result.findings
        )
        status = min((one.status for one in findings), key=SEVERITY.index, default=result.status)
        changed.append(
            msgspec.structs.replace(
                result, findings=findings, status=status if result.status is Status.FAIL else result.status
            )
        )
    return changed


def _add(result: LayerResult, findings: tuple[Finding, ...]) -> LayerResult:
    """Add those of ``findings`` that belong to this layer; the worst status and its sentence lead."""
    mine = tuple(one for one in findings if one.layer == result.name and one not in result.findings)
    if not mine:
        return result
    worst = min(mine, key=lambda one: SEVERITY.index(one.status))
    worse = SEVERITY.index(worst.status) < SEVERITY.index(result.status)
    return msgspec.structs.replace(
        result,
        findings=(*result.findings, *mine),
        status=worst.status if worse else result.status,
        sentence=worst.sentence if worse else result.sentence,
    )
