"""Question 4: do port and protocol agree, from the Service's port to a listening socket?"""

from __future__ import annotations

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observations import Observations
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.findings.finding import Answer, Judgement, NotTested, answer
from svcpath.walk.layers.ports import listening, named, slice_ports
from svcpath.walk.scene import Scene


def layer(view: Scene) -> Asking[Answer]:
    service = view.service
    if service is not None and service.is_external_name:
        return answer([Judgement(phrase="not translated: ExternalName")])
    tables = yield from sockets(view)
    attempts = yield from ask.one(Need(Kind.ATTEMPTS))
    if service is None:
        # The slices carry the ports that the controller resolved: whether anything listens there is seen without it.
        gap = NotTested(
            "ports", "the Service's own ports", "no Service in the evidence", "kubectl get services -A -o yaml"
        )
        listened = listening.check(view, tables, attempts)
        return answer([Judgement(not_tested=(gap,), looked=False), listened])
    judgements = [named.check(view), slice_ports.check(view), listening.check(view, tables, attempts)]
    nothing = "no usable endpoint to follow a port to" if view.slices else "no slice and no Pod to follow a port to"
    return answer(judgements, otherwise=nothing)


def sockets(view: Scene) -> Asking[listening.Tables]:
    """The socket tables of every Pod behind an endpoint, side by side. A Pod in its node's network has the node's
    sockets; a table whose owner nobody names belongs to the only Pod there is."""
    pods: dict[str, str] = {}
    hosts: dict[str, str] = {}
    for endpoint in view.usable:
        reference = endpoint.endpoint.target_ref
        if reference and reference.name:
            pods[endpoint.who] = f"{reference.namespace or view.request.namespace}/{reference.name}"
        elif endpoint.pod:
            pods[endpoint.who] = f"{endpoint.pod.fact.namespace}/{endpoint.pod.fact.name}"
        if endpoint.pod and endpoint.pod.fact.spec.host_network and endpoint.pod.fact.spec.node_name:
            hosts[endpoint.who] = endpoint.pod.fact.spec.node_name
    if not pods and view.selected:
        pods = {one.fact.name: f"{one.fact.namespace}/{one.fact.name}" for one in view.selected}
    needs = tuple(Need(Kind.SOCKETS, pod=pod, cost=Cost.EXEC, permission="create pods/exec") for pod in pods.values())
    if not needs:
        return {}
    replies = yield needs
    tables = dict(zip(pods, replies, strict=True))
    for who, node in hosts.items():
        if not tables[who].present:
            of_node = yield from ask.one(Need(Kind.SOCKETS, node=node))
            tables[who] = of_node if of_node.present else tables[who]
    if len(pods) == 1:
        (who,) = pods
        unowned = yield from ask.one(Need(Kind.SOCKETS, pod="?"))
        tables[who] = _joined(tables[who], unowned)
    return tables


def _joined(owned: Reply, unowned: Reply) -> Reply:
    """``owned`` with those tables of ``unowned`` that it lacks: tcp6 of the Pod whose tcp shows its address."""
    held = {name for one in owned.present for name in one.fact.covers}
    more = tuple(one for one in unowned.present if not held & one.fact.covers)
    return Reply(owned.need, Observations((*owned.present, *more))) if more else owned
