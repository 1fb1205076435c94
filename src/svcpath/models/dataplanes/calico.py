"""Calico's eBPF data plane: `calico-node -bpf nat dump` to a ServiceTable, in its layouts and as JSON.

Format: felix/cmd/calico-bpf/commands/nat.go (dumpNice and dumpNiceGrouped) of Calico 3.14 to 3.31. ``count -1`` is a
black hole; ``local`` says how many of the first backends run on this node; a frontend 255.255.255.255 is the node
port on every address; a ``src`` prefix narrows a frontend to sources of a load balancer's source ranges.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.ruleset import address_value, canonical
from svcpath.models.dataplanes.table import (
    ANY_IPV4,
    ANY_IPV6,
    Backend,
    Dialect,
    Entry,
    Frontend,
    NotUnderstood,
    Origin,
    Outcome,
    ServiceTable,
    Share,
    Verdict,
)

_FRONTEND = re.compile(
    r"(\S+) port (\d+) proto (\d+) id (\d+) count (-?\d+)(?: local (\d+))?(?: flags (\S+))?(?: src (\S+))?\s*$"
)
_BACKEND = re.compile(r"(\d+):(\d+)\s+(.*)$")
_PROTOCOLS = {6: "TCP", 17: "UDP", 132: "SCTP"}
_WILDCARDS = {"255.255.255.255": ANY_IPV4, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": ANY_IPV6}
_BLACK_HOLE = -1


class _Head(msgspec.Struct, frozen=True):
    frontend: Frontend
    id: int
    count: int
    local: int
    flags: frozenset[str]
    sources: str
    line: int


def parse(text: str, *, node: str = "", node_addresses: frozenset[str] = frozenset(), source: str = "") -> ServiceTable:
    """Read a NAT dump. Raises FormatError when no line is of one."""
    heads: list[_Head] = []
    slots: dict[tuple[int, int], tuple[Backend | None, int]] = {}
    not_understood: list[NotUnderstood] = []
    if text.lstrip()[:1] in ("[", "{"):
        _json(text, heads, slots, not_understood)
    else:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip() and not _line(line, number, heads, slots):
                not_understood.append(NotUnderstood(number, line.strip()))
    if not heads:
        first = not_understood[0].line if not_understood else 1
        raise FormatError("no frontend in it: give the output of calico-node -bpf nat dump", line=first)
    frontends: dict[Frontend, Entry] = {}
    for head in heads:
        if head.frontend in frontends and head.sources:
            continue
        frontends[head.frontend] = _entry(head, slots)
    return ServiceTable(
        dialect=Dialect.CALICO,
        frontends=frontends,
        node=node,
        node_addresses=node_addresses,
        not_understood=tuple(not_understood),
        source=source,
        families=frozenset(6 if ":" in head.frontend.address else 4 for head in heads),
    )


def _line(line: str, number: int, heads: list[_Head], slots: dict[tuple[int, int], tuple[Backend | None, int]]) -> bool:
    if not line[:1].isspace():
        found = _FRONTEND.match(line.strip())
        if found is None:
            return False
        address, port, protocol, identity, count, local, flags, sources = found.groups()
        frontend = _frontend(address, int(port), int(protocol))
        if frontend is None:
            return False
        heads.append(
            _Head(
                frontend,
                int(identity),
                int(count),
                int(local or 0),
                frozenset((flags or "").split(",")) - {""},
                sources or "",
                number,
            )
        )
        return True
    found = _BACKEND.match(line.strip())
    if found is None:
        return False
    key = int(found.group(1)), int(found.group(2))
    text = found.group(3).strip()
    if text == "is missing":
        slots.setdefault(key, (None, number))
        return True
    backend = _address(text)
    if backend is None:
        return False
    slots[key] = backend, number
    return True


def _frontend(address: str, port: int, protocol: int) -> Frontend | None:
    if protocol not in _PROTOCOLS or address_value(address) is None or not 0 < port < 65536:
        return None
    address = canonical(address)
    return Frontend(_WILDCARDS.get(address, address), _PROTOCOLS[protocol], port)


def _address(text: str) -> Backend | None:
    """``10.244.1.71:80`` and the older ``10.244.1.71 : 80``"""
    host, colon, port = text.rpartition(":")
    host, port = host.strip().removeprefix("[").removesuffix("]"), port.strip()
    if not colon or not port.isdecimal() or int(port) > 65535 or address_value(host) is None:
        return None
    return Backend(canonical(host), int(port))


def _entry(head: _Head, slots: dict[tuple[int, int], tuple[Backend | None, int]]) -> Entry:
    everywhere = _outcome(head, slots, max(head.count, 0))
    local = _outcome(head, slots, head.local)
    by_origin = None
    if head.flags & {"external-local", "internal-local"}:
        inside = local if "internal-local" in head.flags else everywhere
        outside = local if "external-local" in head.flags else everywhere
        by_origin = {Origin.POD.value: inside, Origin.NODE.value: inside, Origin.EXTERNAL.value: outside}
    return Entry(
        target=str(head.id),
        lines=(head.line, *(line for (identity, _), (_, line) in slots.items() if identity == head.id)),
        outcome=everywhere,
        by_origin=by_origin,
        facts={"id": head.id, "count": head.count, "local": head.local, "flags": head.flags, "sources": head.sources},
    )


def _outcome(head: _Head, slots: dict[tuple[int, int], tuple[Backend | None, int]], count: int) -> Outcome:
    if head.count == _BLACK_HOLE:
        return Outcome(verdict=Verdict.DROP)
    if count == 0:
        # Without a backend the program answers with port unreachable; with backends elsewhere only it drops.
        return Outcome(verdict=Verdict.DROP if head.count > 0 else Verdict.REJECT)
    part = Fraction(1, count)
    shares: dict[Backend, Share] = {}
    lost = Fraction(0)
    for place in range(count):
        backend, line = slots.get((head.id, place), (None, 0))
        if backend is None:
            lost += part
            continue
        before = shares.get(backend)
        shares[backend] = Share(backend, part + (before.share if before is not None else 0), line)
    if not shares:
        return Outcome(verdict=Verdict.DROP)
    other = ((Verdict.DROP, lost),) if lost else ()
    return Outcome(verdict=Verdict.BACKENDS, backends=tuple(shares.values()), other=other)


def _json(
    text: str,
    heads: list[_Head],
    slots: dict[tuple[int, int], tuple[Backend | None, int]],
    not_understood: list[NotUnderstood],
) -> None:
    """Frontends as objects: address, port, proto, id, count, local, flags, and their backends in order."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"no JSON of a NAT dump: {error}", line=1) from error
    items = document
    if isinstance(document, dict):
        items = next((value for value in document.values() if isinstance(value, list)), [document])
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict) or not _json_item(_lowered(item), number, heads, slots):
            not_understood.append(NotUnderstood(number, msgspec.json.encode(item).decode()))


