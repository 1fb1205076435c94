"""One node's table compared with what the Services and slices ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.models.dataplanes.drift.auxiliary import cluster_ip_checks, health_checks
from svcpath.models.dataplanes.drift.dating import SliceIndex
from svcpath.models.dataplanes.drift.difference import Difference, DriftReport
from svcpath.models.dataplanes.drift.frontend import frontend_rows
from svcpath.models.dataplanes.drift.samples import family_of, sources_of
from svcpath.models.dataplanes.drift.scope import Remarks, Scope
from svcpath.models.dataplanes.drift.unexpected_entries import leftovers as leftover_rows
from svcpath.models.dataplanes.drift.unexpected_entries import unexpected_entries
from svcpath.models.dataplanes.expected import Expectation, NodeView, expected
from svcpath.models.dataplanes.layout import detector_of
from svcpath.models.dataplanes.netfilter import own_not_understood
from svcpath.models.dataplanes.quick import QuickCheck
from svcpath.models.dataplanes.ruleset import collector_paused
from svcpath.models.dataplanes.table import Frontend, ServiceTable
from svcpath.models.dataplanes.times import Times
from svcpath.models.dataplanes.trace import Tracer


def drift(
    table: ServiceTable,
    services: Iterable[Service],
    slices: Iterable[EndpointSlice] | SliceIndex,
    node: NodeView,
    *,
    times: Times | None = None,
    leftovers: Sequence[ServiceTable] = (),
    complete: bool = True,
) -> DriftReport:
    """Compare one node's table with what it should hold.

    ``leftovers`` are tables of modes that are not in use on the node. ``complete``: ``services`` are all there are;
    only then is a frontend without a Service a difference.
    """
    index = slices if isinstance(slices, SliceIndex) else SliceIndex(slices)
    with collector_paused():
        return _compare(table, list(services), index, node, times or Times(), leftovers, complete)


def _compare(
    table: ServiceTable,
    services: list[Service],
    slices: SliceIndex,
    node: NodeView,
    times: Times,
    leftovers: Sequence[ServiceTable],
    complete: bool,
) -> DriftReport:
    remarks = Remarks()
    for unread in (*own_not_understood(table), *table.damaged):
        remarks.unread(unread)
    wanted: dict[Frontend, Expectation] = {}
    for service in services:
        for item in expected(service, slices.of(service), node):
            wanted.setdefault(item.frontend, item)
    detectors = {family: detector_of(table, family) if table.ruleset is not None else None for family in (4, 6)}
    scope = Scope(
        table=table,
        node=node.name or table.node,
        tracer=Tracer(table),
        detectors=detectors,
        sources=sources_of(wanted.values(), detectors, table.node_addresses | node.addresses),
        slices=slices,
        times=times,
        release=node.release,
    )
    rows, backends = _frontends(scope, wanted.values(), remarks)
    rows += health_checks(scope, services)
    names = {f"{service.namespace}/{service.name}" for service in services}
    health = {service.spec.health_check_node_port for service in services}
    rows += unexpected_entries(scope, wanted, names, health, complete)
    rows += cluster_ip_checks(scope, wanted.values())
    for left in leftovers:
        rows += leftover_rows(scope, left)
    return DriftReport(
        node=scope.node,
        dialect=table.dialect,
        rows=tuple(rows),
        frontends=len(table.frontends),
        backends=backends,
        undecided=tuple(remarks.undecided.values()),
        foreign=tuple(remarks.foreign.values()),
        not_covered=tuple(remarks.not_covered),
    )


def _frontends(scope: Scope, wanted: Iterable[Expectation], remarks: Remarks) -> tuple[list[Difference], int]:
    """The differences of all frontends, and how many backends were compared. What is right by its shape is not walked,
    but for the first of each family: that the shared chains are right is shown by packets."""
    items = list(wanted)
    taken = {view.backend.address for item in items for view in item.endpoints}
    quick = {family: QuickCheck(scope.table, family, scope.detectors[family], taken) for family in (4, 6)}
    shown_right: set[int] = set()
    rows: list[Difference] = []
    backends = 0
    for item in items:
        family = family_of(item)
        check = quick[family]
        right = check.usable and check.holds(item)
        if right and family in shown_right:
            backends += len(item.chosen)
            continue
        before = len(rows) + len(remarks.undecided)
        found = frontend_rows(scope, item, remarks)
        if found is not None:
            rows += found
            backends += len(item.chosen)
        if right and len(rows) + len(remarks.undecided) == before:
            shown_right.add(family)
    return rows, backends
