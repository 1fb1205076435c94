"""Expected backends: what a correct node must have for a Service.

The rules are kube-proxy's: pkg/proxy/topology.go (CategorizeEndpoints, topologyModeFromHints), serviceport.go
(ServicePortMap, ShouldSkipService), endpointslicecache.go, and which frontend gets what in pkg/proxy/iptables and
pkg/proxy/nftables, Kubernetes 1.22 to 1.35; KEP-1669 (terminating endpoints), KEP-2433 (hints), KEP-3015 and KEP-4444
(trafficDistribution), KEP-1860 (ipMode).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from svcpath.evidence.facts.addresses import text_form
from svcpath.evidence.facts.kubernetes import EndpointSlice, LoadBalancerIngress, Node, Service, ServicePort
from svcpath.models.dataplanes.names import service_port_name
from svcpath.models.dataplanes.ruleset import address_value, prefix_value
from svcpath.models.dataplanes.table import ANY_IPV4, ANY_IPV6, Backend, Frontend, PacketVerdict, TrafficOrigin

_PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name"
_HEADLESS_LABEL = "service.kubernetes.io/headless"
_ZONE_LABEL = "topology.kubernetes.io/zone"
_OLD_ZONE_LABEL = "failure-domain.beta.kubernetes.io/zone"
_HINT_ANNOTATIONS = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")
_DEFAULT_AFFINITY = 10800
#: Of Cilium's cluster mesh, in both spellings (Documentation/network/clustermesh/services.rst).
_GLOBAL_ANNOTATIONS = ("service.cilium.io/global", "io.cilium/global-service")
_AFFINITY_ANNOTATIONS = ("service.cilium.io/affinity", "io.cilium/service-affinity")


class NodeView(msgspec.Struct, frozen=True, kw_only=True):
    """What kube-proxy knows of its node. ``release`` is kube-proxy's (1, 35), None if not known: then the newest rules
    hold. ``addresses`` are the node's own."""

    name: str
    zone: str = ""
    addresses: frozenset[str] = frozenset()
    release: tuple[int, int] | None = None


class ProxyEndpoint(msgspec.Struct, frozen=True, gc=False):
    """An endpoint of one Service port, as kube-proxy keeps it: address and port are its identity."""

    backend: Backend
    ready: bool
    serving: bool
    terminating: bool
    local: bool
    zones: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    slice: str = ""
    node: str = ""
    pod: str = ""


class Categories(NamedTuple):
    """``cluster`` for traffic under policy Cluster, ``local`` under Local; ``any``: some endpoint anywhere is
    usable."""

    cluster: tuple[ProxyEndpoint, ...]
    local: tuple[ProxyEndpoint, ...]
    any: bool


class Expected(NamedTuple):
    """What one packet must meet; ``masquerade`` None where it may be either."""

    verdict: PacketVerdict
    backends: tuple[Backend, ...] = ()
    masquerade: bool | None = None


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """One frontend that a correct node must hold.

    ``kind``: cluster-ip, node-port, external-ip, load-balancer, health-check. ``local_only``: the traffic policy that
    governs this frontend is Local, ``internal_local``: that of the cluster IP is. ``source_ranges`` admit a source
    ("" none: all). ``named_port`` is the targetPort where it is a name. ``endpoints`` are all of the Service port,
    usable or not. ``global_service``: Cilium adds the backends of other clusters, and ``remote_preferred`` takes those
    alone while there are any.
    """

    frontend: Frontend
    service: str
    kind: str
    local_only: bool
    internal_local: bool = False
    cluster: tuple[Backend, ...]
    local: tuple[Backend, ...]
    any: bool
    affinity: int | None = None
    source_ranges: tuple[str, ...] = ()
    named_port: str = ""
    endpoints: tuple[ProxyEndpoint, ...] = ()
    global_service: bool = False
    remote_preferred: bool = False

    @property
    def external(self) -> bool:
        return self.kind in ("node-port", "external-ip", "load-balancer")

    @property
    def chosen(self) -> tuple[Backend, ...]:
        """What the policy of this frontend lets a new connection go to."""
        return self.local if self.local_only else self.cluster

    def admits(self, source: str) -> bool:
        """Do loadBalancerSourceRanges let this source in?"""
        return not self.source_ranges or _admitted(source, self.source_ranges)

    def for_packet(self, origin: TrafficOrigin, source: str, *, pods_told: bool = True) -> Expected:
        """What a new connection must meet. ``pods_told``: kube-proxy can tell Pod traffic (a local detector)."""
        if self.kind == "health-check":
            return Expected(PacketVerdict.ACCEPT)
        if not self.any:
            return Expected(PacketVerdict.REJECT)
        if not self.admits(source):
            return Expected(PacketVerdict.DROP)
        if not self.external:
            backends = self.local if self.local_only else self.cluster
            masquerade: bool | None = (origin is not TrafficOrigin.POD) if pods_told else None
        elif not self.local_only or origin is TrafficOrigin.NODE:
            backends, masquerade = self.cluster, True
        elif origin is TrafficOrigin.POD and pods_told:
            backends, masquerade = self.cluster, False
        else:
            backends, masquerade = self.local, False
        return Expected(PacketVerdict.BACKENDS, backends, masquerade) if backends else Expected(PacketVerdict.DROP)


