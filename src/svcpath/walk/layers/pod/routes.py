"""The nodes' routes between client and backend, both ways, where a direct connection got no answer.

A packet that finds a blackhole, unreachable or prohibit route, or none, is gone; so is one whose answer does. With
rp_filter 1 the kernel also drops what comes in by an interface that its route to the sender does not leave by
(Documentation/networking/ip-sysctl.rst; RFC 3704): a route to the one client that leaves by another interface than the
routes to all other Pods of the client's node is that case. What answers needs no routes read.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

import msgspec

from svcpath.evidence.facts.addresses import family_of
from svcpath.evidence.facts.connections import Attempt
from svcpath.evidence.facts.kubernetes import Pod
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.node import RoutingTables
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Hypothesis
from svcpath.models.dataplanes.routing import Way, way
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.layers.pod import direct, mtu
from svcpath.walk.layers.pod.mtu import NodeRoutes
from svcpath.walk.scene import EndpointView, Scene

#: Backends' nodes whose routes are read.
MAX_NODES = 4


class _Hop(NodeRoutes, frozen=True):
    """One node's tables, and what a connection that failed asks of them."""

    sysctls: Reply


def check(view: Scene, attempts: Reply) -> Asking[CheckResult]:
    lost = direct.lost(view, attempts)
    client = yield from ask.client_pod(view.request.client_namespace, view.request.client_name)
    if not lost or client is None or not client.fact.spec.node_name:
        return CheckResult(looked=False)
    home = client.fact.spec.node_name
    theirs = [node for endpoint, _ in lost.values() if (node := node_of(endpoint))]
    names = list(dict.fromkeys([home, *theirs]))[: MAX_NODES + 1]
    hops = yield from _hops(names)
    nodes = yield from ask.nodes()
    ranges = {node.fact.name: node.fact.spec.pod_cidrs or () for node in nodes.present}
    findings: list[Finding] = []
    for address, (endpoint, seen) in lost.items():
        sender = _sender(client.fact, address)
        tried = Evidence(f"{view.request.client} to {address}: no answer", seen)
        if not sender:
            continue
        there = hops.get(node_of(endpoint))
        here = hops.get(home)
        found = None
        if here is not None:
            found = _dead(here, address, sender, f"{endpoint.who}", tried)
        if found is None and there is not None:
            found = _dead(there, sender, address, f"the client {view.request.client_name}", tried)
        if found is None and there is not None and there.node != home:
            found = _filtered(there, client.fact, sender, address, ranges.get(home, ()), tried)
        if found is not None:
            findings.append(found)
    return CheckResult(findings=tuple(findings[:4]), looked=bool(findings))


def narrow_places(view: Scene, large: Iterable[tuple[str, Attempt]]) -> Asking[dict[str, Hypothesis]]:
    """For each address that loses large requests: whether an interface on the way there is what loses them."""
    lost = dict(large)
    if not lost:
        return {}
    client = yield from ask.client_pod(view.request.client_namespace, view.request.client_name)
    home = (client.fact.spec.node_name if client else "") or ""
    nodes = {endpoint.address: node_of(endpoint) for endpoint in view.usable if endpoint.address in lost}
    hops = yield from _hops([name for name in dict.fromkeys([home, *nodes.values()]) if name][: MAX_NODES + 1])
    found = {}
    for address, attempt in lost.items():
        sender = _sender(client.fact, address) if client else ""
        here, there = (hops.get(home), hops.get(nodes.get(address, ""))) if sender else (None, None)
        found[address] = mtu.hypothesis(view, attempt, address, sender, here, there)
    return found


def _sender(client: Pod, address: str) -> str:
    return next((ip for ip in client.ips if family_of(ip) == family_of(address)), "")


def node_of(endpoint: EndpointView) -> str:
    spec = endpoint.pod.fact.spec.node_name if endpoint.pod else ""
    return endpoint.endpoint.node_name or spec or ""


def _hops(names: list[str]) -> Asking[dict[str, _Hop]]:
    needs = [
        Need(kind, node=name, cost=Cost.EXEC, permission="create pods/exec")
        for name in names
        for kind in (Kind.ROUTES, Kind.SYSCTL)
    ]
    replies = yield tuple(needs)
    found: dict[str, _Hop] = {}
    for name, routes, sysctls in zip(names, replies[::2], replies[1::2], strict=True):
        if routes.present:
            found[name] = _Hop(name, _joined(routes), routes.present[0], sysctls)
    return found


