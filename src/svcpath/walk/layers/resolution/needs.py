"""What this layer asks first: begun by a Source that can, before the layer runs."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.walk.names import needs
from svcpath.walk.scene import Scene


def first(request: Request) -> tuple[Need, ...]:
    """What answers the client, and the log of the cluster DNS."""
    return (*needs.answering(request.namespaces), Need(Kind.LOG))


def then(scene: Scene) -> tuple[Need, ...]:
    """The client's files, and its own lookup of the name."""
    if not scene.request.client:
        return ()
    named = scene.service is not None or scene.request.lookup
    looks = needs.in_container(scene.request)
    return (*looks, needs.lookups(scene.request, (needs.written(scene.request),))) if named else looks
