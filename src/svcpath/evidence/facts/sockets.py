"""Sockets of a network namespace, as /proc/net/{tcp,tcp6,udp,udp6} or ss show them."""

from __future__ import annotations

import msgspec


class Socket(msgspec.Struct, frozen=True, kw_only=True):
    """``protocol`` TCP or UDP (also SCTP); addresses in their canonical text form ("0.0.0.0", "::" are wildcards).

    ``family`` is 4 or 6 as the table that held it; ``dual_stack`` is true for a wildcard that also takes the other
    family (ss shows it as ``*``), false for v6only, None when the table does not say (/proc/net/tcp6 does not: a ``::``
    listener takes IPv4 too unless IPV6_V6ONLY is set). ``state`` is the kernel's name: LISTEN, ESTABLISHED, TIME_WAIT,
    ... and UNCONN for an unconnected UDP socket.
    """

    protocol: str
    family: int
    local_address: str
    local_port: int
    remote_address: str = ""
    remote_port: int = 0
    state: str = ""
    process: str = ""
    dual_stack: bool | None = None
    line: int = 0


class SocketTable(msgspec.Struct, frozen=True, kw_only=True):
    """``covers`` says which tables were looked at, of tcp, tcp6, udp, udp6: only these can prove absence.

    An ss listing with -l -n -t covers tcp and tcp6, with -u udp and udp6.
    """

    sockets: tuple[Socket, ...]
    covers: frozenset[str]
