"""Addresses as text, each in one form, so that equal addresses are equal strings.

``text_form`` is RFC 5952's canonical text of the address as it was written: family and zone stay. ``canonical`` is the address
that it stands for, to compare by: an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) is the IPv4 address, as for a socket of both
families, whose kernel sends IPv4 for it. Facts and rules keep ``text_form``, since a resolver's answer and a rule of an
IPv6 table are IPv6 also where they hold a mapped address: an IPv4 packet never meets that rule. What is compared with
Services, slices and Pods is ``canonical``.
"""

from __future__ import annotations

import functools
import ipaddress
import re

_NUMBER = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#: Four numbers up to 255 without a leading zero: such an address is in its one form already.
_PLAIN = re.compile(rf"(?:{_NUMBER}\.){{3}}{_NUMBER}")


@functools.lru_cache(maxsize=65536)
def address_of(text: str) -> str:
    """The text form of an address; "" for what is none."""
    if _PLAIN.fullmatch(text):
        return text
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""


def text_form(text: str) -> str:
    """The text form of an address; what is none stays as it is."""
    return address_of(text) or text


@functools.lru_cache(maxsize=65536)
def canonical(address: str) -> str:
    """The address that a text stands for, IPv4 where it is an IPv4-mapped one; what is no address stays as it is."""
    found = address_of(address)
    mapped = ipaddress.IPv6Address(found).ipv4_mapped if ":" in found else None
    return str(mapped) if mapped is not None else found or address


@functools.lru_cache(maxsize=65536)
def family_of(address: str) -> int:
    """4 or 6, or 0 for what is no address."""
    found = address_of(address)
    return (6 if ":" in found else 4) if found else 0
