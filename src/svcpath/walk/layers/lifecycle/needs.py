"""What this layer asks first: begun by a Source that can, before the layer runs."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request


def first(request: Request) -> tuple[Need, ...]:
    return (workloads(request), Need(Kind.EVENT, namespace=request.namespace, permission="list events"))


def workloads(request: Request) -> Need:
    return Need(Kind.WORKLOAD, namespace=request.namespace, permission="list deployments.apps")
