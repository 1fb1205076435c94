"""What a finding about sockets shows: the chain to the port with its evidence, and the command that looks at it again."""

from __future__ import annotations

import ipaddress

from svcpath.evidence.facts.kubernetes import ServicePort
from svcpath.evidence.facts.sockets import SocketTable
from svcpath.findings.finding import Evidence
from svcpath.plural import count
from svcpath.walk.scene import Scene, host_port
from svcpath.walk.subjects.sockets import Link, is_open


def evidence(view: Scene, port: ServicePort, bad: list[Link]) -> tuple[Evidence, ...]:
    target = f" -> targetPort {port.target_port}" if port.target_port is not None else ""
    evidence = []
    if view.service is not None:
        evidence.append(Evidence(f"Service {view.named}: port {port.port}{target}", view.service_observation))
    seen: set[str] = set()
    for link in bad:
        if link.endpoint.slice.name not in seen:
            seen.add(link.endpoint.slice.name)
            size = count(len(link.endpoint.slice.endpoints or ()), "endpoint")
            evidence.append(
                Evidence(
                    f"EndpointSlice {link.endpoint.slice.name}: {link.port}/{link.protocol}, {size}",
                    link.endpoint.observation,
                )
            )
    for link in bad[:3]:
        for table in link.observations[:2]:
            evidence.append(Evidence(f"{link.endpoint.who} {_listens(table.fact, link.protocol)}", table))
    return tuple(evidence)


def _listens(table: SocketTable, protocol: str) -> str:
    places = sorted(
        {
            host_port(socket.local_address, socket.local_port)
            for socket in table.sockets
            if socket.protocol == protocol and is_open(socket)
        }
    )
    which = ", ".join(sorted(table.covers))
    return f"listens on {', '.join(places[:5])} only ({which})" if places else f"listens nowhere ({which})"


def disproof(view: Scene, link: Link) -> dict[str, object]:
    family = link.endpoint.family or 4
    tables = {
        ("TCP", 4): "/proc/net/tcp /proc/net/tcp6",
        ("TCP", 6): "/proc/net/tcp6",
        ("UDP", 4): "/proc/net/udp /proc/net/udp6",
        ("UDP", 6): "/proc/net/udp6",
    }
    return {
        "namespace": link.endpoint.slice.namespace or view.request.namespace,
        "pod": link.endpoint.who,
        "port_hex": f"{link.port:04X}",
        "raw_reach": _reach_hex(link.endpoint.address),
        "state_hex": "0A" if link.protocol == "TCP" else "07",
        "raw_tables": tables.get((link.protocol, family), "/proc/net/tcp /proc/net/tcp6"),
    }


def _reach_hex(address: str) -> str:
    """A pattern for the local addresses that take a connection to ``address``, as /proc/net prints them."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "(0{8}|0{32})"
    raw = parsed.packed
    words = "".join(raw[i : i + 4][::-1].hex().upper() for i in range(0, len(raw), 4))
    wildcards = "0" * 32 if parsed.version == 6 else "0{8}|0{32}"
    return f"({wildcards}|{words})"
