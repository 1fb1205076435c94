"""What a walk is going to ask, as far as it is known before it asks: from what each layer declares, for Sources that begin early.

Light to import: the layers themselves are loaded while a cluster already answers.
"""

from __future__ import annotations

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.request import Request
from svcpath.walk.layers.dataplane import needs as dataplane
from svcpath.walk.layers.endpoints import needs as endpoints
from svcpath.walk.layers.lifecycle import needs as lifecycle
from svcpath.walk.layers.pod import needs as pod
from svcpath.walk.layers.ports import needs as ports
from svcpath.walk.layers.resolution import needs as resolution
from svcpath.walk.scene import Scene


def first(request: Request) -> tuple[Need, ...]:
    """Known from the request alone. What is read for many namespaces comes before what can be taken out of it."""
    if not request.service:
        return ()
    wide = tuple(need for layer in (resolution, dataplane, lifecycle) for need in layer.first(request))
    return (*wide, *request.first_needs())


def then(scene: Scene) -> tuple[Need, ...]:
    """Known once the Service, its slices and its Pods are."""
    return tuple(need for layer in (resolution, dataplane, ports, pod, endpoints) for need in layer.then(scene))
