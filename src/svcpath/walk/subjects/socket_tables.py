"""The socket tables of the Pods behind a Service, side by side."""

from __future__ import annotations

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observations import Observations
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.scene import Scene

#: Endpoint name -> the reply that holds its Pod's socket tables.
Tables = dict[str, Reply]


def needs(scene: Scene) -> dict[str, Need]:
    """Endpoint name -> the Need for its Pod's tables; of the selected Pods where no endpoint is usable."""
    pods: dict[str, str] = {}
    for endpoint in scene.usable:
        reference = endpoint.endpoint.target_ref
        if reference and reference.name:
            pods[endpoint.who] = f"{reference.namespace or scene.request.namespace}/{reference.name}"
        elif endpoint.pod:
            pods[endpoint.who] = f"{endpoint.pod.fact.namespace}/{endpoint.pod.fact.name}"
    if not pods:
        pods = {pod.fact.name: f"{pod.fact.namespace}/{pod.fact.name}" for pod in scene.selected}
    return {
        who: Need(Kind.SOCKETS, pod=pod, cost=Cost.EXEC, permission="create pods/exec") for who, pod in pods.items()
    }


def sockets(scene: Scene) -> Asking[Tables]:
    """The socket tables of every Pod behind an endpoint, side by side. A Pod in its node's network has the node's
    sockets; a table without an owner belongs to the only Pod there is."""
    wanted = needs(scene)
    if not wanted:
        return {}
    replies = yield tuple(wanted.values())
    tables = dict(zip(wanted, replies, strict=True))
    for who, node in _in_node_network(scene).items():
        if not tables[who].present:
            of_node = yield from ask.one(Need(Kind.SOCKETS, node=node))
            tables[who] = of_node if of_node.present else tables[who]
    if len(wanted) == 1:
        (who,) = wanted
        unowned = yield from ask.one(Need(Kind.SOCKETS, pod="?"))
        tables[who] = _joined(tables[who], unowned)
    return tables


def _in_node_network(scene: Scene) -> dict[str, str]:
    """Endpoint name -> node, of Pods with hostNetwork."""
    pods = ((endpoint.who, endpoint.pod.fact.spec) for endpoint in scene.usable if endpoint.pod)
    return {who: spec.node_name for who, spec in pods if spec.host_network and spec.node_name}


def _joined(owned: Reply, unowned: Reply) -> Reply:
    """``owned`` with those tables of ``unowned`` that are missing from it: tcp6 of the Pod whose tcp shows its address."""
    covered = {name for table in owned.present for name in table.fact.covers}
    more = tuple(table for table in unowned.present if not covered & table.fact.covers)
    return Reply(owned.need, Observations((*owned.present, *more))) if more else owned
