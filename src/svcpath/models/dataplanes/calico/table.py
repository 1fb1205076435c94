"""Calico's NAT maps to a ServiceTable: where a new connection to each frontend goes.

felix/bpf/proxy/syncer.go and felix/bpf-gpl/nat_lookup.h of Calico 3.14 to 3.31. ``count -1`` is a black hole; ``local``
says how many of the first backends run on this node; a frontend 255.255.255.255 is the node port on every address. The
frontend map is looked up by the longest source prefix: with load balancer source ranges there is an entry for each range
and a black hole for all other sources.
"""

from __future__ import annotations

from fractions import Fraction

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.calico import json_document
from svcpath.models.dataplanes.calico import text as text_layout
from svcpath.models.dataplanes.calico.held import Head, NatMaps
from svcpath.models.dataplanes.table import (
    Dialect,
    Frontend,
    NotUnderstood,
    PacketOutcome,
    PacketVerdict,
    ServiceTable,
    Share,
    TableEntry,
    TrafficOrigin,
)

_BLACK_HOLE = -1
#: The service is left to what comes behind this data plane (felix's BPFExcludeCIDRsFromNAT).
_EXCLUDED = "nat-exclude"
_FLAGS = frozenset({"external-local", "internal-local", _EXCLUDED})


def parse(text: str, *, node: str = "", node_addresses: frozenset[str] = frozenset(), source: str = "") -> ServiceTable:
    """Read a NAT dump. Raises FormatError when no line is of one."""
    maps = NatMaps()
    (json_document if text.lstrip()[:1] in ("[", "{") else text_layout).read(text, maps)
    maps.unread += [
        (head.id, NotUnderstood(head.line, f"flags {', '.join(sorted(head.flags - _FLAGS))}", str(head.frontend)))
        for head in maps.heads
        if head.flags - _FLAGS
    ]
    not_understood = tuple(line for _, line in maps.unread)
    if not maps.heads:
        raise FormatError(
            "no frontend in it: give the output of calico-node -bpf nat dump",
            line=not_understood[0].line if not_understood else 1,
        )
    by_frontend: dict[Frontend, list[Head]] = {}
    for head in maps.heads:
        by_frontend.setdefault(head.frontend, []).append(head)
    return ServiceTable(
        dialect=Dialect.CALICO,
        frontends={frontend: _entry(heads, maps) for frontend, heads in by_frontend.items()},
        node=node,
        node_addresses=node_addresses,
        not_understood=not_understood,
        source=source,
        families=frozenset(6 if ":" in head.frontend.address else 4 for head in maps.heads),
    )


def _entry(heads: list[Head], maps: NatMaps) -> TableEntry:
    """All entries of one frontend: for every source, or none, and for each source prefix."""
    general = next((head for head in reversed(heads) if not head.sources), None)
    ranges = [head for head in heads if head.sources]
    if general is not None and not ranges:
        return _for(general, maps)
    lead = _for(general, maps) if general is not None else TableEntry(outcome=PacketOutcome(verdict=PacketVerdict.NONE))
    by_source = tuple((head.sources, _for(head, maps)) for head in ranges)
    lines = tuple(dict.fromkeys((*lead.lines, *(line for _, entry in by_source for line in entry.lines))))
    return msgspec.structs.replace(
        lead,
        lines=lines,
        by_source=by_source,
        facts={**by_source[0][1].facts, **lead.facts, "sources": tuple(prefix for prefix, _ in by_source)},
    )


def _for(head: Head, maps: NatMaps) -> TableEntry:
    return TableEntry(
        target=str(head.id),
        lines=(head.line, *(line for (identity, _), (_, line) in maps.slots.items() if identity == head.id)),
        outcome=_outcome(head, maps, max(head.count, 0)),
        by_origin=_by_origin(head, maps),
        facts={"id": head.id, "count": head.count, "local": head.local, "flags": head.flags, "sources": ()},
    )


def _by_origin(head: Head, maps: NatMaps) -> dict[str, PacketOutcome] | None:
    if not head.flags & {"external-local", "internal-local"}:
        return None
    everywhere, local = _outcome(head, maps, max(head.count, 0)), _outcome(head, maps, head.local)
    inside = local if "internal-local" in head.flags else everywhere
    outside = local if "external-local" in head.flags else everywhere
    return {TrafficOrigin.POD.value: inside, TrafficOrigin.NODE.value: inside, TrafficOrigin.EXTERNAL.value: outside}


def _outcome(head: Head, maps: NatMaps, count: int) -> PacketOutcome:
    unread: tuple[NotUnderstood, ...] = tuple(line for identity, line in maps.unread if identity == head.id)
    if _EXCLUDED in head.flags:
        return PacketOutcome(verdict=PacketVerdict.NONE)
    if head.count == _BLACK_HOLE:
        return PacketOutcome(verdict=PacketVerdict.DROP)
    if count == 0:
        # Without a backend the program answers with port unreachable; with backends elsewhere only it drops.
        return PacketOutcome(verdict=PacketVerdict.DROP if head.count > 0 else PacketVerdict.REJECT, undecided=unread)
    part = Fraction(1, count)
    shares: dict[object, Share] = {}
    lost = Fraction(0)
    for place in range(count):
        backend, line = maps.slots.get((head.id, place), (None, 0))
        if backend is None:
            lost += part
            continue
        before = shares.get(backend)
        shares[backend] = Share(backend, part + (before.share if before is not None else 0), line)
    if not shares:
        return PacketOutcome(verdict=PacketVerdict.DROP, undecided=unread)
    other = ((PacketVerdict.DROP, lost),) if lost else ()
    return PacketOutcome(verdict=PacketVerdict.BACKENDS, backends=tuple(shares.values()), other=other, undecided=unread)
