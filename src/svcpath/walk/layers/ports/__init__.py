"""Question 4: do port and protocol agree, from the Service's port to a listening socket?"""

from __future__ import annotations

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import Judgement, LayerResult, NotTested, layer_result
from svcpath.walk.layers.ports import listening, named, slice_ports
from svcpath.walk.request import Request
from svcpath.walk.scene import Scene, scene


def layer(request: Request) -> Asking[LayerResult]:
    view = yield from scene(request)
    service = view.service
    if service is None:
        gap = NotTested("ports", "the chain of ports", "no Service in the evidence", "kubectl get services -A -o yaml")
        return layer_result("ports", [Judgement(not_tested=(gap,), looked=False)])
    if service.is_external_name:
        return layer_result("ports", [Judgement(phrase="not translated: ExternalName")])
    tables = yield from sockets(view)
    attempts = yield from ask.one(Need(Kind.ATTEMPTS))
    judgements = [named.check(view), slice_ports.check(view), listening.check(view, tables, attempts)]
    return layer_result("ports", judgements, otherwise="no slice and no Pod to follow a port to")


def sockets(view: Scene) -> Asking[listening.Tables]:
    """The socket tables of every Pod behind an endpoint, side by side; one whose owner nobody names belongs to the only
    Pod there is."""
    pods: dict[str, str] = {}
    for endpoint in view.usable:
        reference = endpoint.endpoint.target_ref
        if reference and reference.name:
            pods[endpoint.who] = f"{reference.namespace or view.request.namespace}/{reference.name}"
        elif endpoint.pod:
            pods[endpoint.who] = f"{endpoint.pod.fact.namespace}/{endpoint.pod.fact.name}"
    if not pods and view.selected:
        pods = {one.fact.name: f"{one.fact.namespace}/{one.fact.name}" for one in view.selected}
    needs = tuple(Need(Kind.SOCKETS, pod=pod, cost=Cost.EXEC, permission="create pods/exec") for pod in pods.values())
    if not needs:
        return {}
    replies = yield needs
    tables = dict(zip(pods, replies, strict=True))
    if len(pods) == 1 and not replies[0].present:
        unowned = yield from ask.one(Need(Kind.SOCKETS, pod="?"))
        if unowned.present:
            tables = dict.fromkeys(pods, unowned)
    return tables
