"""Which way a node's kernel sends a packet: policy rules in order, in each table the longest prefix, then the least metric.

ip-rule(8), ip-route(8); net/ipv4/fib_rules.c and fib_trie.c, net/ipv6/ip6_fib.c. A rule that also asks for a mark, an
interface or a port may or may not apply to a packet: where its table would decide, nothing is decided here.
"""

from __future__ import annotations

import ipaddress

import msgspec

from svcpath.evidence.facts.node import Route, RoutingRule, RoutingTables

#: Routes that let no packet pass.
DEAD = frozenset({"blackhole", "unreachable", "prohibit"})


class Way(msgspec.Struct, frozen=True):
    """Where a packet goes. ``route`` None: no route at all, or, with ``open`` set, not decided by the tables."""

    route: Route | None
    open: str = ""

    @property
    def dead(self) -> bool:
        """No packet passes here."""
        return not self.open and (self.route is None or self.route.kind in DEAD)

    @property
    def said(self) -> str:
        if self.open:
            return f"not decided: {self.open}"
        if self.route is None:
            return "no route"
        words = [self.route.kind if self.route.kind != "unicast" else "", self.route.destination]
        words += ["via", self.route.via] if self.route.via else []
        words += ["dev", self.route.device] if self.route.device else []
        return " ".join(word for word in words if word)


def way(tables: RoutingTables, destination: str, source: str = "") -> Way:
    """The way of a packet to ``destination``, sent on from elsewhere with ``source`` as its sender."""
    target = ipaddress.ip_address(destination)
    sender = ipaddress.ip_address(source) if source else None
    if all((":" in route.destination) != (target.version == 6) for route in tables.routes):
        return Way(None, f"no route of IPv{target.version} was shown")
    rules = [rule for rule in tables.rules if rule.family == target.version]
    for rule in sorted(rules, key=lambda rule: rule.priority) or _usual(target.version):
        if not _covers(rule.destination, target) or not _may_cover(rule.source, sender):
            continue
        certain = not rule.other and (not rule.source or sender is not None)
        if rule.action != "lookup":
            if rule.action in DEAD and certain:
                return Way(Route(destination=rule.destination or "all", kind=rule.action, table=""))
            if rule.action == "nop":
                continue
            return Way(None, f"rule {rule.priority}: {rule.action} {rule.other}".rstrip())
        found = _longest(tables, rule.table, target)
        if found is None or found.kind == "throw":
            continue
        if not certain:
            return Way(None, f"rule {rule.priority} asks for {rule.other or 'a source'}")
        return Way(found)
    if tables.unread:
        return Way(None, f"{tables.unread} lines were not understood")
    return Way(None)


def _usual(family: int) -> list[RoutingRule]:
    names = ((0, "local"), (32766, "main"), (32767, "default"))
    return [RoutingRule(priority=priority, family=family, table=table) for priority, table in names]


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _covers(prefix: str, address: Address) -> bool:
    return not prefix or address in ipaddress.ip_network(prefix)


def _may_cover(prefix: str, address: Address | None) -> bool:
    return address is None or _covers(prefix, address)


def _longest(tables: RoutingTables, table: str, target: Address) -> Route | None:
    best: tuple[int, int] | None = None
    found: Route | None = None
    for route in tables.routes:
        if route.table != table:
            continue
        network = ipaddress.ip_network(route.destination)
        if network.version != target.version or target not in network:
            continue
        rank = (-network.prefixlen, route.metric)
        if best is None or rank < best:
            best, found = rank, route
    return found
