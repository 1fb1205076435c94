"""The contracts ``svcpath.drift/v1`` and ``svcpath.trace/v1``, and what ``dataplane show`` lists."""

from __future__ import annotations

import msgspec

from svcpath.models.dataplanes import (
    Difference,
    DifferenceKind,
    DriftReport,
    Packet,
    PacketOutcome,
    PacketVerdict,
    Tracer,
    TrafficOrigin,
    drift,
)
from svcpath.models.dataplanes.table import ServiceTable
from svcpath.reports.records import Record
from svcpath.walk.nodes.plane import Plane
from svcpath.walk.nodes.tables import TableDump
from svcpath.walk.planes import Planes

DRIFT_SCHEMA = "svcpath.drift/v1"
TRACE_SCHEMA = "svcpath.trace/v1"
SHOW_SCHEMA = "svcpath.dataplane/v1"


class DriftRow(Record, frozen=True, kw_only=True):
    """One difference. ``age`` in seconds; ``cause`` is late, stuck, altered or ""; ``share`` "1/2" of new connections."""

    node: str
    frontend: str
    service: str
    backend: str
    kind: str
    rule: int
    age: float | None
    cause: str
    share: str
    wanted: str
    origins: tuple[str, ...]
    slice: str
    note: str
    path: str


class UndecidedLine(Record, frozen=True, kw_only=True):
    node: str
    line: int
    text: str


class NodeDrift(Record, frozen=True, kw_only=True):
    """``undecided`` counts lines that were not understood and may matter: then no drift is not the answer."""

    node: str
    mode: str
    said_by: tuple[str, ...]
    frontends: int
    backends: int
    missing: int
    stale: int
    other: int
    undecided: int
    not_covered: tuple[str, ...]


class DriftContract(Record, frozen=True, kw_only=True):
    schema: str
    nodes: tuple[NodeDrift, ...]
    rows: tuple[DriftRow, ...]
    undecided: tuple[UndecidedLine, ...]
    not_looked_at: tuple[str, ...]


def drift_report(planes: Planes, namespace: str = "", service: str = "") -> DriftContract:
    """Compare every node's table in use with all Services, or one namespace's, or one Service."""
    services = [
        known
        for known in planes.services
        if (not namespace or known.namespace == namespace) and (not service or known.name == service)
    ]
    narrowed = bool(namespace or service)
    rows: list[DriftRow] = []
    nodes: list[NodeDrift] = []
    undecided: list[UndecidedLine] = []
    gaps = [f"{gap.what}: {gap.why}" for gap in planes.unread]
    if not services:
        which = f"Service {service}" if service else f"Services of namespace {namespace}" if namespace else "Services"
        gaps.append(f"the tables against the API: {which} not read (kubectl get services,endpointslices -A -o yaml)")
        return DriftContract(schema=DRIFT_SCHEMA, nodes=(), rows=(), undecided=(), not_looked_at=tuple(gaps))
    for tables, plane in planes.nodes:
        if plane.used is None:
            gaps.append(f"{tables.label}: no table of the mode in use ({plane.mode or 'mode not known'}) was read")
            continue
        for number, dump in enumerate(plane.dumps):
            report = drift(
                dump.table,
                services,
                planes.slices,
                tables.view,
                times=plane.times,
                leftovers=[other.table for other in plane.left] if not number else (),
                complete=planes.complete and not narrowed,
            )
            elsewhere = plane.without(dump)
            covered = tuple(gap for gap in report.not_covered if gap.family not in elsewhere)
            report = msgspec.structs.replace(report, not_covered=covered)
            rows.extend(_row(row, tables.label, _path(row, plane, dump)) for row in report.rows)
            undecided.extend(
                UndecidedLine(node=tables.label, line=line.line, text=line.text) for line in report.undecided
            )
            nodes.append(_node(report, tables.label, plane.mode, plane.declared_by))
    return DriftContract(
        schema=DRIFT_SCHEMA, nodes=tuple(nodes), rows=tuple(rows), undecided=tuple(undecided), not_looked_at=tuple(gaps)
    )


def _path(row: Difference, plane: Plane, compared: TableDump) -> str:
    """The dump that the row's line is in: for a left-over that of the other mode."""
    if row.kind is DifferenceKind.LEFTOVER:
        for dump in plane.left:
            if row.dialect is dump.table.dialect:
                return dump.place
    return compared.place


def _node(report: DriftReport, label: str, mode: str, said_by: tuple[str, ...]) -> NodeDrift:
    kinds = [row.kind.value for row in report.rows]
    missing, stale = kinds.count("missing"), kinds.count("stale")
    return NodeDrift(
        node=label,
        mode=mode or report.dialect.value,
        said_by=said_by,
        frontends=report.frontends,
        backends=report.backends,
        missing=missing,
        stale=stale,
        other=len(kinds) - missing - stale,
        undecided=len(report.undecided),
        not_covered=tuple(gap.text for gap in report.not_covered),
    )