def node_view(node: Node, release: tuple[int, int] | None = None) -> NodeView:
    """Of a Node object; ``release`` is kube-proxy's where something tells it (the Node names the kubelet's own)."""
    status = node.status
    addresses = frozenset(
        text_form(item.address)
        for item in (status.addresses or () if status is not None else ())
        if address_value(item.address) is not None
    )
    return NodeView(
        name=node.name,
        zone=node.labels.get(_ZONE_LABEL, node.labels.get(_OLD_ZONE_LABEL, "")),
        addresses=addresses,
        release=release,
    )


def is_programmed(service: Service) -> bool:
    """Does kube-proxy handle this Service at all?"""
    return (
        not service.is_external_name
        and not service.is_headless
        and bool(service.cluster_ips)
        and _PROXY_NAME_LABEL not in service.labels
        and _HEADLESS_LABEL not in service.labels
    )


def is_consumed(item: EndpointSlice) -> bool:
    """Does kube-proxy watch this slice?"""
    return _HEADLESS_LABEL not in item.labels and _PROXY_NAME_LABEL not in item.labels


def endpoints_of(
    port: ServicePort, slices: Iterable[EndpointSlice], node: str, ipv6: bool
) -> tuple[ProxyEndpoint, ...]:
    """The endpoints of one Service port and family: joined by port name and protocol, one per address and port.

    Where slices name an address twice (a Pod's successor took its address) the ready one counts, then the serving one.
    """
    wanted = (port.name or "", port.protocol or "TCP")
    family = "IPv6" if ipv6 else "IPv4"
    endpoints: dict[Backend, ProxyEndpoint] = {}
    for item in slices:
        if item.address_type != family:
            continue
        for slice_port in item.ports or ():
            if slice_port.port is None or (slice_port.name or "", slice_port.protocol or "TCP") != wanted:
                continue
            number = slice_port.port
            for endpoint in item.endpoints or ():
                if not endpoint.addresses:
                    continue
                backend = Backend(text_form(endpoint.addresses[0]), number)
                hints = endpoint.hints
                view = ProxyEndpoint(
                    backend,
                    endpoint.ready,
                    endpoint.serving,
                    endpoint.terminating,
                    endpoint.node_name == node and bool(node),
                    tuple(zone.name for zone in hints.for_zones or ()) if hints is not None else (),
                    tuple(name.name for name in hints.for_nodes or ()) if hints is not None else (),
                    item.metadata.name,
                    endpoint.node_name or "",
                    endpoint.target_ref.name if endpoint.target_ref is not None else "",
                )
                before = endpoints.get(backend)
                if before is None or _rank(view) > _rank(before):
                    endpoints[backend] = view
    return tuple(endpoints.values())


def _rank(view: ProxyEndpoint) -> tuple[bool, bool, bool]:
    return view.ready, view.serving, view.local


def categorize(endpoints: Sequence[ProxyEndpoint], service: Service, node: NodeView) -> Categories:
    """CategorizeEndpoints of kube-proxy, for one Service port on one node."""
    terminating_count = node.release is None or node.release >= (1, 26)
    internal_local = service.spec.internal_traffic_policy == "Local"
    external = externally_accessible(service)
    external_local = external and service.spec.external_traffic_policy == "Local"
    ready = tuple(view for view in endpoints if view.ready)
    fallback = tuple(v for v in endpoints if v.serving and v.terminating) if terminating_count else ()
    cluster: tuple[ProxyEndpoint, ...] = ()
    if not internal_local or external:
        cluster = _by_topology(ready, service, node) or fallback
    local: tuple[ProxyEndpoint, ...] = ()
    if internal_local or external_local:
        local = tuple(view for view in ready if view.local) or tuple(view for view in fallback if view.local)
    return Categories(cluster, local, bool(ready or fallback))


def externally_accessible(service: Service) -> bool:
    return service.spec.type in ("NodePort", "LoadBalancer") or bool(service.spec.external_ips)


def _by_topology(ready: tuple[ProxyEndpoint, ...], service: Service, node: NodeView) -> tuple[ProxyEndpoint, ...]:
    """Hints count only if every ready endpoint has one and one of them is for here."""
    if not ready or not (any(view.zones or view.nodes for view in ready)):
        return ready
    release = node.release
    if release is not None and release < (1, 31) and not _hints_wanted(service, release):
        return ready
    if (release is None or release >= (1, 34)) and all(view.nodes for view in ready):
        here = tuple(view for view in ready if node.name in view.nodes)
        if here:
            return here
    if node.zone and all(view.zones for view in ready):
        here = tuple(view for view in ready if node.zone in view.zones)
        if here:
            return here
    return ready


def _hints_wanted(service: Service, release: tuple[int, int]) -> bool:
    """Before 1.31 kube-proxy asked the Service, not only the endpoints."""
    if release < (1, 23):
        return False
    if any(service.annotations.get(name, "") in ("Auto", "auto") for name in _HINT_ANNOTATIONS):
        return True
    return release >= (1, 30) and bool(service.spec.traffic_distribution)


