"""IPVS: /proc/net/ip_vs and ipvsadm -Ln to a ServiceTable, ipvsadm -Lcn to connections, ipset to sets.

Formats: net/netfilter/ipvs/ip_vs_ctl.c (ip_vs_info_seq_show, addresses in hex) and ipvsadm.c (print_service_and_dests,
print_conn_entry). A real server of weight 0 gets no new connection and keeps the old ones (kube-proxy's graceful
termination); a virtual server without real servers answers with port unreachable (ip_vs_leave).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.ruleset import address_value, canonical
from svcpath.models.dataplanes.table import (
    Backend,
    Dialect,
    Entry,
    Frontend,
    NotUnderstood,
    Outcome,
    ServiceTable,
    Verdict,
)
from svcpath.models.dataplanes.table import Share as _Share

_HEADERS = ("IP Virtual Server version", "Prot LocalAddress:Port", "-> RemoteAddress:Port")
_PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
_HEX_IPV4 = re.compile(r"([0-9A-Fa-f]{8}):([0-9A-Fa-f]{4})")
_HEX_IPV6 = re.compile(r"\[([0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){7})\]:([0-9A-Fa-f]{4})")
_WEIGHTED = frozenset({"wrr", "wlc"})


class RealServer(NamedTuple):
    backend: Backend
    forward: str
    weight: int
    active: int
    inactive: int
    line: int


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ipvsadm -Lcn. ``template`` is a persistence template (source port 0 or state NONE/ASSURED of such);
    ``expire`` seconds left."""

    protocol: str
    expire: int
    state: str
    source: str
    source_port: int
    frontend: Frontend
    backend: Backend
    line: int

    @property
    def template(self) -> bool:
        return self.source_port == 0


def parse(text: str, *, node: str = "", node_addresses: frozenset[str] = frozenset(), source: str = "") -> ServiceTable:
    """Read /proc/net/ip_vs or `ipvsadm -Ln`; which of the two the addresses tell.

    Raises FormatError when no line is of either.
    """
    frontends: dict[Frontend, Entry] = {}
    not_understood: list[NotUnderstood] = []
    current: tuple[Frontend, str, int | None, int] | None = None
    servers: list[RealServer] = []
    recognised = False
    families: set[int] = {4}

    def close() -> None:
        if current is not None:
            frontends[current[0]] = _entry(current, servers)

    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped:
            continue
        if stripped.startswith(_HEADERS):
            recognised = True
            continue
        words = stripped.split()
        if words[0] == "->":
            server = _real_server(words, number)
            if server is None or (current is None and servers != []):
                not_understood.append(NotUnderstood(number, stripped))
            elif current is not None:
                servers.append(server)
            continue
        if words[0] not in _PROTOCOLS and words[0] != "FWM":
            not_understood.append(NotUnderstood(number, stripped))
            continue
        close()
        current, servers = None, []
        if words[0] == "FWM":
            recognised = True
            continue
        place = _address(words[1]) if len(words) > 2 else None
        if place is None:
            not_understood.append(NotUnderstood(number, stripped))
            continue
        recognised = True
        affinity = _persistence(words)
        if affinity is _BAD:
            not_understood.append(NotUnderstood(number, stripped))
            affinity = None
        families.add(6 if ":" in place.address else 4)
        current = Frontend(place.address, words[0], place.port), words[2], affinity, number
    close()
    if not recognised:
        raise FormatError("neither /proc/net/ip_vs nor ipvsadm -Ln: no virtual server in it", line=1)
    return ServiceTable(
        dialect=Dialect.IPVS,
        frontends=frontends,
        node=node,
        node_addresses=node_addresses,
        not_understood=tuple(not_understood),
        source=source,
        families=frozenset(families),
    )


_BAD = -2


def _persistence(words: list[str]) -> int | None:
    if "persistent" not in words:
        return None
    place = words.index("persistent") + 1
    return int(words[place]) if place < len(words) and words[place].isdecimal() else _BAD


