"""The objects on one path, put side by side: the Service, its slices, the Pods its selector picks, each endpoint.

Layers share this view so that "the Pod behind an endpoint" or "a usable endpoint" means one thing. Rules: endpoints are
usable when ready, else, if none is ready, when serving and terminating (kube-proxy pkg/proxy/topology.go since 1.26);
a slice port belongs to a Service port by name and protocol, never by number (pkg/proxy/endpointslicecache.go); an
address listed twice under different targetRefs counts once and the ready one wins.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from svcpath.evidence.facts.addresses import canonical as canonical
from svcpath.evidence.facts.addresses import family_of as family_of
from svcpath.evidence.facts.kubernetes import Endpoint, EndpointPort, EndpointSlice, Pod, Service, ServicePort
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.observations import Observations
from svcpath.evidence.facts.request import Request
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Replies, Reply


def connected(attempts: Reply) -> frozenset[str]:
    """The addresses to which a connection of the evidence worked."""
    return frozenset(
        canonical(attempt.address or attempt.host)
        for recorded in attempts.present
        for attempt in recorded.fact.attempts
        if attempt.outcome == "ok"
    )


def host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


class EndpointView(msgspec.Struct, frozen=True):
    """One address of one endpoint, with its slice and, where the evidence has it, its Pod."""

    address: str
    endpoint: Endpoint
    slice: EndpointSlice
    observation: Observation[EndpointSlice]
    pod: Observation[Pod] | None

    @property
    def who(self) -> str:
        """The Pod's name, or the address where no Pod is known."""
        reference = self.endpoint.target_ref
        return reference.name if reference and reference.name else self.address

    @property
    def family(self) -> int:
        return family_of(self.address)

    def port_for(self, service_port: ServicePort) -> EndpointPort | None:
        """The slice port that kube-proxy joins with this Service port; None when there is none or it has no number."""
        for port in self.slice.ports or ():
            if (port.name or "") == service_port.name and (port.protocol or "TCP") == service_port.protocol:
                return port if port.port is not None else None
        return None


