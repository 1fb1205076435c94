"""With which packets is a table asked? One per origin: from a Pod of this node, from the node, from outside.

A sample Pod must count as one for kube-proxy's own detection and be no backend of any Service: a backend that calls its
own Service meets the hairpin rule. Addresses from outside are those for documentation (RFC 5737, RFC 3849).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from svcpath.models.dataplanes.expected import Expectation
from svcpath.models.dataplanes.layout import Detector, detector_of
from svcpath.models.dataplanes.ruleset import Match
from svcpath.models.dataplanes.table import Dialect, Frontend, ServiceTable, TrafficOrigin

#: A source address per family (4, 6) and origin.
Sources = Mapping[int, Mapping[TrafficOrigin, str]]


def sources_of(
    wanted: Iterable[Expectation], detectors: Mapping[int, Detector | None], node_addresses: frozenset[str]
) -> Sources:
    views = [view for item in wanted for view in item.endpoints]
    taken = {view.backend.address for view in views}
    here = {view.backend.address for view in views if view.local}
    return {
        family: {
            TrafficOrigin.POD: _pod(detectors[family], taken, here, family),
            TrafficOrigin.NODE: _node(node_addresses, family),
            TrafficOrigin.EXTERNAL: "2001:db8:ffff::77" if family == 6 else "198.51.100.77",
        }
        for family in (4, 6)
    }


def some_pod(table: ServiceTable, taken: set[str], here: set[str], *, ipv6: bool) -> str:
    """The address of a Pod of the node that is no backend, for one table. ``taken`` are backends' addresses, ``here``
    those of them on the node."""
    family = 6 if ipv6 else 4
    return _pod(detector_of(table, family) if table.ruleset is not None else None, taken, here, family)


def packets_to(
    item: Expectation, sources: Sources, admitted: Iterable[str] = ()
) -> Iterator[tuple[TrafficOrigin, str]]:
    """Origin and source of each packet: one per origin, and one from within each source range, of the Service's and of
    those that the table lets in (``admitted``)."""
    yield from sources[family_of(item)].items()
    texts = [text.partition("/")[0] for text in (*item.source_ranges, *admitted)]
    for source in dict.fromkeys(texts):
        if source not in sources[family_of(item)].values():
            yield TrafficOrigin.EXTERNAL, source


def admitted_by(table: ServiceTable, frontend: Frontend) -> tuple[str, ...]:
    """The source prefixes that the table names for a frontend: in Calico's map, in the KUBE-FW chain that the iptables
    mode jumps to, in the chain of the nftables mode's map ``firewall-ips``."""
    entry = table.frontends.get(frontend)
    if entry is None:
        return ()
    if table.ruleset is None:
        return tuple(prefix for prefix, _ in entry.by_source)
    family = "ip6" if ":" in frontend.address else "ip"
    chain = None
    if table.dialect is Dialect.IPTABLES and entry.target.startswith("KUBE-FW-"):
        nat = table.ruleset.tables.get(f"{family} nat")
        chain = nat.chains.get(entry.target) if nat is not None else None
    elif table.dialect is Dialect.NFTABLES and (proxy := table.ruleset.tables.get(f"{family} kube-proxy")) is not None:
        firewalls = proxy.sets.get("firewall-ips")
        key = (frontend.address, frontend.protocol.lower(), str(frontend.port))
        element = firewalls.elements.get(key) if firewalls is not None else None
        chain = proxy.chains.get(element.argument or "") if element is not None else None
    if chain is None:
        return ()
    named = (text for rule in chain.rules for match in rule.matches for text in _prefixes(match))
    # A node that holds the load balancer's address itself sends from it: kube-proxy lets that in beside the ranges.
    return tuple(text for text in named if frontend._replace(address=text.partition("/")[0]) not in table.frontends)


def _prefixes(match: Match) -> tuple[str, ...]:
    if match.kind != "source":
        return ()
    return (match.value,) if isinstance(match.value, str) else tuple(match.value)


def family_of(item: Expectation) -> int:
    return 6 if ":" in item.frontend.address else 4


def _pod(detector: Detector | None, taken: set[str], here: set[str], family: int) -> str:
    """An address that counts as a Pod's of this node and is no backend's: beside a Pod of the node, if one is known."""
    if detector is None or detector.kind != "cidr":
        return "2001:db8:fffe::2" if family == 6 else "192.0.2.2"
    network = ipaddress.ip_network(detector.value, strict=False)
    length = 64 if family == 6 else 24
    for text in sorted(here):
        if (":" in text) == (family == 6) and ipaddress.ip_address(text) in network and network.prefixlen < length:
            network = ipaddress.ip_network(f"{text}/{length}", strict=False)
            break
    for offset in range(2, min(network.num_addresses, 1 << 16)):
        address = str(network[offset])
        if address not in taken:
            return address
    return str(network[0])


def _node(addresses: frozenset[str], family: int) -> str:
    for address in sorted(addresses):
        if (":" in address) == (family == 6):
            return address
    return "::1" if family == 6 else "127.0.0.1"
