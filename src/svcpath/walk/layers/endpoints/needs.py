"""What this layer asks first: begun by a Source that can, before the layer runs."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request


def first(request: Request) -> tuple[Need, ...]:
    return (endpoints(request),)


def endpoints(request: Request) -> Need:
    """The Endpoints beside the slices: only to see whether they are mirrored."""
    return Need(Kind.ENDPOINTS, namespace=request.namespace, name=request.service, permission="get endpoints")
