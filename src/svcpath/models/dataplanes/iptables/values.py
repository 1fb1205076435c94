"""Addresses, ports, marks and probabilities as iptables prints them, and the exception of what is not understood.

Spelling: the ``print`` and ``save`` functions of libxtables/xtables.c and extensions/libxt_{mark,multiport,iprange,
statistic}.c (iptables 1.6 to 1.8).
"""

from __future__ import annotations

from functools import lru_cache

from svcpath.models.dataplanes.ruleset import Match, prefix_value

PROTOCOLS = {name: Match("protocol", (name,)) for name in ("tcp", "udp", "sctp")}


class UnknownOption(Exception):
    """The rule holds something that is not understood; the text is the rule's."""


@lru_cache(maxsize=4096)
def probability(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def prefixes(value: str, line: str) -> str | tuple[str, ...]:
    """One prefix, address or range as it stands, or all of a list."""
    parts = tuple(value.split(","))
    for part in parts:
        if prefix_value(part) is None:
            raise UnknownOption(line)
    return parts[0] if len(parts) == 1 else parts


def ports(value: str, line: str) -> tuple[tuple[int, int], ...]:
    """(low, high) of each part of ``80,8000:8080,:1023``."""
    ranges = []
    for part in value.split(","):
        low, colon, high = part.partition(":")
        if not colon:
            high = low
        low, high = low or "0", high or "65535"
        if not (low.isdecimal() and high.isdecimal()):
            raise UnknownOption(line)
        ranges.append((int(low), int(high)))
    return tuple(ranges)


def mark(value: str, line: str) -> tuple[int, int]:
    """(value, mask) of ``0x4000/0x4000``; without a mask all bits count."""
    number, slash, mask = value.partition("/")
    try:
        return int(number, 0), int(mask, 0) if slash else 0xFFFFFFFF
    except ValueError:
        raise UnknownOption(line) from None
