"""Outside traffic under externalTrafficPolicy Local: nodes without a local endpoint drop, and must be distinguished.

Sources: pkg/proxy/topology.go (which endpoints a node uses), KEP-1669 (terminating ones from kube-proxy 1.26), and
pkg/proxy/healthcheck (healthCheckNodePort answers 200 with local endpoints and 503 without).
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.node import HealthReply, NodeReport
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.dataplanes import (
    Backend,
    Expectation,
    NodeView,
    Packet,
    PacketVerdict,
    TrafficOrigin,
    expected,
    health_check,
    trace,
)
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.layers.dataplane.compared import Compared
from svcpath.walk.scene import Scene

OUTSIDE = "198.51.100.77"
OUTSIDE6 = "2001:db8:ffff::77"


class Reported(msgspec.Struct, frozen=True):
    """A node's report with where it stands."""

    report: NodeReport
    observation: Observation[Any]


def check(
    view: Scene, service: Service, compared: list[Compared], reports: tuple[Reported, ...], replies: Reply
) -> CheckResult:
    slices = [slice_.fact for slice_ in view.slices]
    inside = _inside(view, service, slices, compared)
    if view.request.client and not service.spec.external_ips:
        # The client is a Pod of the cluster: outside traffic is not its business.
        return CheckResult(findings=tuple(inside), looked=bool(inside))
    findings = [
        *inside,
        *_health(view, service, slices, replies),
        *_releases(view, service, slices, reports),
        *_dropping(view, service, slices, compared, replies),
    ]
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def _outside(items: tuple[Expectation, ...]) -> list[Expectation]:
    return [item for item in items if item.external and item.local_only]


def _met(item: Expectation) -> tuple[PacketVerdict, tuple[Backend, ...]]:
    source = OUTSIDE6 if ":" in item.frontend.address else OUTSIDE
    met = item.for_packet(TrafficOrigin.EXTERNAL, source)
    return met.verdict, met.backends


def _fate(comparison: Compared, item: Expectation) -> str:
    """A virtual server of IPVS without real ones answers with port unreachable, as Cilium does; the others drop."""
    frontend = item.frontend
    source = OUTSIDE6 if ":" in frontend.address else OUTSIDE
    packet = Packet(source, TrafficOrigin.POD, frontend.protocol, frontend.address, frontend.port)
    if trace(comparison.dump.table, packet).verdict is PacketVerdict.REJECT:
        return "refused (internalTrafficPolicy Local, no local endpoint)"
    return "DROPped (internalTrafficPolicy Local, no local endpoint): a timeout, not refused"


def _inside(view: Scene, service: Service, slices: list[EndpointSlice], compared: list[Compared]) -> list[Finding]:
    """internalTrafficPolicy Local: a node without a local endpoint drops its own Pods' connections, as it must."""
    if service.spec.internal_traffic_policy != "Local" or not view.usable:
        return []
    dropping: list[tuple[Compared, Expectation]] = []
    serving: list[str] = []
    for comparison in compared:
        for item in expected(service, slices, comparison.node.view):
            if item.kind != "cluster-ip" or not comparison.node.name:
                continue
            source = OUTSIDE6 if ":" in item.frontend.address else OUTSIDE
            if item.for_packet(TrafficOrigin.POD, source).verdict is PacketVerdict.DROP:
                dropping.append((comparison, item))
            else:
                serving.append(comparison.node.name)
            break
    if not dropping:
        return []
    comparison, item = dropping[0]
    place = str(item.frontend)
    local = sorted({endpoint.endpoint.node_name for endpoint in view.usable if endpoint.endpoint.node_name})
    known = bool(view.request.client or view.request.client_node)
    nodes = ", ".join(other.node.name for other, _ in dropping)
    return [
        finding(
            "SP622",
            Status.FAIL if known or not serving else Status.WARN,
            f"{nodes}: connections to {place} are {_fate(comparison, item)}; endpoints are on {', '.join(local) or 'no known node'}",
            evidence=(
                Evidence(f"Service {service.name}: internalTrafficPolicy Local", view.service_observation),
                Evidence(f"{comparison.node.label}'s table ({comparison.dump.place})", comparison.dump.observation),
                *(
                    Evidence(f"slice {slice_.fact.name}: endpoints on {', '.join(local)}", slice_)
                    for slice_ in view.slices[:2]
                ),
            ),
            confidence=Confidence.PROVEN,
            share=f"all new connections from {nodes}",
            namespace=service.namespace,
            service=service.name,
            node=comparison.node.name,
        )
    ]


