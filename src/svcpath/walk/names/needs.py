"""What is asked about a client's lookup: in its container, and of what answers it."""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.walk import ask

#: What a resolver reads, and which one it is.
CLIENT_KINDS = (Kind.RESOLV_CONF, Kind.HOSTS, Kind.NSSWITCH_CONF, Kind.ENVIRONMENT, Kind.RUNTIME)


def answering(enough: tuple[str, ...]) -> tuple[Need, ...]:
    """Recorded answers, then the Corefile and the objects that CoreDNS watches; ``enough`` are the namespaces that suffice."""
    return (
        Need(Kind.DNS_ANSWERS),
        Need(Kind.COREFILE),
        Need(Kind.SERVICE, about=enough),
        Need(Kind.ENDPOINT_SLICE, about=enough),
        Need(Kind.POD, about=enough),
        Need(Kind.NAMESPACE),
    )


def in_container(request: Request) -> tuple[Need, ...]:
    return tuple(ask.in_client(request, kind) for kind in CLIENT_KINDS)


def lookups(request: Request, names: tuple[str, ...]) -> Need:
    """What the client's own resolver makes of ``names``."""
    return ask.in_client(request, Kind.LOOKUPS, about=names)


def written(request: Request) -> str:
    """The Service's name as its client writes it by default: short inside the namespace, with the namespace elsewhere."""
    if request.lookup:
        return request.lookup
    inside = not request.client or request.client_namespace == request.namespace
    return request.service if inside else f"{request.service}.{request.namespace}"
