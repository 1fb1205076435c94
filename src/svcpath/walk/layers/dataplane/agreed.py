"""What is said of a table that holds what the Service and its slices ask: in words, and as an excluded cause."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.findings.finding import Evidence, Finding, Hypothesis
from svcpath.models.dataplanes import LOCAL_REDIRECT, Frontend, Packet, PacketVerdict, TrafficOrigin, expected, trace
from svcpath.status import Confidence, Status
from svcpath.walk.layers.dataplane.compared import Compared, place
from svcpath.walk.scene import Scene


def redirected(comparison: Compared, frontends: set[Frontend]) -> str:
    """The first of the frontends that a CiliumLocalRedirectPolicy gives to Pods of the node, in words."""
    for rule in comparison.report.foreign:
        if rule.chain == LOCAL_REDIRECT and rule.frontend in frontends:
            return rule.text
    return ""


def agrees(view: Scene, service: Service, comparison: Compared) -> str:
    """ "w1 (nftables) sends to both Pods on 18080, as the slices say" or "... refuses, as the empty slices ask"."""
    slices: list[EndpointSlice] = [slice_.fact for slice_ in view.slices]
    dialect = comparison.dump.table.dialect.value
    for item in expected(service, slices, comparison.node.view):
        if item.kind != "cluster-ip":
            continue
        if not item.any:
            return f"{comparison.node.label} ({dialect}) refuses {item.frontend}, as slices without a backend ask"
        if not item.chosen:
            return f"{comparison.node.label} ({dialect}) drops {item.frontend}, as internalTrafficPolicy Local asks without an endpoint there"
        ports = sorted({backend.port for backend in item.chosen})
        count = len(item.chosen)
        here = " of the node" if item.local_only else ""
        who = "both Pods" if count == 2 else f"all {count} Pods" if count > 2 else "the Pod"
        return f"{comparison.node.label} ({dialect}) sends to {who}{here} on {', '.join(str(port) for port in ports)}, as the slices say"
    return f"{comparison.node.label} ({dialect}) agrees with the slices"


def no_reject(view: Scene, service: Service, comparison: Compared) -> list[Finding]:
    """Where the table sends to backends, a reject on the node is excluded as the cause of a refused connection."""
    if not view.usable or not service.cluster_ips:
        return []
    port = view.service_ports[0] if view.service_ports else None
    if port is None:
        return []
    source = "2001:db8::77" if ":" in service.cluster_ips[0] else "198.51.100.77"
    packet = Packet(source, TrafficOrigin.POD, port.protocol, service.cluster_ips[0], port.port)
    outcome = trace(comparison.dump.table, packet)
    if outcome.verdict is not PacketVerdict.BACKENDS:
        return []
    frontend = Frontend(service.cluster_ips[0], port.protocol, port.port)
    lines = [rule.line for rule in outcome.rules if rule.line]
    none = Evidence(
        f"{comparison.node.label} has none for {frontend} {place(comparison, lines[-1] if lines else 0)}",
        comparison.dump.observation,
    )
    return [
        Finding(
            "SP602",
            "dataplane",
            Status.PASS,
            f"{comparison.node.label} has no reject or drop for {frontend}",
            (none,),
            (Hypothesis("a reject on the node", "dataplane", Confidence.REFUTED, (), (none,)),),
        )
    ]
