"""One packet through a ServiceTable, with the rules it met."""

from __future__ import annotations

from typing import NamedTuple

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.netfilter import RulePacket, Walker
from svcpath.models.dataplanes.ruleset import address_value, prefix_value
from svcpath.models.dataplanes.table import (
    ANY_IPV4,
    ANY_IPV6,
    Frontend,
    PacketOutcome,
    PacketVerdict,
    ServiceTable,
    TableEntry,
    TrafficOrigin,
)


class Packet(NamedTuple):
    """The first packet of a new connection.

    ``source`` is an address (with TrafficOrigin.NODE "" stands for the node itself), ``protocol`` TCP, UDP or SCTP,
    ``address`` and ``port`` what the client sends to. ``arriving``: the packet comes in over the wire although its
    source is the node's address, as kube-proxy's own packet tracer has it; else a packet of the node starts at the
    output hook. ``known``: the client may have been here before, and goes to the backend that a set of nftables'
    affinity recalls for it; else it is one that no set holds, whatever its address.
    """

    source: str
    origin: TrafficOrigin
    protocol: str
    address: str
    port: int
    arriving: bool = False
    known: bool = False


def trace(table: ServiceTable, packet: Packet) -> PacketOutcome:
    """Where a new connection goes. Pure: the same table and packet give the same outcome."""
    return tracer(table).trace(packet)


def tracer(table: ServiceTable) -> Tracer:
    """For many packets through one table."""
    return Tracer(table)


class Tracer:
    """Keeps what one walk learns (chain indexes) for the next."""

    def __init__(self, table: ServiceTable) -> None:
        self.table = table
        self._by_port: dict[tuple[bool, str, int], list[Frontend]] | None = None
        self.walker = Walker(table.ruleset, table.node_addresses) if table.ruleset is not None else None

    def trace(self, packet: Packet) -> PacketOutcome:
        address, source = text_form(packet.address), text_form(packet.source)
        protocol = packet.protocol.upper()
        if self.walker is not None:
            if not source:
                source = _node_source(self.table, ":" in address)
            walked = RulePacket(source, packet.origin, protocol, address, packet.port, packet.arriving, packet.known)
            return self.walker.walk(walked)
        return self._looked_up(address, protocol, source, packet)

    def _looked_up(self, address: str, protocol: str, source: str, packet: Packet) -> PacketOutcome:
        """The dialects that keep a plain map: IPVS, Cilium, Calico."""
        entry = self.table.frontends.get(Frontend(address, protocol, packet.port))
        if entry is None and address in self.table.node_addresses:
            wildcard = ANY_IPV6 if ":" in address else ANY_IPV4
            entry = self.table.frontends.get(Frontend(wildcard, protocol, packet.port))
        if entry is None and address in (ANY_IPV4, ANY_IPV6):
            entry = self._node_port(":" in address, protocol, packet.port)
        if entry is None:
            # A line that stands under no frontend may be the frontend that was asked for.
            return PacketOutcome(
                verdict=PacketVerdict.NONE,
                undecided=tuple(line for line in self.table.not_understood if not line.chain),
            )
        return outcome_of(_for_source(entry, source), packet.origin)

    def _node_port(self, ipv6: bool, protocol: str, port: int) -> TableEntry | None:
        """IPVS lists a node port once per address of the node."""
        if self._by_port is None:
            self._by_port = {}
            for frontend in self.table.frontends:
                key = ":" in frontend.address, frontend.protocol, frontend.port
                self._by_port.setdefault(key, []).append(frontend)
        places = self._by_port.get((ipv6, protocol, port), [])
        own = [place for place in places if place.address in self.table.node_addresses]
        chosen = (own or places)[:1]
        return self.table.frontends[chosen[0]] if chosen else None


def _for_source(entry: TableEntry, source: str) -> TableEntry:
    """The entry of the longest prefix that holds the source."""
    value = address_value(source)
    best, width = entry, -1
    for prefix, narrower in entry.by_source:
        span = prefix_value(prefix)
        if value is None or span is None or span[0] != value[0] or not span[1] <= value[1] <= span[2]:
            continue
        if width < 0 or span[2] - span[1] < width:
            best, width = narrower, span[2] - span[1]
    return best


def outcome_of(entry: TableEntry, origin: TrafficOrigin) -> PacketOutcome:
    if entry.by_origin is not None and origin.value in entry.by_origin:
        return entry.by_origin[origin.value]
    return entry.outcome if entry.outcome is not None else PacketOutcome(verdict=PacketVerdict.NONE)


def _node_source(table: ServiceTable, ipv6: bool) -> str:
    for address in sorted(table.node_addresses):
        if (":" in address) == ipv6:
            return address
    return "::1" if ipv6 else "127.0.0.1"
