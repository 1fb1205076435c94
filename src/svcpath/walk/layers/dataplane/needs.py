"""What this layer asks first: begun by a Source that can, before the layer runs."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.walk.nodes import needs
from svcpath.walk.scene import Scene


def first(request: Request) -> tuple[Need, ...]:
    return (Need(Kind.NODE, permission="list nodes"), Need(Kind.KUBE_PROXY_CONFIG))


def then(scene: Scene) -> tuple[Need, ...]:
    """The client's node: its tables, its flows of this Service, its kube-proxy's log."""
    node = needs.client_node(scene)
    return (*needs.tables(node), needs.flows(scene, node), *needs.proxy(node)) if node else ()
