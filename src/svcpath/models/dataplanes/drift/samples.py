"""With which packets is a table asked? One per origin: from a Pod of this node, from the node, from outside.

A sample Pod must count as one for kube-proxy's own detection and be no backend of any Service: a backend that calls its
own Service meets the hairpin rule. Addresses from outside are those for documentation (RFC 5737, RFC 3849).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from svcpath.models.dataplanes.expected import Expectation
from svcpath.models.dataplanes.layout import Detector
from svcpath.models.dataplanes.table import Origin

#: A source address per family (4, 6) and origin.
Sources = Mapping[int, Mapping[Origin, str]]


def sources_of(
    wanted: Iterable[Expectation], detectors: Mapping[int, Detector | None], node_addresses: frozenset[str]
) -> Sources:
    views = [view for item in wanted for view in item.endpoints]
    taken = {view.backend.address for view in views}
    here = {view.backend.address for view in views if view.local}
    return {
        family: {
            Origin.POD: _pod(detectors[family], taken, here, family),
            Origin.NODE: _node(node_addresses, family),
            Origin.EXTERNAL: "2001:db8:ffff::77" if family == 6 else "198.51.100.77",
        }
        for family in (4, 6)
    }


def packets_to(item: Expectation, sources: Sources) -> Iterator[tuple[Origin, str]]:
    """Origin and source of each packet: one per origin, and for source ranges one from within."""
    yield from sources[family_of(item)].items()
    if item.source_ranges:
        yield Origin.EXTERNAL, item.source_ranges[0].partition("/")[0]


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
