"""Addresses compared as values: one text form for each."""

from __future__ import annotations

import functools
import ipaddress


@functools.lru_cache(maxsize=65536)
def canonical(address: str) -> str:
    """An address in its one text form, so that equal addresses are equal strings; what is no address stays as it is."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return str(mapped or parsed)


@functools.lru_cache(maxsize=65536)
def family_of(address: str) -> int:
    """4 or 6, or 0 for what is no address."""
    try:
        return ipaddress.ip_address(address).version
    except ValueError:
        return 0
