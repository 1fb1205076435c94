"""Every node's data plane beside all Services: what ``dataplane show``, ``trace`` and ``drift`` are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from svcpath.errors import UnknownTarget
from svcpath.evidence.facts.kubernetes import EndpointSlice, Pod, Service
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import NotTested
from svcpath.walk.layers.dataplane.agreement import released
from svcpath.walk.layers.dataplane.plane import Plane, plane
from svcpath.walk.layers.dataplane.tables import NodeTables, nodes_tables
from svcpath.walk.request import Request


@dataclass(frozen=True, slots=True)
class Planes:
    """``complete``: the Services are a full list, so that a frontend without a Service is a left-over."""

    nodes: tuple[tuple[NodeTables, Plane], ...]
    services: tuple[Service, ...]
    slices: tuple[EndpointSlice, ...]
    pods: tuple[Pod, ...]
    complete: bool
    unread: tuple[NotTested, ...]
    evidence: tuple[Observation[Any], ...]


def planes(node: str = "") -> Asking[Planes]:
    """All nodes' tables, or one node's. Raises UnknownTarget when the evidence has no table (of that node)."""
    services, slices, pods, reports = yield (
        Need(Kind.SERVICE),
        Need(Kind.ENDPOINT_SLICE),
        Need(Kind.POD),
        Need(Kind.NODE_REPORT),
    )
    named = tuple(report for one in reports.present for report in one.fact.nodes)
    tables = yield from nodes_tables(Request(), node, named)
    if not tables and node:
        every = yield from nodes_tables(Request(), "", named)
        known = ", ".join(one.label for one in every)
        raise UnknownTarget(f"no rule dump of node {node} in the evidence; there are: {known or 'none'}")
    held = []
    facts = tuple(one.fact for one in slices.present)
    for one in tables:
        logs, configs, metrics = yield (
            Need(Kind.LOG, node=one.owner),
            Need(Kind.KUBE_PROXY_CONFIG),
            Need(Kind.METRICS, node=one.owner),
        )
        found = plane(one, logs, configs, metrics, facts)
        if found.release is not None and one.view.release is None:
            one = NodeTables(one.owner, one.name, released(one.view, found.release), one.dumps, one.unread)
        held.append((one, found))
    return Planes(
        nodes=tuple(held),
        services=tuple(one.fact for one in services.present),
        slices=facts,
        pods=tuple(one.fact for one in pods.present),
        complete=services.complete,
        unread=tuple(gap for one in tables for gap in one.unread),
        evidence=(*services.present, *slices.present),
    )


def pod_named(held: Planes, name: str, namespace: str) -> Pod:
    """The Pod that "pod/NAME" or "pod/NAMESPACE/NAME" means."""
    space, _, bare = name.rpartition("/")
    wanted = space or namespace
    found = [one for one in held.pods if one.name == bare and (not wanted or one.namespace == wanted)]
    if len(found) != 1:
        known = ", ".join(sorted(f"{one.namespace}/{one.name}" for one in held.pods)[:12])
        word = "several Pods" if found else "no Pod"
        raise UnknownTarget(f"{word} {name} in the evidence; there are: {known or 'none'}")
    return found[0]
