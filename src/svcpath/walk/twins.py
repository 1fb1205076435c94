"""Evidence of two clusters by mistake: objects that stand side by side and do not belong together decide nothing.

Only what the path hangs on counts: the Service itself, the Service of the cluster DNS and the API server's, nodes, and the
namespaces that every cluster has or that the Service is in.
"""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.text import Twins
from svcpath.walk.ask import Asking
from svcpath.walk.evidence_quality import doubted
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import Evidence, Finding, LayerResult, Status
from svcpath.walk.request import Request

_SERVICES = frozenset({("default", "kubernetes"), ("kube-system", "kube-dns")})
_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease", "default"})


def check(request: Request) -> Asking[tuple[Finding, ...]]:
    (reply,) = yield (Need(Kind.TWINS),)
    mine = [one for one in reply.present if _on_path(one.fact, request)]
    if not mine:
        return ()
    one: Observation[Twins] = min(mine, key=lambda each: each.fact.kind != "Service")
    told = one.fact
    subject = f"{told.kind} {told.name}" + (f" of namespace {told.namespace}" if told.namespace else "")
    others = ", ".join(told.others[:3])
    return (
        finding(
            "SP002",
            Status.INCONCLUSIVE,
            f"the evidence is of two clusters, or from before and after {told.kind} {told.name} was made anew: {subject} "
            f"has {told.what} {told.first} in {one.provenance.path} and {told.second} in {others}",
            evidence=(Evidence(f"{subject}: {told.what} {told.first}, elsewhere {told.second}", one),),
            standing=None,
            layer="service",
        ),
    )


def weighed(results: list[LayerResult], found: tuple[Finding, ...]) -> list[LayerResult]:
    """Nothing fails by two things that may be of two clusters."""
    return [doubted(one, "the evidence may be of two clusters") for one in results] if found else results


def _on_path(told: Twins, request: Request) -> bool:
    if told.kind == "Service":
        return (told.namespace, told.name) in {*_SERVICES, (request.namespace, request.service)}
    if told.kind == "Namespace":
        return told.name in _NAMESPACES or told.name in (request.namespace, request.client_namespace)
    return told.kind == "Node"
