"""Sockets from /proc/net/tcp, tcp6, udp, udp6 (net/ipv4/tcp_ipv4.c, net/ipv6/tcp_ipv6.c, net/ipv4/udp.c).

Addresses are the kernel's words in the byte order of the machine that wrote them; every Kubernetes node of note is
little-endian, and so they are read. Several tables in one file (`cat /proc/net/tcp /proc/net/tcp6`) part at their
header lines; one whose end is missing proves no absence. tcp and udp tables look alike but for their last header columns (``ref pointer drops``), and in the
states: a table without those columns whose states fit no TCP listing is UDP. Rows without any header may be what a filter let
through and cover no table.
"""

from __future__ import annotations

import functools
import ipaddress
import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.sockets import Socket, SocketTable
from svcpath.evidence.formats.item import Item, damaged, not_understood
from svcpath.evidence.formats.text import Text

_HEADER = re.compile(r"\s*sl\s+local_address\s+(rem_address|remote_address)\s+st\b(.*)")
_ROW = re.compile(
    r"\s*\d+: ([0-9A-Fa-f]{8}|[0-9A-Fa-f]{32}):([0-9A-Fa-f]{4}) ([0-9A-Fa-f]{8}|[0-9A-Fa-f]{32}):([0-9A-Fa-f]{4})"
    r" ([0-9A-Fa-f]{2})(?:\s|$)"
)
_STATES = {
    1: "ESTABLISHED",
    2: "SYN_SENT",
    3: "SYN_RECV",
    4: "FIN_WAIT1",
    5: "FIN_WAIT2",
    6: "TIME_WAIT",
    7: "CLOSE",
    8: "CLOSE_WAIT",
    9: "LAST_ACK",
    10: "LISTEN",
    11: "CLOSING",
    12: "NEW_SYN_RECV",
}


def is_procnet(text: Text) -> bool:
    if any(_HEADER.match(line) for line in text.lines[:40]):
        return True
    return bool(text.sample) and all(_ROW.match(line) for line in text.sample)


@functools.lru_cache(maxsize=65536)
def address(word: str) -> str:
    """Canonical text of an address in the kernel's hexadecimal words."""
    raw = b"".join(bytes.fromhex(word[start : start + 8])[::-1] for start in range(0, len(word), 8))
    value = ipaddress.ip_address(raw)
    if isinstance(value, ipaddress.IPv6Address) and value.ipv4_mapped:
        return str(value.ipv4_mapped)
    return str(value)


def read_procnet(text: Text) -> list[Item]:
    tables: list[tuple[str, list[tuple[int, re.Match[str]]]]] = []
    bad: list[int] = []
    for number, line in enumerate(text.lines, 1):
        header = _HEADER.match(line)
        row = _ROW.match(line)
        if header:
            six = header.group(1) == "remote_address"
            kind = "udp" if "drops" in header.group(2) else "tcp"
            tables.append((kind + ("6" if six else ""), []))
        elif row:
            if not tables:
                tables.append(("tcp6" if len(row.group(1)) == 32 else "tcp", []))
            tables[-1][1].append((number, row))
        elif line.strip():
            bad.append(number)
    cut = _cut(text)
    sockets: list[Socket] = []
    covers: set[str] = set()
    whole = any(_HEADER.match(line) for line in text.lines)
    for table, rows in tables:
        name = _protocol(table, [int(row.group(5), 16) for _, row in rows])
        if whole and not (cut and rows is tables[-1][1]):
            covers.add(name)
        sockets.extend(_socket(name, number, row) for number, row in rows)
    return [
        Item(Kind.SOCKETS, SocketTable(sockets=tuple(sockets), covers=frozenset(covers))),
        *not_understood("/proc/net sockets", bad, len(sockets)),
        *(
            [damaged("/proc/net sockets", "the last line is cut off", line=len(text.lines), read="the rest")]
            if cut
            else []
        ),
    ]


def _cut(text: Text) -> bool:
    """The last line breaks off: a header without its last column, a row with fewer columns than any kernel writes, or
    the bare beginning of a row that nothing ends."""
    last = next((line for line in reversed(text.lines) if line.strip()), "")
    header = _HEADER.match(last)
    if header:
        # The kernel pads the line and ends it; a cut within the padding shows by the missing end alone.
        return "inode" not in header.group(2) or not text.text.endswith("\n")
    if _ROW.match(last):
        return len(last.split()) < 10
    return bool(re.match(r"\s*\d+:\s", last)) or not text.text.endswith("\n")


def _protocol(table: str, states: list[int]) -> str:
    # UDP knows CLOSE (unconnected) and ESTABLISHED only; a closed TCP socket is in no table.
    if table.startswith("tcp") and 7 in states and set(states) <= {1, 7}:
        return table.replace("tcp", "udp")
    return table


def _socket(table: str, line: int, row: re.Match[str]) -> Socket:
    local, local_port, remote, remote_port, state = row.groups()
    code = int(state, 16)
    udp = table.startswith("udp")
    return Socket(
        protocol="UDP" if udp else "TCP",
        family=6 if len(local) == 32 else 4,
        local_address=address(local),
        local_port=int(local_port, 16),
        remote_address=address(remote),
        remote_port=int(remote_port, 16),
        state="UNCONN" if udp and code == 7 else _STATES.get(code, f"0x{code:02X}"),
        line=line,
    )