def expected(service: Service, slices: Sequence[EndpointSlice], node: NodeView) -> tuple[Expectation, ...]:
    """Every frontend of a Service on a node; empty for a Service that kube-proxy does not handle.

    ``slices`` are those of this Service (label kubernetes.io/service-name), in any order.
    """
    if not is_programmed(service):
        return ()
    spec = service.spec
    consumed = [item for item in slices if is_consumed(item)]
    affinity = None
    if spec.session_affinity == "ClientIP":
        config = spec.session_affinity_config
        timeout = config.client_ip.timeout_seconds if config is not None and config.client_ip is not None else None
        affinity = timeout if timeout is not None else _DEFAULT_AFFINITY
    internal_local = spec.internal_traffic_policy == "Local"
    external_local = externally_accessible(service) and spec.external_traffic_policy == "Local"
    everywhere = any(service.annotations.get(name, "").lower() == "true" for name in _GLOBAL_ANNOTATIONS)
    remote = everywhere and any(service.annotations.get(name) == "remote" for name in _AFFINITY_ANNOTATIONS)
    expectations: list[Expectation] = []
    for ipv6 in (False, True):
        cluster_ips = _of_family(service.cluster_ips, ipv6)
        if not cluster_ips:
            continue
        load_balancer_ips = _load_balancer_ips(service, ipv6)
        external_ips = _of_family(spec.external_ips or (), ipv6)
        ranges = _ranges(spec.load_balancer_source_ranges, ipv6)
        for port in service.ports:
            endpoints = endpoints_of(port, consumed, node.name, ipv6)
            categories = categorize(endpoints, service, node)
            protocol = (port.protocol or "TCP").upper()
            places: list[tuple[str, int, str, bool, tuple[str, ...]]] = [
                (address, port.port, "cluster-ip", internal_local, ()) for address in cluster_ips[:1]
            ]
            places += [(address, port.port, "external-ip", external_local, ()) for address in external_ips]
            places += [(address, port.port, "load-balancer", external_local, ranges) for address in load_balancer_ips]
            if port.node_port and spec.type in ("NodePort", "LoadBalancer"):
                wildcard = ANY_IPV6 if ipv6 else ANY_IPV4
                places.append((wildcard, port.node_port, "node-port", external_local, ()))
            cluster = tuple(view.backend for view in categories.cluster)
            local = tuple(view.backend for view in categories.local)
            name = service_port_name(service.namespace, service.name, port.name or "")
            for address, number, kind, local_only, source_ranges in places:
                expectations.append(
                    Expectation(
                        frontend=Frontend(address, protocol, number),
                        service=name,
                        kind=kind,
                        local_only=local_only,
                        internal_local=internal_local,
                        cluster=cluster,
                        local=local,
                        any=categories.any,
                        affinity=affinity,
                        source_ranges=source_ranges,
                        named_port=port.target_port if isinstance(port.target_port, str) else "",
                        endpoints=endpoints,
                        global_service=everywhere,
                        remote_preferred=remote,
                    )
                )
    return tuple(expectations)


def health_check(service: Service, slices: Sequence[EndpointSlice], node: NodeView) -> tuple[int, int] | None:
    """(healthCheckNodePort, local ready endpoints), which the node must report: 200 if there is one, else 503.

    A local endpoint that is terminating does not count, though new connections may still be sent to it.
    """
    number = service.spec.health_check_node_port
    if not number or service.spec.external_traffic_policy != "Local" or not is_programmed(service):
        return None
    ready: set[Backend | str] = set()
    for port in service.ports:
        for ipv6 in (False, True):
            for view in endpoints_of(port, [item for item in slices if is_consumed(item)], node.name, ipv6):
                if view.local and view.ready:
                    ready.add(view.pod or view.backend.address)
    return number, len(ready)


def _of_family(addresses: Iterable[str], ipv6: bool) -> tuple[str, ...]:
    return tuple(text_form(address) for address in addresses if (":" in address) == ipv6)


def _load_balancer_ips(service: Service, ipv6: bool) -> tuple[str, ...]:
    """Addresses that kube-proxy intercepts; with ipMode Proxy the load balancer is left to deliver itself."""
    if service.spec.type != "LoadBalancer" or service.status is None or service.status.load_balancer is None:
        return ()
    ingress: tuple[LoadBalancerIngress, ...] = service.status.load_balancer.ingress or ()
    return _of_family((item.ip for item in ingress if item.ip and item.ip_mode in (None, "", "VIP")), ipv6)


def _ranges(ranges: Iterable[str] | None, ipv6: bool) -> tuple[str, ...]:
    return tuple(text.strip() for text in ranges or () if (":" in text) == ipv6)


def _admitted(source: str, ranges: tuple[str, ...]) -> bool:
    value = address_value(source)
    if value is None:
        return True
    return any(
        span is not None and span[0] == value[0] and span[1] <= value[1] <= span[2]
        for span in (prefix_value(text) for text in ranges)
    )
