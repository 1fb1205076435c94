"""Active probes: connections that are made only where cheaper evidence does not decide.

They run after the ports layer, when no layer failed before or with ``thorough``. One connection goes to each usable
endpoint, and k to each cluster IP: with shares of 1/n, (1 - 1/n)^k is the chance that k new connections all miss one
backend, and k is the least that brings it to 2 % (at most MAX_REPEATS). A pinned client (ClientIP affinity) sees one
backend, however often it asks. One endpoint a node is also sent a few large requests, where the port speaks HTTP. Node ports
are tried on the client's node and on others that should answer. Evidence that was recorded is met by what it has.
"""

from __future__ import annotations

import math
from collections.abc import Generator

from svcpath.evidence.facts.kubernetes import Service, ServicePort
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.walk.ask import Asking, Batch, Replies, client_pod, in_client
from svcpath.walk.ask import nodes as nodes_of_cluster
from svcpath.walk.scene import Scene, host_port

#: Endpoints that are dialled, each once; more are sampled from the front.
MAX_ENDPOINTS = 20
MAX_REPEATS = 40
MAX_NODES = 50
PINNED_REPEATS = 3
_HTTP_PORTS = frozenset({80, 8000, 8080, 8888})
#: Large requests to an endpoint: one lost alone proves nothing.
LARGE = 3
#: Endpoints that large requests go to, each on another node, and nodes whose node ports are tried.
MAX_LARGE = 4
MAX_NODE_PORTS = 3
_DNS_PORT = 53
_PROTOCOLS = ("TCP", "UDP")
_TLS_PORTS = frozenset({443, 6443, 8443})


def ask(view: Scene) -> Asking[None]:
    """Have the connections made that this Service's ports call for."""
    request = view.request
    through = _through_service(view)
    direct = _direct(view)
    if (direct or through) and request.client:
        nodes_ports = yield from _node_ports(view)
        yield from _probe(request, (*direct, *through, *_large(view), *nodes_ports))
    elif (direct or through) and request.client_node and not request.each_node:
        yield (_from_node(request.client_node, (*direct, *through)),)
    if through and request.each_node:
        nodes = yield from nodes_of_cluster()
        yield tuple(_from_node(node.fact.name, through) for node in nodes.present[:MAX_NODES])


def _from_node(node: str, urls: tuple[str, ...]) -> Need:
    return Need(Kind.ATTEMPTS, node=node, cost=Cost.PROBE, permission="create pods/exec", about=urls)


def _probe(request: Request, urls: tuple[str, ...]) -> Generator[Batch, Replies, None]:
    yield (in_client(request, Kind.ATTEMPTS, cost=Cost.PROBE, about=urls),)


def scheme(port: ServicePort) -> str:
    """How to greet a port: http and https where its name, appProtocol or number says so, else a bare connection; a
    question where a UDP port says DNS, else an empty datagram."""
    if port.protocol == "UDP":
        return "udp+dns" if port.port == _DNS_PORT or (port.name or "").lower().startswith("dns") else "udp"
    hint = (port.app_protocol or port.name or "").lower()
    if hint.startswith(("https", "tls")):
        return "https"
    if hint == "http" or hint.startswith("http-"):
        return "http"
    if hint:
        return "tcp"
    return "https" if port.port in _TLS_PORTS else "http" if port.port in _HTTP_PORTS else "tcp"


def repeats(backends: int, *, pinned: bool) -> int:
    """How many new connections: the chance that all miss one of ``backends`` equal ones is then at most 2 %."""
    if pinned:
        return PINNED_REPEATS
    if backends < 2:
        return 2
    return min(MAX_REPEATS, math.ceil(math.log(0.02) / math.log(1 - 1 / backends)))


def miss(backends: int, tries: int) -> float:
    """The chance that ``tries`` new connections all miss one of ``backends`` equal ones."""
    return float((1 - 1 / backends) ** tries) if backends > 1 else 0.0


def pinned(service: Service) -> bool:
    return service.spec.session_affinity == "ClientIP"


def _direct(view: Scene) -> tuple[str, ...]:
    urls: dict[str, None] = {}
    for port in view.service_ports:
        if port.protocol not in _PROTOCOLS:
            continue
        for endpoint in view.usable_for(port)[:MAX_ENDPOINTS]:
            found = endpoint.port_for(port)
            if found is not None and found.port is not None:
                urls[f"{scheme(port)}://{host_port(endpoint.address, found.port)}"] = None
    return tuple(urls)


def _large(view: Scene) -> tuple[str, ...]:
    """Large requests to one endpoint a node, for the path between two nodes is what loses them."""
    found: dict[str, str] = {}
    for port in view.service_ports:
        if port.protocol == "TCP" and scheme(port) == "http":
            for endpoint in view.usable_for(port):
                place = endpoint.port_for(port)
                node = f"{endpoint.endpoint.node_name or endpoint.address} {endpoint.family}"
                if place is not None and place.port is not None and len(found) < MAX_LARGE:
                    found.setdefault(node, f"large://{host_port(endpoint.address, place.port)}")
    return tuple(url for url in found.values() for _ in range(LARGE))


def _node_ports(view: Scene) -> Asking[tuple[str, ...]]:
    """The Service's node ports on nodes that should answer there. With externalTrafficPolicy Local that is the client's own
    alone, if it has an endpoint: another node treats a Pod's packet as one from inside, may send it on to a third without
    masquerading it, and the answer then comes back untranslated (pkg/proxy/iptables/proxier.go, "pod traffic for ...
    external destinations")."""
    service = view.service
    if service is None or not any(port.node_port for port in view.service_ports):
        return ()
    client = yield from client_pod(view.request.client_namespace, view.request.client_name)
    home = client.fact.spec.node_name if client else ""
    listed = yield from nodes_of_cluster()
    families = {6 if ":" in address else 4 for address in service.cluster_ips}
    urls: list[str] = []
    for port in view.service_ports:
        having = {endpoint.endpoint.node_name for endpoint in view.usable_for(port)}
        local = service.spec.external_traffic_policy == "Local"
        nodes = [node.fact for node in listed.present if not local or node.fact.name == home in having]
        nodes.sort(key=lambda item: (item.name != home, item.name not in having, item.name))
        if not port.node_port or port.protocol not in _PROTOCOLS or not having:
            continue
        for node in nodes[:MAX_NODE_PORTS]:
            addresses = [address.address for address in node.status.addresses or () if address.type == "InternalIP"]
            urls += [
                f"{scheme(port)}://{host_port(address, port.node_port)}"
                for address in addresses
                if (6 if ":" in address else 4) in families
            ]
    return tuple(urls)


def _through_service(view: Scene) -> tuple[str, ...]:
    service = view.service
    if service is None or service.is_headless or service.is_external_name:
        return ()
    urls: list[str] = []
    for port in view.service_ports:
        if port.protocol not in _PROTOCOLS:
            continue
        for address in service.cluster_ips:
            family = 6 if ":" in address else 4
            backends = sum(1 for endpoint in view.usable_for(port) if endpoint.family == family)
            if backends:
                urls += [f"{scheme(port)}://{host_port(address, port.port)}"] * repeats(
                    backends, pinned=pinned(service)
                )
    return tuple(urls)
