"""Every node's data plane beside all Services: what ``dataplane show``, ``trace`` and ``drift`` are made of."""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.errors import SourceUnavailable, UnknownTarget
from svcpath.evidence.facts.kubernetes import EndpointSlice, Pod, Service
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.finding import Gap
from svcpath.models.dataplanes import ServiceTable, TrafficOrigin, some_pod
from svcpath.models.dataplanes.ruleset import address_value
from svcpath.walk import ask, troubles
from svcpath.walk.ask import Asking
from svcpath.walk.nodes import needs
from svcpath.walk.nodes.plane import Plane, plane
from svcpath.walk.nodes.tables import NodeTables, nodes_tables, released


class Planes(msgspec.Struct, frozen=True):
    """``complete``: the Services are a full list, so that a frontend without a Service is a left-over."""

    nodes: tuple[tuple[NodeTables, Plane], ...]
    services: tuple[Service, ...]
    slices: tuple[EndpointSlice, ...]
    complete: bool
    unread: tuple[Gap, ...]
    evidence: tuple[Observation[Any], ...]


def planes(node: str = "") -> Asking[Planes]:
    """All nodes' tables, or one node's. Raises UnknownTarget when the evidence has no table of that node,
    SourceUnavailable when a cluster shows none."""
    services, slices, reports = yield (
        Need(Kind.SERVICE, permission="list services"),
        Need(Kind.ENDPOINT_SLICE, permission="list endpointslices.discovery.k8s.io"),
        Need(Kind.NODE_REPORT),
    )
    named = tuple(report for observed in reports.present for report in observed.fact.nodes)
    tables = yield from nodes_tables(node, named)
    why = "" if tables else (yield from _why(node))
    if why:
        listed = yield from ask.nodes()
        names = sorted(observed.fact.name for observed in listed.present)
        if node and names and node not in names:
            raise UnknownTarget(f"no node {node}; there are: {', '.join(names[:12])}")
        raise SourceUnavailable(f"no node's table could be read: {why}")
    if not tables and node:
        every = yield from nodes_tables("", named)
        known = ", ".join(tables_of_node.label for tables_of_node in every)
        raise UnknownTarget(f"no rule dump of node {node} was read; there are: {known or 'none'}")
    nodes = []
    facts = tuple(slice_.fact for slice_ in slices.present)
    for node_tables in tables:
        logs, configs, metrics = yield needs.proxy(node_tables.owner)
        found = plane(node_tables, logs, configs, metrics, facts)
        if found.release is not None and node_tables.view.release is None:
            node_tables = NodeTables(
                node_tables.owner,
                node_tables.name,
                released(node_tables.view, found.release),
                node_tables.dumps,
                node_tables.unread,
            )
        nodes.append((node_tables, found))
    return Planes(
        nodes=tuple(nodes),
        services=tuple(service.fact for service in services.present),
        slices=facts,
        complete=services.complete,
        unread=tuple(gap for node_tables in tables for gap in node_tables.unread),
        evidence=(*services.present, *slices.present),
    )


def _why(node: str) -> Asking[str]:
    """What a cluster said when its tables were asked for; empty where none were recorded."""
    replies = yield needs.tables(node)
    found = (troubles.failed(reply.observations) for reply in replies)
    return next((observed.why for observed in found if observed is not None), "")


def a_pod_of(planes: Planes, tables: NodeTables, table: ServiceTable, *, ipv6: bool) -> str:
    """The address of some Pod of a node that is no backend."""
    endpoints = [endpoint for slice_ in planes.slices for endpoint in slice_.endpoints or ()]
    taken = {address for endpoint in endpoints for address in endpoint.addresses}
    here = {address for endpoint in endpoints if endpoint.node_name == tables.label for address in endpoint.addresses}
    return some_pod(table, taken, here, ipv6=ipv6)


def origin_of(planes: Planes, tables: NodeTables, source: str) -> TrafficOrigin:
    """Whose an address is, as far as one node's table goes: the node's own, a Pod's, else one from outside."""
    value = address_value(source)
    if value in {address_value(address) for address in tables.view.addresses}:
        return TrafficOrigin.NODE
    pods = (
        address
        for slice_ in planes.slices
        for endpoint in slice_.endpoints or ()
        if endpoint.target_ref
        for address in endpoint.addresses
    )
    return TrafficOrigin.POD if value in {address_value(address) for address in pods} else TrafficOrigin.EXTERNAL


def pod_named(name: str, namespace: str) -> Asking[Pod]:
    """The Pod that "pod/NAME" or "pod/NAMESPACE/NAME" means."""
    space, _, bare = name.rpartition("/")
    wanted = space or namespace
    (reply,) = yield (Need(Kind.POD, namespace=wanted, name=bare if wanted else "", permission="get pods"),)
    found: list[Pod] = [observed.fact for observed in reply.present if observed.fact.name == bare]
    if len(found) == 1:
        return found[0]
    (every,) = yield (Need(Kind.POD, namespace=wanted, permission="list pods"),)
    known = ", ".join(sorted(f"{pod.fact.namespace}/{pod.fact.name}" for pod in every.present)[:12])
    word = "several Pods" if found else "no Pod"
    raise UnknownTarget(f"{word} {name}; there are: {known or 'none'}")