def _entry(head: tuple[Frontend, str, int | None, int], servers: list[RealServer]) -> Entry:
    _, scheduler, affinity, line = head
    taking = [server for server in servers if server.weight > 0]
    total = sum(server.weight for server in taking)
    shares = tuple(
        _Share(
            server.backend,
            Fraction(server.weight, total) if scheduler in _WEIGHTED else Fraction(1, len(taking)),
            server.line,
        )
        for server in taking
    )
    outcome = Outcome(
        verdict=Verdict.BACKENDS if shares else Verdict.REJECT if not servers else Verdict.DROP,
        backends=shares,
        affinity=affinity,
    )
    return Entry(
        target=scheduler,
        lines=(line, *(server.line for server in servers)),
        outcome=outcome,
        facts={"servers": tuple(servers)},
    )


def _real_server(words: list[str], line: int) -> RealServer | None:
    """``-> address forward weight active inactive``"""
    place = _address(words[1]) if len(words) >= 6 else None
    if place is None or not all(word.isdecimal() for word in words[3:6]):
        return None
    return RealServer(place, words[2], int(words[3]), int(words[4]), int(words[5]), line)


def _address(text: str) -> Backend | None:
    """Hex as the kernel prints it, or text as ipvsadm does."""
    found = _HEX_IPV4.fullmatch(text)
    if found is not None:
        number = int(found.group(1), 16)
        return Backend(".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0)), int(found.group(2), 16))
    found = _HEX_IPV6.fullmatch(text)
    if found is not None:
        return Backend(canonical(found.group(1)), int(found.group(2), 16))
    return _plain(text)


def _plain(text: str) -> Backend | None:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isdecimal() or int(port) > 65535 or address_value(host) is None:
        return None
    return Backend(canonical(host), int(port))


def connections(text: str) -> tuple[tuple[Connection, ...], tuple[NotUnderstood, ...]]:
    """Read `ipvsadm -Lcn`: the connections, and the lines that are none.

    Raises FormatError when there is neither the header nor any connection.
    """
    held: list[Connection] = []
    not_understood: list[NotUnderstood] = []
    header = False
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words:
            continue
        if line.startswith(("IPVS connection entries", "pro expire")):
            header = True
            continue
        found = _connection(words, number)
        if found is None:
            not_understood.append(NotUnderstood(number, line.strip()))
        else:
            held.append(found)
    if not held and not header:
        raise FormatError("not the output of ipvsadm -Lcn", line=1)
    return tuple(held), tuple(not_understood)


def _connection(words: list[str], line: int) -> Connection | None:
    """``TCP 14:59 ESTABLISHED client virtual destination``"""
    if len(words) < 6 or words[0] not in (*_PROTOCOLS, "IP"):
        return None
    source, virtual, destination = (_plain(word) for word in words[3:6])
    minutes, colon, rest = words[1].partition(":")
    if source is None or virtual is None or destination is None or not colon:
        return None
    if not (minutes.isdecimal() and rest.isdecimal()):
        return None
    protocol = "TCP" if words[0] == "IP" else words[0]
    return Connection(
        protocol=protocol,
        expire=int(minutes) * 60 + int(rest),
        state=words[2],
        source=source.address,
        source_port=source.port,
        frontend=Frontend(virtual.address, protocol, virtual.port),
        backend=destination,
        line=line,
    )


def ipsets(text: str) -> dict[str, frozenset[str]]:
    """Read `ipset list` or `ipset save`: set name to its members as printed."""
    held: dict[str, set[str]] = {}
    name = ""
    members = False
    for line in text.split("\n"):
        words = line.split()
        if line.startswith("Name: ") and len(words) > 1:
            name, members = words[1], False
            held.setdefault(name, set())
        elif line.startswith("Members:"):
            members = True
        elif len(words) >= 3 and words[0] == "add":
            held.setdefault(words[1], set()).add(words[2])
        elif len(words) >= 2 and words[0] == "create":
            held.setdefault(words[1], set())
        elif members and words and name:
            held[name].add(words[0])
    if not held:
        raise FormatError("no set in it: give the output of ipset list or ipset save", line=1)
    return {key: frozenset(value) for key, value in held.items()}


def ipset_frontends(sets: dict[str, frozenset[str]], name: str) -> Iterator[Frontend]:
    """Members such as ``10.96.0.10,udp:53`` of kube-proxy's hash:ip,port sets (KUBE-CLUSTER-IP, ...)."""
    for member in sorted(sets.get(name, ())):
        address, _, rest = member.partition(",")
        protocol, _, port = rest.partition(",")[0].partition(":")
        if address_value(address) is not None and port.isdecimal():
            yield Frontend(canonical(address), protocol.upper(), int(port))
