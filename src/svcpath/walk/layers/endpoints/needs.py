"""What this layer asks first: begun by a Source that can, before the layer runs."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.walk.scene import Scene


def then(scene: Scene) -> tuple[Need, ...]:
    """Endpoints are read where there are slices, or where there could be some."""
    service = scene.service
    if service is not None and service.is_external_name:
        return ()
    possible = service is not None and scene.slices_reply.absent
    return (endpoints(scene.request),) if scene.slices or possible else ()


def endpoints(request: Request) -> Need:
    """The Endpoints beside the slices: only to see whether they are mirrored."""
    return Need(Kind.ENDPOINTS, namespace=request.namespace, name=request.service, permission="get endpoints")
