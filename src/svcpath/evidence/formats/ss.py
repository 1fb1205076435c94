"""Sockets as ss(8) prints them: -lnt, -lntup, -tno, with or without header, and with or without Netid and State.

iproute2 misc/ss.c: ``*:PORT`` is an IPv6 wildcard that takes IPv4 too, ``[::]:PORT`` one that does not; a filter on
one state hides the State column, a single table the Netid column.
"""

from __future__ import annotations

import ipaddress
import re

import msgspec

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.sockets import Socket, SocketTable
from svcpath.evidence.formats.item import Item, not_understood
from svcpath.evidence.formats.text import Text

_HEADER = re.compile(r"\s*(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s+Local Address:\s*Port\s+Peer Address:\s*Port")
_STATES = {
    "LISTEN": "LISTEN",
    "ESTAB": "ESTABLISHED",
    "SYN-SENT": "SYN_SENT",
    "SYN-RECV": "SYN_RECV",
    "FIN-WAIT-1": "FIN_WAIT1",
    "FIN-WAIT-2": "FIN_WAIT2",
    "TIME-WAIT": "TIME_WAIT",
    "UNCONN": "UNCONN",
    "CLOSE-WAIT": "CLOSE_WAIT",
    "LAST-ACK": "LAST_ACK",
    "CLOSING": "CLOSING",
}
_NETIDS = {"tcp": "TCP", "udp": "UDP", "sctp": "SCTP", "mptcp": "TCP"}
_OTHER_NETIDS = frozenset(
    ["nl", "raw", "icmp6", "p_raw", "p_dgr", "u_str", "u_seq", "u_dgr", "ti_sk", "dccp", "v_str", "v_dgr", "xdp", "???"]
)
_ENDPOINT = re.compile(r"(\[[^\]]*\]|\*|[0-9A-Fa-f.:]+?)(%[\w.@-]+)?:(\*|\d+)")
_PROCESS = re.compile(r'users:\(\("([^"]*)"')


class _Row(msgspec.Struct, frozen=True):
    netid: str
    state: str
    local: re.Match[str]
    peer: re.Match[str]
    process: str
    line: int


def is_ss(text: Text) -> bool:
    if any(_HEADER.match(line) for line in text.lines[:20]):
        return True
    lines = [line for line in text.sample if not _HEADER.match(line)]
    rows = [_row(line, 0) for line in lines]
    return bool(rows) and all(row is not None and row.state for row in rows)


def read_ss(text: Text) -> list[Item]:
    rows: list[_Row] = []
    bad: list[int] = []
    for number, line in enumerate(text.lines, 1):
        words = line.split()
        if not words or _HEADER.match(line) or words[0] in _OTHER_NETIDS or _continues(line):
            continue
        row = _row(line, number)
        if row is None:
            bad.append(number)
        else:
            rows.append(row)
    whole = any(_HEADER.match(line) for line in text.lines[:20])
    listing_only = bool(rows) and all(row.state in ("LISTEN", "UNCONN", "") for row in rows)
    sockets = tuple(_socket(row, listing_only) for row in rows)
    covers = frozenset(_covers(sockets, whole))
    return [Item(Kind.SOCKETS, SocketTable(sockets=sockets, covers=covers)), *not_understood("ss", bad, len(sockets))]


def _continues(line: str) -> bool:
    """Details of the socket above (ss -i, -m, -e wrap onto an indented line)."""
    return line[:1] in (" ", "\t") and re.search(r"\b(cubic|reno|bbr|skmem:|rto:|wscale:|ino:|sk:)", line) is not None


def _covers(sockets: tuple[Socket, ...], whole: bool) -> set[str]:
    """Tables whose listeners are all here: those with a listening row, in a listing that still has its header.

    Without -l or -a ss shows no listener at all, and rows without a header may be what a filter let through: such a
    table proves what it shows and nothing else.
    """
    listening = {socket.protocol for socket in sockets if socket.state in ("LISTEN", "UNCONN")} if whole else set()
    covers: set[str] = set()
    if "TCP" in listening:
        covers |= {"tcp", "tcp6"}
    if "UDP" in listening:
        covers |= {"udp", "udp6"}
    return covers


def _row(line: str, number: int) -> _Row | None:
    words = line.split()
    netid = ""
    if words and (words[0] in _NETIDS):
        netid = words.pop(0)
    state = ""
    if words and words[0] in _STATES:
        state = words.pop(0)
    if len(words) < 4 or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    local, peer = _ENDPOINT.fullmatch(words[2]), _ENDPOINT.fullmatch(words[3])
    if local is None or peer is None:
        return None
    process = _PROCESS.search(line)
    return _Row(netid, state, local, peer, process.group(1) if process else "", number)


def _socket(row: _Row, listing_only: bool) -> Socket:
    protocol = _NETIDS.get(row.netid, "UDP" if row.state == "UNCONN" else "TCP")
    state = _STATES.get(row.state, "")
    if not state:
        # `ss -lnt state listening` prints no State column
        state = "LISTEN" if listing_only and row.peer.group(3) == "*" else "ESTABLISHED"
    local, family, dual = _address(row.local.group(1))
    remote, _, _ = _address(row.peer.group(1))
    return Socket(
        protocol=protocol,
        family=family,
        local_address=local,
        local_port=_port(row.local.group(3)),
        remote_address=remote,
        remote_port=_port(row.peer.group(3)),
        state=state,
        process=row.process,
        dual_stack=dual,
        line=row.line,
    )


def _port(word: str) -> int:
    return 0 if word == "*" else min(int(word[:6]), 65535)


def _address(word: str) -> tuple[str, int, bool | None]:
    """Canonical address, family, and whether it is a wildcard for both families."""
    if word == "*":
        return "::", 6, True
    try:
        value = ipaddress.ip_address(word.strip("[]"))
    except ValueError:
        return word.strip("[]"), 6 if ":" in word else 4, None
    if isinstance(value, ipaddress.IPv6Address):
        if value.ipv4_mapped:
            return str(value.ipv4_mapped), 6, None
        # Versions that print brackets print * for the dual-stack wildcard; older ones print ::: for both.
        return str(value), 6, False if value.is_unspecified and word.startswith("[") else None
    return str(value), 4, None
