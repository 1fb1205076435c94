"""What a NAT dump says: frontends with their flags and source prefixes, and the backends by service and ordinal."""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.ruleset import address_value, prefix_value
from svcpath.models.dataplanes.table import ANY_IPV4, ANY_IPV6, Backend, Frontend, NotUnderstood

PROTOCOLS = {6: "TCP", 17: "UDP", 132: "SCTP"}
_WILDCARDS = {"255.255.255.255": ANY_IPV4, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": ANY_IPV6}


class Head(msgspec.Struct, frozen=True):
    """One entry of the frontend map; ``sources`` is the prefix that it is for, "" for every source."""

    frontend: Frontend
    id: int
    count: int
    local: int
    flags: frozenset[str]
    sources: str
    line: int


class NatMaps:
    """``slots`` are backends by service id and ordinal, None for one that is missing; ``unread`` the lines that were not
    understood, by the id of the service they stand under where they stand under one."""

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self.slots: dict[tuple[int, int], tuple[Backend | None, int]] = {}
        self.unread: list[tuple[int | None, NotUnderstood]] = []

    def not_understood(self, number: int, text: str) -> None:
        """A line that stands under the frontend read last, or above all of them."""
        head = self.heads[-1] if self.heads else None
        where = str(head.frontend) if head is not None else ""
        self.unread.append((head.id if head is not None else None, NotUnderstood(number, text, where)))


def frontend_of(address: str, port: int, protocol: int) -> Frontend | None:
    if protocol not in PROTOCOLS or address_value(address) is None or not 0 < port < 65536:
        return None
    address = text_form(address)
    return Frontend(_WILDCARDS.get(address, address), PROTOCOLS[protocol], port)


def flags_of(text: str) -> frozenset[str]:
    """``external-local``; ``, internal-local``; ``external-local, internal-local``: felix/bpf/nat/maps.go puts a comma for
    every bit that it passes (FlagsAsString)."""
    return frozenset(part.strip() for part in text.split(",")) - {""}


def sources_of(text: str) -> str | None:
    """A source prefix; "" for the one that holds every address, None for what is none."""
    if not text:
        return ""
    span = prefix_value(text)
    if span is None:
        return None
    return "" if text.endswith("/0") else text


def address_of(text: str) -> Backend | None:
    """``10.244.1.71:80`` and the older ``10.244.1.71 : 80``"""
    host, colon, port = text.rpartition(":")
    host, port = host.strip().removeprefix("[").removesuffix("]"), port.strip()
    if not colon or not port.isdecimal() or int(port) > 65535 or address_value(host) is None:
        return None
    return Backend(text_form(host), int(port))