def _dropping(
    view: Scene, service: Service, slices: list[EndpointSlice], compared: list[Compared], replies: Reply
) -> list[Finding]:
    """A node that was looked at drops what arrives from outside, as it must: then the sender is wrong."""
    answering_503 = {
        reply.node for observed in replies.present for reply in observed.fact.replies if reply.status == 503
    }
    dropping: list[tuple[Compared, list[Expectation]]] = []
    serving: list[str] = []
    for comparison in compared:
        items = _outside(expected(service, slices, comparison.node.view))
        dropped = [
            item
            for item in items
            if _met(item)[0] is PacketVerdict.DROP and (comparison.node.name or _drops(comparison, item))
        ]
        if dropped:
            dropping.append((comparison, dropped))
        elif items:
            serving.append(comparison.node.label)
    dropping = [
        (comparison, items)
        for comparison, items in dropping
        if not comparison.node.name or comparison.node.name not in answering_503
    ]
    if not dropping:
        return []
    comparison, items = dropping[0]
    places = _places(items)
    local = sorted({endpoint.endpoint.node_name for endpoint in view.ready if endpoint.endpoint.node_name})
    works = f"; ClusterIP works; {', '.join(local)} serves" if local else ""
    also = f" (and {count(len(dropping) - 1, 'more node')})" if len(dropping) > 1 else ""
    return [
        finding(
            "SP608",
            Status.WARN if serving else Status.FAIL,
            f"{comparison.node.label}{also}: external traffic to {places} is DROPped (no local endpoint): a timeout, not refused{works}; "
            "the wrong node receives the traffic",
            evidence=(
                Evidence(
                    f"{comparison.node.label}'s table ({comparison.dump.place}) drops it", comparison.dump.observation
                ),
                *(
                    Evidence(f"slice {slice_.fact.name}: endpoints on {', '.join(local) or 'no node'}", slice_)
                    for slice_ in view.slices[:2]
                ),
                Evidence(f"Service {service.name}: externalTrafficPolicy Local", view.service_observation),
            ),
            confidence=Confidence.SUPPORTED,
            details=(
                f"healthCheckNodePort {service.spec.health_check_node_port} of {comparison.node.label} must answer 503",
            )
            if service.spec.health_check_node_port
            else (),
            share=f"outside traffic that reaches {comparison.node.label}",
            namespace=service.namespace,
            service=service.name,
            node=comparison.node.name or "THE-NODE",
        )
    ]


def _drops(comparison: Compared, item: Expectation) -> bool:
    """Whether the table itself drops it: which endpoints are local to a node without a name is not known."""
    source = OUTSIDE6 if ":" in item.frontend.address else OUTSIDE
    frontend = item.frontend
    packet = Packet(source, TrafficOrigin.EXTERNAL, frontend.protocol, frontend.address, frontend.port)
    return trace(comparison.dump.table, packet).verdict is PacketVerdict.DROP


def _places(items: list[Expectation]) -> str:
    shown = [
        str(item.frontend) if not item.frontend.is_node_port else f"NodePort {item.frontend.port}" for item in items
    ]
    return " and ".join(dict.fromkeys(text.removesuffix("/tcp").removesuffix("/udp") for text in shown))


