"""`cilium-dbg service list -o json` (a list of services) and `bpf lb list -o json` (frontends and their lines)."""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.cilium.addresses import name_of, slot_of
from svcpath.models.dataplanes.cilium.held import CiliumBackend, FrontendRead, Key
from svcpath.models.dataplanes.cilium.service_text import map_value
from svcpath.models.dataplanes.table import Backend, Frontend, NotUnderstood


def read_json(text: str, frontends: dict[Key, FrontendRead], not_understood: list[NotUnderstood]) -> None:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"no JSON of cilium-dbg: {error}", line=1) from error
    if isinstance(document, list):
        for number, item in enumerate(document, 1):
            if not _service(item, number, frontends):
                not_understood.append(NotUnderstood(number, msgspec.json.encode(item).decode()))
        return
    if not isinstance(document, dict):
        raise FormatError("no JSON of cilium-dbg service list or bpf lb list", line=1)
    for number, (name, values) in enumerate(document.items(), 1):
        key = name_of(name)
        texts = values if isinstance(values, list) else [values]
        current = frontends.setdefault(key, FrontendRead()) if key is not None else None
        for value in texts:
            if (
                current is not None
                and isinstance(value, str)
                and map_value(value.strip(), number, current, slot_of(name))
            ):
                continue
            not_understood.append(NotUnderstood(number, f"{name}: {value}", str(key[0]) if key is not None else ""))
            if current is not None:
                current.unread.append(not_understood[-1])


def _service(item: Any, number: int, frontends: dict[Key, FrontendRead]) -> bool:
    """One service of `service list -o json`; what is realised counts, not what was asked for."""
    try:
        status = item.get("status") or {}
        spec = status.get("realized") or item["spec"]
        frontend = spec["frontend-address"]
        flags = spec.get("flags") or {}
        address = Backend(text_form(frontend["ip"]), int(frontend["port"]))
        protocol = str(frontend.get("protocol", "TCP")).upper()
        protocol = protocol if protocol in ("TCP", "UDP", "SCTP") else "TCP"
        scope = str(frontend.get("scope", "")).lower()
        key = Frontend(address.address, protocol, address.port), scope if scope == "internal" else ""
        current = frontends.setdefault(key, FrontendRead())
        current.kind = str(flags.get("type", ""))
        current.lines.append(number)
        if flags.get("namespace") and flags.get("name"):
            current.service = f"{flags['namespace']}/{flags['name']}"
        for slot, backend in enumerate(spec.get("backend-addresses") or (), 1):
            place = Backend(text_form(backend["ip"]), int(backend["port"]))
            state = str(backend.get("state") or "active").lower()
            preferred = bool(backend.get("preferred"))
            current.targets.append(CiliumBackend(place, state, slot, number, preferred=preferred))
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True
