"""Addresses as cilium-dbg prints them: with protocol and scope for a frontend, alone for a backend.

pkg/loadbalancer/loadbalancer.go of Cilium 1.12 to 1.18 (L3n4Addr: String, StringWithProtocol).
"""

from __future__ import annotations

import re

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.cilium.held import Key
from svcpath.models.dataplanes.ruleset import address_value
from svcpath.models.dataplanes.table import Backend, Frontend

_SLOT = re.compile(r"^(\S+) \((\d+)\)$")
_SCOPES = {"i": "internal", "e": "external"}


def name_of(text: str) -> Key | None:
    """The key of a map: a frontend, and in brackets its slot: ``10.96.0.10:53 (2)``."""
    slot = _SLOT.match(text)
    return frontend_of(slot.group(1) if slot is not None else text)


def frontend_of(text: str) -> Key | None:
    """``10.96.0.10:53/UDP``, ``[fd00::a]:53``, ``198.51.100.100:443/i``, ``.../TCP/i``"""
    place, *rest = text.split("/")
    protocol, scope = "TCP", ""
    for part in rest:
        if part in _SCOPES:
            scope = _SCOPES[part]
        elif part.upper() in ("TCP", "UDP", "SCTP"):
            protocol = part.upper()
        elif part.upper() not in ("ANY", "NONE"):
            return None
    backend = address_of(place)
    return (Frontend(backend.address, protocol, backend.port), scope) if backend is not None else None


def slot_of(text: str) -> int | None:
    """The slot in brackets behind a frontend, which the map's own listing has from 1.16 on."""
    slot = _SLOT.match(text)
    return int(slot.group(2)) if slot is not None else None


def address_of(text: str) -> Backend | None:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]").partition("%")[0]
    if not colon or not port.isdecimal() or int(port) > 65535 or address_value(host) is None:
        return None
    return Backend(text_form(host), int(port))
