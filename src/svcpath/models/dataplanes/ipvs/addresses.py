"""Addresses of virtual and real servers: hex as the kernel prints them, text as ipvsadm does."""

from __future__ import annotations

import re

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.ruleset import address_value
from svcpath.models.dataplanes.table import Backend

PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
_HEX_IPV4 = re.compile(r"([0-9A-Fa-f]{8}):([0-9A-Fa-f]{4})")
_HEX_IPV6 = re.compile(r"\[([0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){7})\]:([0-9A-Fa-f]{4})")


def address(text: str) -> Backend | None:
    """``0A602850:0050`` of the kernel, ``10.96.40.80:80`` and ``[fd00::1]:80`` of ipvsadm."""
    found = _HEX_IPV4.fullmatch(text)
    if found is not None:
        number = int(found.group(1), 16)
        return Backend(".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0)), int(found.group(2), 16))
    found = _HEX_IPV6.fullmatch(text)
    if found is not None:
        return Backend(text_form(found.group(1)), int(found.group(2), 16))
    return plain(text)


def plain(text: str) -> Backend | None:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isdecimal() or int(port) > 65535 or address_value(host) is None:
        return None
    return Backend(text_form(host), int(port))
