"""What this layer asks first: begun by a Source that can, before the layer runs."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.walk.scene import Scene


def then(scene: Scene) -> tuple[Need, ...]:
    """Policies are read where there is a backend that they could keep the client from."""
    return (policies(scene.request),) if scene.usable else ()


def policies(request: Request) -> Need:
    return Need(Kind.NETWORK_POLICY, namespace=request.namespace, permission="list networkpolicies.networking.k8s.io")
