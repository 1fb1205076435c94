"""Where a walk begins: a packet set down in the ruleset of one node.

What one packet learns (whether a mark is masqueraded, which address takes node ports) holds for the next, and is kept.
"""

from __future__ import annotations

from svcpath.models.dataplanes.netfilter.flow import Branch, PacketWalk, RulePacket, is_local
from svcpath.models.dataplanes.netfilter.hooks import walk_hooks
from svcpath.models.dataplanes.netfilter.masquerade import masquerades
from svcpath.models.dataplanes.netfilter.outcome import outcome
from svcpath.models.dataplanes.ruleset import Ruleset, address_value
from svcpath.models.dataplanes.table import ANY_IPV4, ANY_IPV6, PacketOutcome


class Walker:
    """Walks packets through one ruleset. ``node_addresses`` are the node's own."""

    def __init__(self, rules: Ruleset, node_addresses: frozenset[str] = frozenset()) -> None:
        self.rules = rules
        self.local = frozenset(value for text in node_addresses if (value := address_value(text)) is not None)
        self._masquerade: dict[tuple[str, int], bool] = {}
        self._node_port_address: dict[str, str] = {}

    def walk(self, packet: RulePacket) -> PacketOutcome:
        address = packet.address
        to_node = address in (ANY_IPV4, ANY_IPV6)
        family = "ip6" if ":" in address else "ip"
        if to_node:
            address = self._some_node_address(family)
        flow = PacketWalk(
            rules=self.rules,
            packet=packet,
            family=family,
            protocol=packet.protocol.lower(),
            source=address_value(packet.source),
            local=self.local,
            to_node=to_node or is_local(address, self.local),
        )
        ends = list(walk_hooks(flow, Branch(address, packet.port)))
        return outcome(flow, ends, lambda mark: self._masquerades(flow, mark))

    def _masquerades(self, flow: PacketWalk, mark: int) -> bool:
        key = (flow.family, mark)
        found = self._masquerade.get(key)
        if found is None:
            found = self._masquerade[key] = masquerades(flow, mark)
        return found

    def _some_node_address(self, family: str) -> str:
        """An address of the node that takes node ports: of the rules, else the wildcard itself."""
        found = self._node_port_address.get(family)
        if found is None:
            found = self._node_port_address[family] = _node_port_address(self.rules, family)
        return found


def _node_port_address(rules: Ruleset, family: str) -> str:
    """An address on which this ruleset takes node ports; the wildcard where any of the node's will do."""
    wildcard = ANY_IPV6 if family == "ip6" else ANY_IPV4
    proxy = rules.tables.get(f"{family} kube-proxy")
    if proxy is not None:
        addresses = proxy.sets.get("nodeport-ips")
        if addresses is not None and addresses.elements:
            return next(iter(addresses.elements))[0]
    nat = rules.tables.get(f"{family} nat")
    services = nat.chains.get("KUBE-SERVICES") if nat is not None else None
    if services is not None:
        for rule in services.rules:
            if rule.target == "jump" and rule.argument == "KUBE-NODEPORTS":
                for match in rule.matches:
                    if match.kind == "destination" and not match.negated and isinstance(match.value, str):
                        return match.value.partition("/")[0]
    return wildcard
