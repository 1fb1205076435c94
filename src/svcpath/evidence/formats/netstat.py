"""Sockets as netstat(8) of net-tools and busybox print them: -lnt, -lntup, -ant.

``:::PORT`` is an IPv6 wildcard; netstat does not tell whether it takes IPv4 too.
"""

from __future__ import annotations

import ipaddress
import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.sockets import Socket, SocketTable
from svcpath.evidence.formats.item import Item, not_understood
from svcpath.evidence.formats.text import Text

_HEADER = re.compile(r"Proto\s+Recv-Q\s+Send-Q\s+Local Address\s+Foreign Address")
_ROW = re.compile(
    r"(tcp|udp|sctp)(6?)\s+\d+\s+\d+\s+(\S+):(\d+|\*)\s+(\S+):(\d+|\*)(?:\s+([A-Z][A-Z_0-9]+))?(?:\s+\d+/(\S+)|\s+-)?.*"
)


def is_netstat(text: Text) -> bool:
    return any(_HEADER.match(line) for line in text.lines[:10])


def read_netstat(text: Text) -> list[Item]:
    sockets: list[Socket] = []
    bad: list[int] = []
    for number, line in enumerate(text.lines, 1):
        if not line.strip() or _HEADER.match(line) or line.startswith(("Active ", "unix ", "RefCnt")):
            continue
        socket = _socket(line, number)
        if socket is None:
            bad.append(number)
        else:
            sockets.append(socket)
    listening = {socket.protocol.lower() for socket in sockets if socket.state in ("LISTEN", "UNCONN")}
    covers = frozenset(name for protocol in listening & {"tcp", "udp"} for name in (protocol, f"{protocol}6"))
    table = SocketTable(sockets=tuple(sockets), covers=covers)
    return [Item(Kind.SOCKETS, table), *not_understood("netstat", bad, len(sockets))]


def _socket(line: str, number: int) -> Socket | None:
    match = _ROW.fullmatch(line.rstrip())
    if match is None:
        return None
    protocol, six, local, local_port, remote, remote_port, state, process = match.groups()
    try:
        local_address, remote_address = (str(ipaddress.ip_address(word.strip("[]"))) for word in (local, remote))
    except ValueError:
        return None
    return Socket(
        protocol=protocol.upper(),
        family=6 if six or ":" in local_address else 4,
        local_address=local_address,
        local_port=_port(local_port),
        remote_address=remote_address,
        remote_port=_port(remote_port),
        state=state or ("UNCONN" if protocol == "udp" else ""),
        process=process or "",
        line=number,
    )


def _port(word: str) -> int:
    return 0 if word == "*" else min(int(word[:6]), 65535)
