"""`ipvsadm -Lcn`: the connections of IPVS and the templates that pin a client to a server.

Format: ipvsadm.c (print_conn_entry) of ipvsadm 1.27 to 1.31.
"""

from __future__ import annotations

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.ipvs.addresses import PROTOCOLS, plain
from svcpath.models.dataplanes.table import Backend, Frontend, NotUnderstood


class IpvsConnection(msgspec.Struct, frozen=True, kw_only=True):
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


def connections(text: str) -> tuple[tuple[IpvsConnection, ...], tuple[NotUnderstood, ...]]:
    """Read `ipvsadm -Lcn`: the connections, and the lines that are none.

    Raises FormatError when there is neither the header nor any connection.
    """
    connections: list[IpvsConnection] = []
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
            connections.append(found)
    if not connections and not header:
        raise FormatError("not the output of ipvsadm -Lcn", line=1)
    return tuple(connections), tuple(not_understood)


def _connection(words: list[str], line: int) -> IpvsConnection | None:
    """``TCP 14:59 ESTABLISHED client virtual destination``"""
    if len(words) < 6 or words[0] not in (*PROTOCOLS, "IP"):
        return None
    source, virtual, destination = (plain(word) for word in words[3:6])
    minutes, colon, rest = words[1].partition(":")
    if source is None or virtual is None or destination is None or not colon:
        return None
    if not (minutes.isdecimal() and rest.isdecimal()):
        return None
    protocol = "TCP" if words[0] == "IP" else words[0]
    return IpvsConnection(
        protocol=protocol,
        expire=int(minutes) * 60 + int(rest),
        state=words[2],
        source=source.address,
        source_port=source.port,
        frontend=Frontend(virtual.address, protocol, virtual.port),
        backend=destination,
        line=line,
    )
