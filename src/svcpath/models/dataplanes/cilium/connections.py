"""`cilium-dbg bpf ct list`: the connection tracking map, in which a connection stays with the backend it began with."""

from __future__ import annotations

import re

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.cilium.addresses import address_of
from svcpath.models.dataplanes.table import NotUnderstood

_CT_LINE = re.compile(r"(TCP|UDP|SCTP|ICMP|ICMPv6) (IN|OUT|RELATED|SVC)\b\s+(\S+) -> (\S+)(.*)$", re.IGNORECASE)
_CT_FIELD = re.compile(r"(\w+)=(\S+)")


class CtEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the connection tracking map; ``backend_id`` 0 for one that names no backend."""

    protocol: str
    direction: str
    source: str
    source_port: int
    destination: str
    destination_port: int
    service: bool
    backend_id: int
    rev_nat: int
    text: str
    line: int


def ct_entries(text: str) -> tuple[tuple[CtEntry, ...], tuple[NotUnderstood, ...]]:
    """Read `bpf ct list`. Entries of protocols without ports are left out."""
    entries: list[CtEntry] = []
    not_understood: list[NotUnderstood] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped:
            continue
        found = _CT_LINE.match(stripped)
        if found is None:
            not_understood.append(NotUnderstood(number, stripped))
            continue
        protocol, direction, left, right, rest = found.groups()
        source, destination = address_of(left), address_of(right)
        if protocol.upper().startswith("ICMP"):
            continue
        if source is None or destination is None:
            not_understood.append(NotUnderstood(number, stripped))
            continue
        fields = dict(_CT_FIELD.findall(rest))
        entries.append(
            CtEntry(
                protocol=protocol.upper(),
                direction=direction.upper(),
                source=source.address,
                source_port=source.port,
                destination=destination.address,
                destination_port=destination.port,
                service=direction.upper() == "SVC" or " service " in f"{rest} ",
                backend_id=_number(fields.get("BackendID", "0")),
                rev_nat=_number(fields.get("RevNAT", "0")),
                text=stripped,
                line=number,
            )
        )
    if not entries and not_understood:
        raise FormatError("not the output of cilium-dbg bpf ct list", line=not_understood[0].line)
    return tuple(entries), tuple(not_understood)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
