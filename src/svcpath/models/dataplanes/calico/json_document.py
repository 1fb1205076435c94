"""A NAT dump as JSON: a list of frontends each with its backends, or of services with all their frontends.

felix/cmd/calico-bpf/commands/nat.go (natServiceJSON, natServiceGroupJSON): ``{"frontend": {...}, "backends": [...]}``
and ``{"id": 29, "frontends": [...], "backends": [...]}``; a backend whose map entry is gone has the address "missing".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.calico.held import (
    PROTOCOLS,
    Head,
    NatMaps,
    address_of,
    flags_of,
    frontend_of,
    sources_of,
)
from svcpath.models.dataplanes.ruleset import address_value
from svcpath.models.dataplanes.table import Backend

_CODES = {name.lower(): number for number, name in PROTOCOLS.items()}


def read(text: str, maps: NatMaps) -> None:
    """Lines are the places of the services in the list, from 1."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"no JSON of a NAT dump: {error}", line=1) from error
    items = document
    if isinstance(document, dict):
        items = next((value for value in document.values() if isinstance(value, list)), [document])
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict) or not _service(_lowered(item), number, maps):
            maps.not_understood(number, msgspec.json.encode(item).decode())


def _lowered(item: dict[str, Any]) -> dict[str, Any]:
    return {str(key).lower().replace("_", "").replace("-", ""): value for key, value in item.items()}


def _service(item: dict[str, Any], number: int, maps: NatMaps) -> bool:
    """The frontend alone, one in ``frontend``, or all of ``frontends``; read whole or not at all."""
    try:
        several = item.get("frontends")
        fronts = (
            [_lowered(front) for front in several] if several is not None else [_lowered(item.get("frontend", item))]
        )
        backends = list(_backends(item.get("backends") or ()))
        heads = [_head(front, number, len(backends), int(item.get("id", number))) for front in fronts]
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    if not heads or None in heads:
        return False
    for head in heads:
        assert head is not None
        maps.heads.append(head)
        for place, backend in enumerate(backends):
            maps.slots[head.id, place] = backend, number
    return True


def _head(front: dict[str, Any], number: int, backends: int, identity: int) -> Head | None:
    address = str(front.get("addr") or front.get("address") or front.get("ip"))
    protocol = front.get("proto", front.get("protocol", 6))
    named = isinstance(protocol, str) and not protocol.isdecimal()
    frontend = frontend_of(address, int(front["port"]), _CODES[protocol.lower()] if named else int(protocol))
    sources = sources_of(str(front.get("srccidr") or front.get("src") or ""))
    if frontend is None or sources is None:
        return None
    flags = front.get("flags") or ""
    return Head(
        frontend,
        int(front.get("id", identity)),
        int(front.get("count", backends)),
        int(front.get("local", front.get("localcount", 0))),
        flags_of(flags if isinstance(flags, str) else ",".join(str(flag) for flag in flags)),
        sources,
        number,
    )


def _backends(items: Iterable[Any]) -> Iterable[Backend | None]:
    for item in items:
        if isinstance(item, str):
            yield address_of(item)
        elif isinstance(item, dict):
            lowered = _lowered(item)
            address = str(lowered.get("addr") or lowered.get("address") or lowered.get("ip"))
            yield Backend(text_form(address), int(lowered["port"])) if address_value(address) is not None else None
        else:
            yield None
