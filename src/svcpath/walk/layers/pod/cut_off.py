"""An endpoint that a connection does not reach, on a node that no command reaches either.

The kubelet hears on the node's own address and the application on the Pod's, so neither a policy nor the application
keeps both silent: the node itself is off, cut off, or overloaded, while the API may still call it ready for the 40 s of
node-monitor-grace-period.
"""

from __future__ import annotations

from collections.abc import Mapping

from svcpath.findings.finding import Disproof, Evidence, Hypothesis
from svcpath.findings.shell import shell
from svcpath.status import Confidence
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.layers.pod.direct import lost
from svcpath.walk.scene import Scene
from svcpath.walk.troubles import unreached


def check(view: Scene, attempts: Reply) -> Asking[Mapping[str, Hypothesis]]:
    """By address of an endpoint that no connection reached and in whose Pod no command ended: that its node is why."""
    found: dict[str, Hypothesis] = {}
    for address, (endpoint, connection) in lost(view, attempts).items():
        if endpoint.pod is None:
            continue
        reply = yield from ask.sockets(f"{endpoint.pod.fact.namespace}/{endpoint.pod.fact.name}")
        command = unreached(reply.observations)
        if not reply.present and command is not None:
            node = endpoint.pod.fact.spec.node_name or endpoint.endpoint.node_name or "of the Pod"
            evidence = (
                Evidence(f"no connection to {address} got through", connection),
                Evidence(f"a command in {endpoint.who} on node {node}: {command.why}", command),
            )
            again = shell(
                "kubectl -n {namespace} exec {pod} -- true", namespace=view.request.namespace, pod=endpoint.who
            )
            found[address] = Hypothesis(
                f"node {node} is off, cut off or overloaded: no command reaches its Pods either",
                "pod",
                Confidence.SUPPORTED,
                evidence,
                disproof=Disproof(again, "a command that ends at once, with any exit code, disproves it"),
            )
    return found
