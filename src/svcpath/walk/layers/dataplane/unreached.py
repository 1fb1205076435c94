"""A client that no command reaches while commands reach Pods of other nodes: what its node does with packets is not known.

The API server opens a new connection to the node's kubelet for each exec. A node that drops new connections (a full
connection tracking table, a firewall, overload) looks well in the API, for its kubelet reports over a connection that is
there already. So this decides nothing by itself, and nothing else that was seen speaks for that node.
"""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Hypothesis
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.readiness import why_not_ready
from svcpath.walk.troubles import unreached


def check(request: Request, view: Scene, node: str) -> Asking[CheckResult]:
    """``node`` is the client's."""
    if not node or not request.client_name:
        return CheckResult(looked=False)
    reply = yield from ask.one(ask.in_client(request, Kind.RESOLV_CONF))
    silent = unreached(reply.observations)
    if reply.present or silent is None:
        return CheckResult(looked=False)
    reached = yield from _elsewhere(view, node)
    if reached is None:
        return CheckResult(looked=False)
    pod, observed = reached
    waiting = [
        pod
        for pod in view.selected
        if pod.fact.spec.node_name == node and pod.fact.ready is False and not pod.fact.deleting
    ]
    unready = f"; {count(len(waiting), 'Pod')} of the Service there not ready" if waiting else ""
    evidence = (
        Evidence(f"a command in {request.client} on node {node}: {silent.why}", silent),
        Evidence(f"a command in {pod} on another node worked", observed),
        *(Evidence(f"Pod {pod.fact.name} on node {node}: {why_not_ready(pod.fact)}", pod) for pod in waiting[:2]),
    )
    return CheckResult(
        findings=(
            finding(
                "SP624",
                Status.INCONCLUSIVE,
                f"no command reaches {request.client_name} on node {node}, and one on another node does{unready}: "
                "the node may drop new connections",
                evidence=evidence,
                confidence=Confidence.POSSIBLE,
                cause="the node's connection tracking table is full",
                others=(
                    Hypothesis(
                        "a firewall keeps the API server from this node's kubelet",
                        "dataplane",
                        Confidence.POSSIBLE,
                        evidence[:1],
                    ),
                    Hypothesis(
                        "the node is overloaded, or its container runtime hangs",
                        "dataplane",
                        Confidence.POSSIBLE,
                        evidence[:1],
                    ),
                ),
                node=node,
            ),
        )
    )


def _elsewhere(view: Scene, node: str) -> Asking[tuple[str, Observation[Any]] | None]:
    """A Pod of another node in which a command worked."""
    for pod in view.selected:
        if pod.fact.spec.node_name not in (None, "", node):
            name = f"{pod.fact.namespace}/{pod.fact.name}"
            sockets = yield from ask.sockets(name)
            if sockets.present:
                return name, sockets.present[0]
    return None