def _joined(routes: Reply) -> RoutingTables:
    """What was seen first, with the MTUs of all that was seen: routes and links may have been recorded apart."""
    first: RoutingTables = next((look.fact for look in routes.present if look.fact.routes), routes.present[0].fact)
    mtus = {name: size for look in reversed(routes.present) for name, size in look.fact.mtus.items()}
    return msgspec.structs.replace(first, mtus=mtus)


def _dead(hop: _Hop, target: str, source: str, who: str, tried: Evidence) -> Finding | None:
    """The node has no way to ``target``. Links alone, without routes, say nothing of that."""
    if not hop.tables.routes:
        return None
    led = way(hop.tables, target, source)
    if not led.dead:
        return None
    reason = led.said
    return finding(
        "SP507",
        Status.FAIL,
        f"node {hop.node} has no working route to {target} ({who}): {reason}",
        evidence=(Evidence(f"{hop.node}: {reason}", hop.observation), tried),
        # An explicit route names the address; that none fits leaves room for a table that was not shown.
        confidence=Confidence.PROVEN if led.route is not None else Confidence.SUPPORTED,
        cause=f"node {hop.node}: {reason}",
        remedy=f"On node {hop.node} remove that route, or let the network plugin write its own again.",
        share=f"packets through {hop.node} to {target}",
        node=hop.node,
        address=target,
    )


def _filtered(
    hop: _Hop, client: Pod, sender: str, backend: str, ranges: Iterable[str], tried: Evidence
) -> Finding | None:
    """The route back to this client leaves by another interface than that to its neighbours."""
    if client.spec.host_network:
        return None
    usual = _neighbours(hop, sender, backend, ranges)
    back = way(hop.tables, sender, backend)
    if usual is None or usual.route is None or back.route is None or back.dead or back.open:
        return None
    if not back.route.device or not usual.route.device or back.route.device == usual.route.device:
        return None
    strict = _strict(hop.sysctls, usual.route.device) if ":" not in sender else None
    evidence = [
        Evidence(
            f"{hop.node}: {sender} leaves by {back.route.device} ({back.said}), other Pods of {client.spec.node_name} by "
            f"{usual.route.device} ({usual.said})",
            hop.observation,
        ),
        tried,
    ]
    if strict is not None:
        key, value, shown = strict
        return finding(
            "SP617",
            Status.FAIL,
            f"node {hop.node} drops what comes from {sender}: {key} is {value} (strict), packets come in by "
            f"{usual.route.device} and its route back is {back.said}",
            evidence=(Evidence(f"{key} = {value}", shown), *evidence),
            confidence=Confidence.PROVEN,
            layer="pod",
            remedy=f"On node {hop.node} remove the route {back.said}, or sysctl -w {key}=2.",
            share=f"connections from {sender} to Pods on {hop.node}",
            key=key,
        )
    return finding(
        "SP507",
        Status.FAIL,
        f"node {hop.node} sends answers to {sender} by {back.route.device}, those to other Pods of "
        f"{client.spec.node_name} by {usual.route.device}",
        evidence=tuple(evidence),
        confidence=Confidence.SUPPORTED,
        share=f"answers through {hop.node} to {sender}",
        node=hop.node,
        address=sender,
    )


def _neighbours(hop: _Hop, sender: str, backend: str, ranges: Iterable[str]) -> Way | None:
    """The way to the range that the sender's address comes from, as its network address finds it."""
    address = ipaddress.ip_address(sender)
    for text in ranges:
        network = ipaddress.ip_network(text, strict=False)
        if network.version == address.version and address in network and network.network_address != address:
            led = way(hop.tables, str(network.network_address), backend)
            return led if not led.open and not led.dead else None
    return None


def _strict(sysctls: Reply, device: str) -> tuple[str, str, Observation[object]] | None:
    """What makes reverse path filtering strict on ``device``: the larger of "all" and its own value counts, and 1 is it."""
    own = device.replace(".", "/")
    for look in sysctls.present:
        keys = {name: look.fact.values.get(f"net.ipv4.conf.{name}.rp_filter", "").strip() for name in ("all", own)}
        known = {name: int(value) for name, value in keys.items() if value.isdecimal()}
        if known and max(known.values()) == 1:
            name = next(name for name, value in known.items() if value == 1)
            return f"net.ipv4.conf.{name}.rp_filter", "1", look
    return None
