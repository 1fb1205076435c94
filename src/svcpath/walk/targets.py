"""Which Service is meant. One in the evidence and no target: that one; several: the error lists them."""

from __future__ import annotations

import msgspec

from svcpath.errors import UnknownTarget, UsageError
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.walk import ask
from svcpath.walk.ask import Asking


def settle(request: Request) -> Asking[Request]:
    """Fill in what the user left out of ``request``: the Service, its namespace, the client's namespace.

    Raises UsageError when several Services could be meant, UnknownTarget when the named one can be in no namespace.
    """
    if request.service and request.namespace:
        return _with_client((yield from _unplaced(request)))
    reply = yield from ask.one(Need(Kind.SERVICE, permission="list services"))
    services = sorted({(service.fact.namespace, service.fact.name) for service in reply.present})
    if not services:
        slices = yield from ask.one(Need(Kind.ENDPOINT_SLICE))
        services = sorted(
            {(slice_.fact.namespace, slice_.fact.service_name) for slice_ in slices.present if slice_.fact.service_name}
        )
    if request.namespace:
        services = [(namespace, name) for namespace, name in services if namespace == request.namespace]
    if request.service:
        return _with_client(_by_name(request, services))
    if len(services) > 1:
        listed = ", ".join(f"svc/{name} -n {namespace}" for namespace, name in services[:12])
        more = f" and {len(services) - 12} more" if len(services) > 12 else ""
        raise UsageError(f"several Services could be meant; name one of: {listed}{more}")
    if services:
        namespace, name = services[0]
        return _with_client(msgspec.structs.replace(request, namespace=namespace, service=name))
    return _with_client(request)


def _unplaced(request: Request) -> Asking[Request]:
    """Manifests without a namespace go where ``-n`` says: they are judged as of that namespace, where it holds no others."""
    here = yield from ask.service(request.namespace, request.service)
    if not here.unreadable:
        return request
    every = yield from ask.one(Need(Kind.SERVICE, permission="list services"))
    bare = [service for service in every.present if not service.fact.namespace and service.fact.name == request.service]
    placed = [service for service in every.present if service.fact.namespace]
    return msgspec.structs.replace(request, namespace="") if bare and not placed else request


def _by_name(request: Request, services: list[tuple[str, str]]) -> Request:
    here = [namespace for namespace, name in services if name == request.service]
    if len(here) > 1:
        raise UsageError(f"Service {request.service} exists in {', '.join(here)}: choose with -n")
    if here:
        return msgspec.structs.replace(request, namespace=here[0])
    if not services:
        return msgspec.structs.replace(request, namespace=request.namespace or "default")
    listed = ", ".join(f"{name} -n {namespace}" for namespace, name in services[:12])
    raise UnknownTarget(f"no Service {request.service} was read; there are: {listed}")


def _with_client(request: Request) -> Request:
    if request.client and "/" not in request.client:
        return msgspec.structs.replace(request, client=f"{request.namespace}/{request.client}")
    return request
