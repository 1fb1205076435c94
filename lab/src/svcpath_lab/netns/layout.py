"""Addresses, names and routes of a lab, computed from what was asked for; nothing here touches the machine.

Everything lives inside the lab's own namespaces, so every lab can use the same addresses. The ranges are those of the
kubeadm world (Pods 10.244.0.0/16, Services 10.96.0.0/16) and unique local ones (RFC 4193) for IPv6.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from svcpath.errors import UsageError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

FAMILIES = {"ipv4": (4,), "ipv6": (6,), "dual": (4, 6)}
PROXY_MODES = ("iptables", "nftables")

_WIRE: dict[int, Network] = {4: ipaddress.ip_network("172.30.0.0/24"), 6: ipaddress.ip_network("fd00:30::/64")}
_PODS: dict[int, Network] = {4: ipaddress.ip_network("10.244.0.0/16"), 6: ipaddress.ip_network("fd00:244::/56")}
_SERVICES: dict[int, Network] = {4: ipaddress.ip_network("10.96.0.0/16"), 6: ipaddress.ip_network("fd00:96::/112")}
_NODE_PREFIX = {4: 24, 6: 64}
MAX_NODES = 9


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node: its name, its addresses on the wire and its Pod ranges, one of each per IP family."""

    name: str
    control_plane: bool
    addresses: tuple[Address, ...]
    pod_ranges: tuple[Network, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole lab. Tuples "per family" are in the order of ``versions`` (4, 6, or 4 then 6)."""

    versions: tuple[int, ...]
    nodes: tuple[NodePlan, ...]
    gateway: tuple[Address, ...]
    pod_ranges: tuple[Network, ...]
    service_ranges: tuple[Network, ...]

    @property
    def control_plane(self) -> NodePlan:
        return self.nodes[0]

    @property
    def workers(self) -> tuple[NodePlan, ...]:
        """The nodes that take Pods: all but the control plane, or the control plane alone where there is no other."""
        return self.nodes[1:] or self.nodes

    @property
    def dns_address(self) -> Address:
        """The cluster IP of kube-dns: the tenth address of the first Service range, as kubeadm has it."""
        return self.service_ranges[0].network_address + 10

    @property
    def api_service_address(self) -> Address:
        return self.service_ranges[0].network_address + 1

    def node(self, name: str) -> NodePlan:
        for node in self.nodes:
            if node.name == name:
                return node
        raise UsageError(f"no node {name!r} in this lab; there are {', '.join(node.name for node in self.nodes)}")

    def wire_prefix(self, address: Address) -> int:
        return _WIRE[address.version].prefixlen


def layout(nodes: int, ip_family: str) -> Layout:
    """Plan a lab of ``nodes`` nodes, the first of which is the control plane."""
    if ip_family not in FAMILIES:
        raise UsageError(f"ip family {ip_family!r}: one of {', '.join(FAMILIES)}")
    if not 1 <= nodes <= MAX_NODES:
        raise UsageError(f"{nodes} nodes: a lab has 1 to {MAX_NODES}")
    versions = FAMILIES[ip_family]
    names = ["cp", *(f"w{number}" for number in range(1, nodes))]
    return Layout(
        versions=versions,
        nodes=tuple(
            NodePlan(
                name=name,
                control_plane=index == 0,
                addresses=tuple(_WIRE[version].network_address + 11 + index for version in versions),
                pod_ranges=tuple(_pod_range(version, index) for version in versions),
            )
            for index, name in enumerate(names)
        ),
        gateway=tuple(_WIRE[version].network_address + 1 for version in versions),
        pod_ranges=tuple(_PODS[version] for version in versions),
        service_ranges=tuple(_SERVICES[version] for version in versions),
    )


def url_host(address: Address) -> str:
    """An address as the host of a URL: IPv6 in brackets."""
    return f"[{address}]" if address.version == 6 else str(address)


def _pod_range(version: int, index: int) -> Network:
    whole = _PODS[version]
    size = 2 ** (whole.max_prefixlen - _NODE_PREFIX[version])
    return ipaddress.ip_network((whole.network_address + index * size, _NODE_PREFIX[version]))
