"""The other way: what the table holds that no Service asks for, and what modes that are not in use left behind."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator

from svcpath.models.dataplanes.drift.difference import Difference, DifferenceKind
from svcpath.models.dataplanes.drift.scope import Scope
from svcpath.models.dataplanes.table import (
    ANY_IPV4,
    ANY_IPV6,
    LOCAL_REDIRECT,
    Frontend,
    ServiceTable,
    TableEntry,
    TrafficOrigin,
)
from svcpath.models.dataplanes.trace import Packet, Tracer

#: Entries of Cilium that no Service asks for.
_NOT_OF_SERVICES = frozenset({"HostPort", LOCAL_REDIRECT})


def unexpected_entries(
    scope: Scope, wanted: Container[Frontend], names: Collection[str], health: Collection[int | None], complete: bool
) -> Iterator[Difference]:
    """Frontends of the table that are not ``wanted``. ``names`` are the Services as "namespace/name", ``health`` their
    health check node ports; ``complete``: there are no other Services."""
    for frontend, entry in scope.table.frontends.items():
        if frontend in wanted or (entry.kind == "health-check" and frontend.port in health):
            continue
        owner = (entry.service or "").partition(":")[0]
        if owner in names:
            kind = DifferenceKind.FRONTEND_STALE
        elif complete:
            kind = DifferenceKind.SERVICE_UNKNOWN
        else:
            continue
        if (not scope.netfilter and _wildcard(frontend) in wanted) or entry.kind in _NOT_OF_SERVICES:
            continue
        line = entry.lines[0] if entry.lines else 0
        yield Difference(
            node=scope.node,
            frontend=frontend,
            service=entry.service or "",
            kind=kind,
            rule=line,
            text=scope.text(line),
        )


def _wildcard(frontend: Frontend) -> Frontend:
    """A node port that is listed per address of the node is the wildcard's."""
    return frontend._replace(address=ANY_IPV6 if ":" in frontend.address else ANY_IPV4)


def leftovers(scope: Scope, table: ServiceTable) -> Iterator[Difference]:
    """Every frontend of a mode that is not in use, with what its rules still do to a packet of a Pod."""
    tracer = Tracer(table)
    for frontend, entry in table.frontends.items():
        line = entry.lines[0] if entry.lines else 0
        source = scope.sources[6 if ":" in frontend.address else 4][TrafficOrigin.POD]
        packet = Packet(source, TrafficOrigin.POD, frontend.protocol, frontend.address, frontend.port)
        yield Difference(
            node=scope.node,
            frontend=frontend,
            service=entry.service or "",
            kind=DifferenceKind.LEFTOVER,
            verdict=tracer.trace(packet).verdict,
            dialect=table.dialect,
            rule=line,
            text=table.ruleset.line(line) if table.ruleset is not None else "",
            note=_leftover_note(table, entry),
        )


def _leftover_note(table: ServiceTable, entry: TableEntry) -> str:
    name = f"{table.dialect.value} {table.variant}".strip()
    return f"{name}: {entry.target}" if entry.target else name
