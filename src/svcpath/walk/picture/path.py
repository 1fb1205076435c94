"""The path of one connection as it is drawn: client, resolver, cluster DNS, Service, slices, data planes, Pods.

Layers are questions, hops are things: each hop has the real names, addresses and ports of what the packet passes, and
names the layers that judge it. What was not read is left out or said so; nothing here judges.
"""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.kubernetes import Service, ServicePort
from svcpath.evidence.facts.request import Request
from svcpath.findings.finding import LayerName
from svcpath.models.resolvers.registry import nameservers
from svcpath.percent import percent
from svcpath.plural import count
from svcpath.walk.ask import Asking
from svcpath.walk.names import client as clients
from svcpath.walk.names import cluster_dns
from svcpath.walk.names.client import Client
from svcpath.walk.names.cluster_dns import ClusterDns
from svcpath.walk.picture.backends import Backends, backends
from svcpath.walk.scene import Scene, host_port

#: Items of one hop that are shown one by one.
LIMIT = 6


class Hop(msgspec.Struct, frozen=True):
    """``kind``: client, resolver, cluster-dns, service, slices, dataplane or pods."""

    kind: str
    name: str
    facts: tuple[str, ...]
    layers: tuple[LayerName, ...]


class RequestPath(msgspec.Struct, frozen=True):
    hops: tuple[Hop, ...]
    backends: Backends


def path(view: Scene) -> Asking[RequestPath]:
    request = view.request
    client = yield from clients.gather(request, view)
    servers = nameservers(client.conf) if client.conf is not None else ()
    dns = yield from cluster_dns.gather(servers, request.namespaces)
    shown = yield from backends(view)
    hops = [_client(request, client), _resolver(client), _dns(dns, servers)]
    if request.service:
        hops += [_service(request, view), _slices(view), _planes(shown), _pods(view, shown)]
    return RequestPath(tuple(hops), shown)


def _client(request: Request, client: Client) -> Hop:
    pod = client.pod.fact if client.pod else None
    if pod is not None:
        facts = [", ".join(pod.ips)] if pod.ips else []
        facts += [f"on {pod.spec.node_name}"] if pod.spec.node_name else []
        facts += ["host network"] if pod.spec.host_network else []
        return Hop("client", f"pod/{pod.name}", (*facts, *_container(request)), ())
    if request.client_node:
        return Hop("client", f"node/{request.client_node}", (), ())
    if request.client:
        return Hop("client", f"pod/{request.client_name}", ("not read", *_container(request)), ())
    return Hop("client", "any client", (), ())


def _container(request: Request) -> tuple[str, ...]:
    return (f"container {request.container}",) if request.container else ()


def _resolver(client: Client) -> Hop:
    facts = [f"asks for {name}" for name in client.names[:1]]
    if client.conf is None:
        facts.append("resolv.conf not read")
    else:
        words = [line.split() for line in client.conf.splitlines()]
        for line in words:
            if line and line[0] == "options":
                facts.append(" ".join(line[: LIMIT + 1]))
            elif line and line[0] == "search":
                facts += [f"search {domain}" for domain in line[1:2]] + line[2:LIMIT]
    return Hop("resolver", ", ".join(client.resolvers) or "any resolver", tuple(facts), ("resolution",))


def _dns(dns: ClusterDns, servers: tuple[str, ...]) -> Hop:
    endpoints = [endpoint for slice_ in dns.slices for endpoint in slice_.fact.endpoints or ()]
    ready = sum(1 for endpoint in endpoints if endpoint.ready)
    facts = [", ".join(servers[:LIMIT])] if servers else []
    if endpoints:
        facts.append(f"{ready} of {len(endpoints)} ready")
    name = f"{dns.service.fact.name}.{dns.service.fact.namespace}" if dns.service else ""
    return Hop("cluster-dns", name or "not read", tuple(facts), ("resolution",))


def _service(request: Request, view: Scene) -> Hop:
    service = view.service
    if service is None:
        why = "does not exist" if view.service_reply.absent else "not read"
        return Hop("service", request.service, (why,), ("service",))
    facts = [_kind(service)]
    facts += [", ".join(service.cluster_ips)] if service.cluster_ips else []
    ports = view.service_ports
    facts += [_port(port) for port in ports[:LIMIT]]
    facts += [f"and {len(ports) - LIMIT} more ports"] if len(ports) > LIMIT else []
    return Hop("service", f"{service.name}.{service.namespace}", tuple(facts), ("service",))


def _kind(service: Service) -> str:
    if service.is_external_name:
        return f"ExternalName {service.spec.external_name or ''}".rstrip()
    return "headless" if service.is_headless else (service.spec.type or "ClusterIP")


def _port(port: ServicePort) -> str:
    target = port.target_port if port.target_port not in (None, 0, "") else port.port
    return f"{port.port}/{port.protocol} → {target}"


def _slices(view: Scene) -> Hop:
    if not view.slices:
        absent = "no slice" if view.slices_reply.absent or view.slices_reply.complete else "not read"
        return Hop("slices", absent, (), ("endpoints",))
    distinct = view.distinct
    ready = len(view.ready)
    draining = sum(1 for endpoint in distinct if endpoint.endpoint.serving and endpoint.endpoint.terminating)
    facts = [f"{ready} of {len(distinct)} ready"]
    facts += [f"{draining} serving and terminating"] if draining else []
    ports = dict.fromkeys(
        f"{port.port}/{port.protocol or 'TCP'}"
        for slice_ in view.slices
        for port in slice_.fact.ports or ()
        if port.port is not None
    )
    facts += [", ".join(list(ports)[:LIMIT])] if ports else ["no port number"]
    name = view.slices[0].fact.name if len(view.slices) == 1 else f"{len(view.slices)} slices"
    return Hop("slices", name, tuple(facts), ("endpoints",))


def _planes(backends: Backends) -> Hop:
    if not backends.nodes:
        return Hop("dataplane", "no table was read", (), ("dataplane",))
    facts = []
    for node in backends.nodes[:LIMIT]:
        text = "; ".join(f"{front} {outcome}" for front, outcome in node.outcomes[:2])
        addresses = {
            entry.address for row in backends.rows for entry in row.tables if entry.node == node.node and entry.share
        }
        if node.outcomes and all(outcome == "backends" for _, outcome in node.outcomes):
            text = f"to {count(len(addresses), 'backend')}"
        facts.append(f"{node.node} ({node.mode}) {text}".rstrip())
    more = len(backends.nodes) - LIMIT
    facts += [f"and {more} more"] if more > 0 else []
    name = backends.nodes[0].node if len(backends.nodes) == 1 else f"{len(backends.nodes)} nodes"
    return Hop("dataplane", name, tuple(facts), ("dataplane",))


def _pods(view: Scene, backends: Backends) -> Hop:
    rows = [row for row in backends.rows if row.slice or row.pod]
    if not rows:
        return Hop("pods", "none", (), ("ports", "pod"))
    facts = []
    for row in rows[:LIMIT]:
        ports = [chain.slice_port for chain in row.ports if chain.slice_port is not None]
        place = host_port(row.address, ports[0]) if ports and row.address else row.address
        shares = [entry.share for entry in row.tables if entry.share is not None]
        share = f" {percent(shares[0])}" if shares else ""
        facts.append(f"{place}{share}".strip() or row.pod)
    more = len(rows) - LIMIT
    facts += [f"and {more} more"] if more > 0 else []
    name = rows[0].pod or rows[0].address if len(rows) == 1 else f"{len(rows)} Pods"
    return Hop("pods", name, tuple(facts), ("ports", "pod"))
