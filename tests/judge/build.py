"""What a walk brought back, put together by hand: findings, gaps and passes."""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State
from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.text import Damaged, Harm, SameNameObjects
from svcpath.findings.finding import LAYERS, Evidence, Finding, Hypothesis, LayerAnswer, LayerName
from svcpath.judge.judge import Diagnosis, judge
from svcpath.judge.tally import LayerResult
from svcpath.status import Confidence, Status
from svcpath.walk.failed import FailedConnection
from svcpath.walk.picture.backends import Backends
from svcpath.walk.picture.path import RequestPath
from svcpath.walk.quality import Damage, Quality
from svcpath.walk.walked import LayerWalk, Walked

WHOLE = Quality(some_slice=True, damages=(), unplaced=(), mixed=())


def present(value: Any, kind: Kind = Kind.ENDPOINT_SLICE, path: str = "objects.json") -> Observation[Any]:
    return Observation(kind, State.PRESENT, value, provenance=Provenance(path=path))


def unread(kind: Kind, reason: Reason = Reason.TIMED_OUT) -> Observation[Any]:
    return Observation(kind, State.UNREADABLE, reason=reason, why="no answer", provenance=Provenance("kube"))


def found(
    code: str,
    layer: LayerName,
    status: Status = Status.FAIL,
    *evidence: Observation[Any],
    confidence: Confidence | None = Confidence.SUPPORTED,
    cause: LayerName | None = None,
    explains: tuple[str, ...] = (),
    sentence: str = "",
) -> Finding:
    shown = tuple(Evidence("shown", look) for look in evidence)
    own = (Hypothesis("why", cause or layer, confidence, shown),) if confidence else ()
    return Finding(code, layer, status, sentence or f"{code} {layer}", shown, own, explains=explains)


def looked(*findings: Finding, passes: tuple[str, ...] = ("looked at",)) -> LayerAnswer:
    """A layer that looked."""
    return LayerAnswer(findings=findings, passes=passes, looked=True)


def damage(layer: LayerName, path: str, *, cut: bool = True) -> Damage:
    fact = Damaged(kind="List", why="breaks off", harm=Harm.LOST if cut else Harm.REPLACED)
    return Damage(present(fact, Kind.DAMAGED, path), layer, cut)


def mixed_clusters() -> Observation[SameNameObjects]:
    pair = SameNameObjects(
        kind="Service", namespace="shop", name="web", what="uid", first="a", second="b", others=("b.json",)
    )
    return present(pair, Kind.MIXED_CLUSTERS, "a.json")


def judged(
    answers: dict[LayerName, LayerAnswer],
    *,
    quality: Quality = WHOLE,
    unread: tuple[Observation[Any], ...] = (),
    failed: FailedConnection | None = None,
    symptom: str = "",
    named: bool = True,
    request: Request | None = None,
) -> Diagnosis:
    """A walk to Service web of namespace shop, judged. Layers without an answer looked, and all is well there."""
    asked = tuple(LayerWalk(name, answers.get(name, looked()), ()) for name in LAYERS)
    path = RequestPath((), Backends((), ()))
    meant = request or Request(service="web", namespace="shop", symptom=symptom)
    return judge(Walked(meant, named, asked, quality, failed, (), path, unread))


def layer(diagnosis: Diagnosis, name: LayerName) -> LayerResult:
    return next(result for result in diagnosis.layers if result.name == name)
