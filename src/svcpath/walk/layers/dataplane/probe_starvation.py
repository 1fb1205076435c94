"""Pods that are not ready because their own node drops the kubelet's probes: a full connection tracking table.

The kubelet probes a Pod over a new connection from its node (pkg/kubelet/prober), which that table has to take as any other.
"""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.readiness import UnreadyCause, not_ready


def node_of_silent_probes(view: Scene) -> Asking[str]:
    """The node on which every Pod of the Service runs that is not ready, where none of their probes gets an answer; empty
    otherwise. Its full table explains that they are not ready."""
    unready = [pod.fact for pod in view.selected if pod.fact.ready is False and not pod.fact.deleting]
    homes = {pod.spec.node_name for pod in unready}
    if len(homes) != 1:
        return ""
    events = yield from ask.one(Need(Kind.EVENT, namespace=view.request.namespace, permission="list events"))
    silent = all(not_ready(pod, events.present).cause is UnreadyCause.PROBE_TIMEOUT for pod in unready)
    return (homes.pop() or "") if silent else ""
