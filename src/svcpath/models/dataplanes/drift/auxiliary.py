"""Rules of kube-proxy that lead to no backend: the load balancer's health checks, and the check of cluster IPs.

The iptables mode accepts health check node ports in the filter table (pkg/proxy/iptables/proxier.go); the nftables mode
rejects what is sent to a wrong port of a cluster IP (chain cluster-ips-check, pkg/proxy/nftables/proxier.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from svcpath.evidence.facts.kubernetes import Service
from svcpath.models.dataplanes.drift.coverage import prefix_of
from svcpath.models.dataplanes.drift.difference import Difference, DifferenceKind
from svcpath.models.dataplanes.drift.scope import Scope
from svcpath.models.dataplanes.expected import Expectation, is_programmed
from svcpath.models.dataplanes.ruleset import RuleTable
from svcpath.models.dataplanes.table import ANY_IPV4, ANY_IPV6, Dialect, Frontend, PacketVerdict, TrafficOrigin
from svcpath.models.dataplanes.trace import Packet


def health_checks(scope: Scope, services: Iterable[Service]) -> Iterator[Difference]:
    """The iptables mode lets the load balancer's health checks in by a rule of their own."""
    rules = scope.table.ruleset
    if scope.table.dialect is not Dialect.IPTABLES or rules is None:
        return
    for service in services:
        number = service.spec.health_check_node_port
        if not number or service.spec.external_traffic_policy != "Local" or not is_programmed(service):
            continue
        family = 6 if ":" in service.cluster_ips[0] else 4
        filters = rules.tables.get(f"{prefix_of(family)} filter")
        if family not in scope.table.families or filters is None:
            continue
        if "KUBE-NODEPORTS" not in filters.chains and not (scope.release is not None and scope.release >= (1, 22)):
            continue  # kube-proxy has had the chain since 1.21 (kubernetes pull 97824)
        frontend = Frontend(ANY_IPV6 if family == 6 else ANY_IPV4, "TCP", number)
        source = scope.sources[family][TrafficOrigin.EXTERNAL]
        outcome = scope.tracer.trace(Packet(source, TrafficOrigin.EXTERNAL, "TCP", frontend.address, number))
        if outcome.verdict is not PacketVerdict.ACCEPT:
            yield Difference(
                node=scope.node,
                frontend=frontend,
                service=f"{service.namespace}/{service.name}",
                kind=DifferenceKind.HEALTH_CHECK_RULE_MISSING,
                origins=(TrafficOrigin.EXTERNAL,),
            )


def cluster_ip_checks(scope: Scope, wanted: Iterable[Expectation]) -> Iterator[Difference]:
    """The nftables mode rejects a wrong port of a cluster IP; without it such a client waits for its timeout."""
    rules = scope.table.ruleset
    if scope.table.dialect is not Dialect.NFTABLES or rules is None:
        return
    items = [item for item in wanted if item.kind == "cluster-ip"]
    for family in (4, 6):
        proxy = rules.tables.get(f"{prefix_of(family)} kube-proxy")
        if proxy is not None and "cluster-ips-check" in proxy.chains:
            yield from _cluster_ip_check(scope, proxy, family, items)


def _cluster_ip_check(
    scope: Scope, proxy: RuleTable, family: int, items: Iterable[Expectation]
) -> Iterator[Difference]:
    """Every cluster IP must be in the set; that the set is asked is tried with one of them, on a free port."""
    ports: dict[str, set[int]] = {}
    owner: dict[str, Expectation] = {}
    for item in items:
        if (":" in item.frontend.address) == (family == 6):
            ports.setdefault(item.frontend.address, set()).add(item.frontend.port)
            owner.setdefault(item.frontend.address, item)
    members = proxy.sets.get("cluster-ips")
    for address, used in ports.items():
        if members is not None and (address,) not in members.elements:
            yield scope.row(owner[address], DifferenceKind.CLUSTER_IP_CHECK_MISSING, TrafficOrigin.POD)
            continue
        if members is not None and address != next(iter(ports)):
            continue
        free = next(port for port in range(1, 65536) if port not in used)
        for origin in (TrafficOrigin.POD, TrafficOrigin.NODE):
            packet = Packet(scope.sources[family][origin], origin, "TCP", address, free)
            if scope.tracer.trace(packet).verdict is not PacketVerdict.REJECT:
                yield scope.row(owner[address], DifferenceKind.CLUSTER_IP_CHECK_MISSING, origin)
