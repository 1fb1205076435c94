"""Addresses compared as values: one text form for each."""

from __future__ import annotations

import ipaddress


def canonical(address: str) -> str:
    """An address in its one text form, so that equal addresses are equal strings; what is no address stays as it is."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return str(mapped or parsed)