def _lowered(item: dict[str, Any]) -> dict[str, Any]:
    return {str(key).lower().replace("_", ""): value for key, value in item.items()}


def _json_item(
    item: dict[str, Any],
    number: int,
    heads: list[_Head],
    slots: dict[tuple[int, int], tuple[Backend | None, int]],
) -> bool:
    try:
        address = str(item.get("addr") or item.get("address") or item.get("ip"))
        protocol = item.get("proto", item.get("protocol", 6))
        names = {name.lower(): number for number, name in _PROTOCOLS.items()}
        code = names[protocol.lower()] if isinstance(protocol, str) and not protocol.isdecimal() else int(protocol)
        frontend = _frontend(address, int(item["port"]), code)
        if frontend is None:
            return False
        backends = item.get("backends") or ()
        identity = int(item.get("id", number))
        count = int(item.get("count", len(backends)))
        flags = item.get("flags") or ()
        parts = flags.split(",") if isinstance(flags, str) else [str(flag) for flag in flags]
        local = int(item.get("local", item.get("localcount", 0)))
        heads.append(_Head(frontend, identity, count, local, frozenset(parts) - {""}, str(item.get("src", "")), number))
        for place, backend in enumerate(_json_backends(backends)):
            slots[identity, place] = backend, number
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


def _json_backends(items: Iterable[Any]) -> Iterable[Backend | None]:
    for item in items:
        if isinstance(item, str):
            yield _address(item)
        elif isinstance(item, dict):
            lowered = _lowered(item)
            address = str(lowered.get("addr") or lowered.get("address") or lowered.get("ip"))
            yield Backend(canonical(address), int(lowered["port"])) if address_value(address) is not None else None
        else:
            yield None