def _releases(
    view: Scene, service: Service, slices: list[EndpointSlice], reports: tuple[Reported, ...]
) -> list[Finding]:
    """Nodes whose kube-proxy is older than 1.26 do not fall back to terminating endpoints."""
    findings = []
    outcomes: dict[str, list[tuple[str, tuple[PacketVerdict, tuple[Backend, ...]], Reported]]] = {}
    for reported in reports:
        release = _release(reported.report.kube_proxy)
        if release is None or not reported.report.name:
            continue
        node = NodeView(name=reported.report.name, release=release)
        items = _outside(expected(service, slices, node))
        if items:
            outcomes.setdefault(reported.report.name, []).append((reported.report.kube_proxy, _met(items[0]), reported))
    for name, releases in outcomes.items():
        dropping = [release for release in releases if release[1][0] is PacketVerdict.DROP]
        fallback = _fallback(service, slices, name)
        if not dropping or not fallback:
            continue
        fates = "; ".join(
            f"{version} -> "
            + (
                "DROP"
                if verdict is PacketVerdict.DROP
                else f"terminating Pod {', '.join(b.address for b in backends)} (serving)"
            )
            for version, (verdict, backends), _ in sorted(releases, key=lambda release: release[0], reverse=True)
        )
        cluster = ", ".join(endpoint.address for endpoint in view.ready)
        findings.append(
            finding(
                "SP620",
                Status.FAIL,
                f"{name} external: {fates}; ClusterIP -> {cluster or 'none'} only",
                evidence=(
                    *(
                        Evidence(f"{name}: kube-proxy {version}", reported.observation)
                        for version, _, reported in releases
                    ),
                    *(Evidence(f"slice {slice_.fact.name}", slice_) for slice_ in view.slices[:2]),
                ),
                confidence=Confidence.PROVEN,
                details=(
                    "the fallback to terminating endpoints applies per policy scope, and only if no ready endpoint is in scope",
                    f"healthCheckNodePort {service.spec.health_check_node_port} answers 503 at the same time",
                ),
                share=f"outside traffic that reaches {name}",
                namespace=service.namespace,
                service=service.name,
                node=name,
            )
        )
    return findings


def _fallback(service: Service, slices: list[EndpointSlice], node: str) -> bool:
    """Whether a newer kube-proxy would send outside traffic of this node to a terminating endpoint."""
    items = _outside(expected(service, slices, NodeView(name=node)))
    return bool(items) and _met(items[0])[0] is PacketVerdict.BACKENDS


def _release(version: str) -> tuple[int, int] | None:
    parts = version.lstrip("v").split(".")
    if len(parts) < 2 or not parts[0].isdecimal() or not parts[1].isdecimal():
        return None
    return int(parts[0]), int(parts[1])


def _health(view: Scene, service: Service, slices: list[EndpointSlice], replies: Reply) -> list[Finding]:
    """healthCheckNodePort replies against the local endpoints of each node."""
    number = service.spec.health_check_node_port
    findings = []
    for observed in replies.present:
        for reply in observed.fact.replies:
            if reply.port != number or not reply.node:
                continue
            want = health_check(service, slices, NodeView(name=reply.node))
            if want is None:
                continue
            local = want[1]
            healthy = reply.status == 200
            claimed = reply.local_endpoints if reply.local_endpoints is not None else (1 if healthy else 0)
            if healthy == (local > 0) and (reply.local_endpoints is None or claimed == local):
                continue
            findings.append(_mismatch(view, service, reply, local, claimed, observed))
    return findings


def _mismatch(
    view: Scene, service: Service, reply: HealthReply, local: int, claimed: int, observed: Observation[Any]
) -> Finding:
    healthy = reply.status == 200
    wrong_way = healthy != (local > 0)
    expected_status = "200" if local else "503"
    return finding(
        "SP609",
        Status.FAIL if wrong_way else Status.WARN,
        f"{reply.node} reports {'healthy' if healthy else f'status {reply.status}'} with localEndpoints {claimed} but has "
        f"{count(local, 'local endpoint')}: expected {expected_status}; two components own port {reply.port}",
        evidence=(
            Evidence(f"{reply.node}:{reply.port} answers {reply.status}, localEndpoints {claimed}", observed),
            *(
                Evidence(
                    f"slice {slice_.fact.name}: localEndpoints compared with the endpoints on {reply.node}", slice_
                )
                for slice_ in view.slices[:2]
            ),
        ),
        confidence=Confidence.SUPPORTED,
        cause=f"two components own port {reply.port}",
        share=f"outside traffic that the load balancer sends to {reply.node}",
        node=reply.node,
        port=reply.port,
    )