def _row(difference: Difference, node: str, path: str) -> DriftRow:
    return DriftRow(
        node=node,
        frontend=str(difference.frontend) if difference.frontend else "",
        service=difference.service,
        backend=str(difference.backend) if difference.backend else "",
        kind=difference.kind.value,
        rule=difference.rule if path else 0,
        age=difference.age,
        cause=difference.cause.value,
        share=f"{difference.share.numerator}/{difference.share.denominator}" if difference.share is not None else "",
        wanted=str(difference.wanted) if difference.wanted else "",
        origins=tuple(origin.value for origin in difference.origins),
        slice=difference.slice,
        note=difference.note,
        path=path,
    )


class ShareRecord(Record, frozen=True, kw_only=True):
    backend: str
    share: str
    rule: int
    masquerade: bool


class RuleRecord(Record, frozen=True, kw_only=True):
    line: int
    chain: str
    text: str


class TraceContract(Record, frozen=True, kw_only=True):
    """One packet through one node's table. ``outcome``: backends, reject, drop, accept or none (no rule takes it)."""

    schema: str
    node: str
    mode: str
    path: str
    source: str
    origin: str
    destination: str
    outcome: str
    backends: tuple[ShareRecord, ...]
    masquerade: bool
    affinity: int | None
    uneven: bool
    rules: tuple[RuleRecord, ...]
    foreign: tuple[RuleRecord, ...]
    undecided: tuple[UndecidedLine, ...]


def trace_report(node: str, mode: str, path: str, table: ServiceTable, packet: Packet) -> TraceContract:
    outcome: PacketOutcome = Tracer(table).trace(packet)
    host = f"[{packet.address}]" if ":" in packet.address else packet.address
    return TraceContract(
        schema=TRACE_SCHEMA,
        node=node,
        mode=mode,
        path=path,
        source=packet.source,
        origin=packet.origin.value,
        destination=f"{host}:{packet.port}/{packet.protocol.lower()}",
        outcome=outcome.verdict.value,
        backends=tuple(
            ShareRecord(
                backend=str(backend.backend),
                share=f"{backend.share.numerator}/{backend.share.denominator}",
                rule=backend.line,
                masquerade=backend.masquerade,
            )
            for backend in outcome.backends
        ),
        masquerade=outcome.masquerade,
        affinity=outcome.affinity,
        uneven=outcome.uneven,
        rules=tuple(RuleRecord(line=rule.line, chain=rule.chain, text=rule.text) for rule in outcome.rules),
        foreign=tuple(RuleRecord(line=rule.line, chain=rule.chain, text=rule.text) for rule in outcome.foreign),
        undecided=tuple(UndecidedLine(node=node, line=line.line, text=line.text) for line in outcome.undecided),
    )


class FrontendRecord(Record, frozen=True, kw_only=True):
    node: str
    frontend: str
    service: str
    outcome: str
    backends: tuple[str, ...]


class ShowContract(Record, frozen=True, kw_only=True):
    schema: str
    nodes: tuple[NodeDrift, ...]
    frontends: tuple[FrontendRecord, ...]
    not_understood: tuple[UndecidedLine, ...]


def show_report(planes: Planes) -> ShowContract:
    """Every frontend of every node's table, as a Pod's new connection meets it."""
    frontends: list[FrontendRecord] = []
    unread: list[UndecidedLine] = []
    nodes: list[NodeDrift] = []
    for tables, plane, table in ((node, found, dump.table) for node, found in planes.nodes for dump in found.dumps):
        tracer = Tracer(table)
        backends = 0
        for frontend, entry in sorted(table.frontends.items()):
            address = frontend.address
            if frontend.is_node_port:
                own = sorted(
                    own_address
                    for own_address in table.node_addresses | tables.view.addresses
                    if (":" in own_address) == (":" in address)
                )
                address = own[0] if own else address
            source = "2001:db8::77" if ":" in address else "198.51.100.77"
            outcome = tracer.trace(Packet(source, TrafficOrigin.POD, frontend.protocol, address, frontend.port))
            shares = tuple(
                f"{backend.backend} {backend.share.numerator}/{backend.share.denominator}"
                for backend in outcome.backends
            )
            backends += len(shares)
            frontends.append(
                FrontendRecord(
                    node=tables.label,
                    frontend=str(frontend),
                    service=entry.service or "",
                    outcome=outcome.verdict.value if outcome.verdict is not PacketVerdict.BACKENDS else "backends",
                    backends=shares,
                )
            )
        unread.extend(UndecidedLine(node=tables.label, line=line.line, text=line.text) for line in table.not_understood)
        nodes.append(
            NodeDrift(
                node=tables.label,
                mode=plane.mode or table.dialect.value,
                said_by=plane.declared_by,
                frontends=len(table.frontends),
                backends=backends,
                missing=0,
                stale=0,
                other=0,
                undecided=len(table.not_understood),
                not_covered=(),
            )
        )
    return ShowContract(
        schema=SHOW_SCHEMA, nodes=tuple(nodes), frontends=tuple(frontends), not_understood=tuple(unread)
    )