class Scene(msgspec.Struct, frozen=True, dict=True):
    """``client`` is the Pod that connects, where one is named and in the evidence. ``pods`` are all Pods of the namespace that
    the evidence has; ``selected`` those that the selector picks and that
    have not finished."""

    request: Request
    client: Observation[Pod] | None
    service_reply: Reply
    slices_reply: Reply
    pods_reply: Reply
    service: Service | None
    slices: tuple[Observation[EndpointSlice], ...]
    endpoints: tuple[EndpointView, ...]
    pods: Observations
    selected: tuple[Observation[Pod], ...]

    @property
    def service_observation(self) -> Observation[Any] | None:
        return self.service_reply.present[0] if self.service_reply.present else None

    @property
    def pods_sampled(self) -> bool:
        """Whether the Pods in the evidence were read one by one (each with the API server's resourceVersion, none in a
        list): then there may be others. Manifests without it are taken for all there are, as a reduced report gives them."""
        return not self.pods_reply.complete and any(pod.fact.metadata.resource_version for pod in self.pods)

    @cached_property
    def distinct(self) -> tuple[EndpointView, ...]:
        """Each address once: of duplicates the ready one, then the serving one, then the first."""
        best: dict[tuple[str, tuple[tuple[str, int | None], ...]], EndpointView] = {}
        for view in self.endpoints:
            numbers = tuple((port.name or "", port.port) for port in view.slice.ports or ())
            key = (view.address, numbers)
            if key not in best or _rank(view) < _rank(best[key]):
                best[key] = view
        return tuple(best.values())

    @cached_property
    def ready(self) -> tuple[EndpointView, ...]:
        return tuple(view for view in self.distinct if view.endpoint.ready)

    @cached_property
    def usable(self) -> tuple[EndpointView, ...]:
        """Where new connections go: ready endpoints, else serving and terminating ones. Slices without a port number
        for any Service port carry no traffic but their endpoints are kept: the ports layer says so."""
        if self.ready:
            return self.ready
        return tuple(view for view in self.distinct if view.endpoint.serving and view.endpoint.terminating)

    def usable_for(self, port: ServicePort) -> tuple[EndpointView, ...]:
        """Where new connections to one Service port go: readiness counts among the endpoints that carry the port."""
        carrying = tuple(view for view in self.distinct if view.port_for(port) is not None)
        ready = tuple(view for view in carrying if view.endpoint.ready)
        return ready or tuple(view for view in carrying if view.endpoint.serving and view.endpoint.terminating)

    @property
    def service_ports(self) -> tuple[ServicePort, ...]:
        """The Service's ports that were asked for: all, or the one given by number or name."""
        if self.service is None:
            return ()
        if not self.request.port:
            return self.service.ports
        return tuple(port for port in self.service.ports if self.request.port in (str(port.port), port.name))

    @property
    def carried_ports(self) -> tuple[ServicePort, ...]:
        """``service_ports``, or, where the Service is not in the evidence, the ports that its slices carry: a name means
        the same in both, a number of the Service's own does not tell which of them it is."""
        if self.service is not None:
            return self.service_ports
        found = {
            (port.name or "", port.protocol or "TCP", port.port)
            for slice_ in self.slices
            for port in slice_.fact.ports or ()
            if port.port is not None and self.request.port in ("", port.name)
        }
        return tuple(ServicePort(name=name, protocol=protocol, port=number) for name, protocol, number in sorted(found))

    def asked_ports(self, endpoint: EndpointView) -> tuple[tuple[int | None, str], ...]:
        """An endpoint's ports and protocols in the slice's order: all, or, where one port of the Service was asked for,
        those that carry it. Without the Service a name means the same in its slices, and a number may be any of them."""
        ports = list(endpoint.slice.ports or ())
        if self.request.port and self.service is None:
            ports = [port for port in ports if port.name == self.request.port]
        elif self.request.port and self.service_ports:
            ports = [found for port in self.service_ports if (found := endpoint.port_for(port)) is not None]
        return tuple((port.port, port.protocol or "TCP") for port in ports)

    @property
    def named(self) -> str:
        return self.request.service


def _rank(view: EndpointView) -> tuple[bool, bool, bool]:
    return (not view.endpoint.ready, not view.endpoint.serving, view.endpoint.terminating)


def scene(request: Request) -> Asking[Scene]:
    """Gather the objects on the path of ``request``; every part may be missing."""
    return put_together(request, (yield request.first_needs()))


def put_together(request: Request, replies: Replies) -> Scene:
    """``replies`` are those to ``request.first_needs()``."""
    *client, service_reply, slices_reply, pods_reply = replies
    service = ask.cluster_service(service_reply)
    pods = pods_reply.present
    views: list[EndpointView] = []
    for slice_ in slices_reply.present:
        for endpoint in slice_.fact.endpoints or ():
            reference = endpoint.target_ref
            for raw in endpoint.addresses:
                address = canonical(raw)
                named = reference and reference.kind in ("", "Pod") and reference.name
                found = pods.named(named) if named else pods.at(address)
                views.append(EndpointView(address, endpoint, slice_.fact, slice_, found[-1] if found else None))
    return Scene(
        request=request,
        client=client[0].present[0] if client and client[0].present else None,
        service_reply=service_reply,
        slices_reply=slices_reply,
        pods_reply=pods_reply,
        service=service,
        slices=slices_reply.present,
        endpoints=tuple(views),
        pods=pods,
        selected=_selected(pods, service),
    )


def _selected(pods: Observations, service: Service | None) -> tuple[Observation[Pod], ...]:
    selector = service.spec.selector if service is not None else None
    return tuple(pod for pod in pods.labelled(selector) if not pod.fact.finished) if selector else ()
