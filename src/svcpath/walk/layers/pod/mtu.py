"""What the interfaces on the way take, where large packets are lost: the client Pod's, both nodes', the backend Pod's.

A packet larger than the MTU of a later hop is dropped there, and the sender learns it from "fragmentation needed" or "packet
too big" alone (RFC 1191, RFC 8201); where that message is kept back, the path is a black hole (RFC 2923). The MTU that
counts is that of the route, else of the interface that the route leaves by (net/ipv4/route.c: ip_dst_mtu_maybe_forward);
the interface towards a Pod has the Pod's own (veth(4): plugins set both ends alike). Equal MTUs tell that no interface named
here is the narrow place; what lies between the nodes they do not tell.
"""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.addresses import family_of
from svcpath.evidence.facts.connections import Attempt
from svcpath.evidence.facts.node import RoutingTables
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.finding import Disproof, Evidence, Hypothesis
from svcpath.findings.shell import shell
from svcpath.models.dataplanes.routing import way
from svcpath.status import Confidence
from svcpath.walk.scene import Scene

#: Headers below a TCP segment, and below an echo's data, by family (RFC 791, 8200, 793, 792, 4443).
_TCP = {4: 40, 6: 60}
_ECHO = {4: 28, 6: 48}
_CAUSE = "an interface of the nodes on the way takes less than the client's Pod sends"


class NodeRoutes(msgspec.Struct, frozen=True):
    """One node's tables."""

    node: str
    tables: RoutingTables
    observation: Observation[RoutingTables]


class _Interface(msgspec.Struct, frozen=True):
    device: str
    size: int
    hop: NodeRoutes

    @property
    def text(self) -> str:
        return f"{self.device} of node {self.hop.node} {self.size}"


def hypothesis(
    view: Scene, attempt: Attempt, address: str, sender: str, here: NodeRoutes | None, there: NodeRoutes | None
) -> Hypothesis:
    """Whether an interface on the way to ``address`` is narrower than what the client sends."""
    pairs = [(here, sender, address), (here, address, sender), (there, sender, address), (there, address, sender)]
    interfaces = [_interface(*pair) for pair in pairs]
    own = interfaces[0]
    family = 6 if ":" in address else 4
    sent = own.size if own is not None else attempt.segment + _TCP[family] if attempt.segment else 0
    known = [interface for interface in interfaces if interface is not None]
    narrow = [interface for interface in known if sent and interface.size < sent]
    disproof = _disproof(view, address, (sent or 1500) - _ECHO[family])
    if narrow:
        least = min(narrow, key=lambda interface: interface.size)
        return Hypothesis(
            f"{least.device} on node {least.hop.node} takes {least.size} bytes, the client's Pod sends up to {sent}, and the "
            "message that says so does not reach it",
            "pod",
            Confidence.SUPPORTED,
            supports=_evidence(known),
            disproof=disproof,
        )
    if len(known) == len(pairs):
        return Hypothesis(_CAUSE, "pod", Confidence.REFUTED, against=_evidence(known))
    return Hypothesis(_CAUSE, "pod", Confidence.POSSIBLE, disproof=disproof)


def _interface(hop: NodeRoutes | None, target: str, source: str) -> _Interface | None:
    """Of the way from this node to ``target``; None where the tables do not tell."""
    if hop is None or family_of(target) != family_of(source):
        return None
    led = way(hop.tables, target, source)
    if led.open or led.dead or led.route is None or not led.route.device:
        return None
    size = led.route.mtu or hop.tables.mtus.get(led.route.device, 0)
    return _Interface(led.route.device, size, hop) if size else None


def _evidence(interfaces: list[_Interface]) -> tuple[Evidence, ...]:
    """One line a node."""
    by_node: dict[str, list[_Interface]] = {}
    for interface in interfaces:
        by_node.setdefault(interface.hop.node, []).append(interface)
    return tuple(
        Evidence(f"MTU: {', '.join(dict.fromkeys(interface.text for interface in mine))}", mine[0].hop.observation)
        for mine in by_node.values()
    )


def _disproof(view: Scene, address: str, size: int) -> Disproof:
    return Disproof(
        shell(
            "kubectl -n {namespace} exec {client} -- ping -c 3 -W 2 -M do -s {size} {address}",
            namespace=view.request.client_namespace or view.request.namespace,
            client=view.request.client_name or "CLIENT-POD",
            size=size,
            address=address,
        ),
        "replies printed disprove it",
    )
