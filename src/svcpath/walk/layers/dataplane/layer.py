"""Question 6: does the client's node carry the packet to a usable endpoint and back?"""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.node import NodeReport
from svcpath.findings.finding import CheckResult, Gap, LayerAnswer, answer
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.layers.dataplane import (
    agreement,
    cilium,
    flows,
    kernel,
    leftovers,
    local_only,
    other_proxies,
    policy,
    probe_starvation,
    unclaimed,
    unreached,
)
from svcpath.walk.layers.dataplane import connections as connections_check
from svcpath.walk.layers.dataplane.compared import Compared
from svcpath.walk.nodes.needs import client_node, proxy
from svcpath.walk.nodes.needs import flows as flows_of
from svcpath.walk.nodes.plane import Plane, plane
from svcpath.walk.nodes.tables import NodeTables, nodes_tables, released
from svcpath.walk.scene import Scene


def layer(view: Scene) -> Asking[LayerAnswer]:
    request = view.request
    reported = yield from ask.one(Need(Kind.NODE_REPORT))
    reports = tuple(
        policy.Reported(report, observed) for observed in reported.present for report in observed.fact.nodes
    )
    from_node = client_node(view)
    nodes = yield from nodes_tables(from_node, tuple(item.report for item in reports))
    judgements: list[CheckResult] = []
    compared: list[Compared] = []
    planes: list[Plane] = []
    for node in nodes:
        found, used = yield from _node(view, node)
        if other_proxies.without(found):
            judgements.append(other_proxies.uncompared(node, found))
            found, used = msgspec.structs.replace(found, used=None, more=()), []
        planes.append(found)
        compared.extend(used)
        judgements.append(CheckResult(not_looked_at=node.unread, looked=False))
    service = _programmed(view)
    if service is not None:
        # First: a dump of the whole rule set shows what a packet meets, so that what then seems to be missing from the table in use
        # is the doing of rules that catch the packet before it.
        for node, found in zip(nodes, planes, strict=True):
            mine = [comparison for comparison in compared if comparison.plane is found]
            right = bool(mine) and all(agreement.is_right(view, service, comparison) for comparison in mine)
            judgements.append(leftovers.check(view, service, node, found, right=right))
        judgements.append(agreement.check(view, service, compared))
    elif view.service is not None and nodes:
        judgements.append(CheckResult(phrase=_not_programmed(view.service)))
    elif view.service is None and view.slices and nodes:
        judgements.append(unclaimed.check(view, planes, [node.label for node in nodes]))
    reports += _versions((yield from ask.nodes()), {item.report.name for item in reports if item.report.kube_proxy})
    judgements.extend((yield from _around(view, service, planes, compared, reports, from_node)))
    judgements.append((yield from unreached.check(request, view, from_node)))
    if not compared:
        attempts = yield from ask.one(Need(Kind.ATTEMPTS))
        judgements.append((yield from local_only.check(view, from_node, attempts)))
    if not nodes:
        gap = Gap(
            "dataplane",
            "the nodes' tables",
            "no rule dump was read",
            "on the client's node: iptables-save; nft list ruleset",
        )
        judgements.append(CheckResult(not_looked_at=(gap,), looked=False))
    return answer(judgements)


def _versions(nodes: Reply, known: set[str]) -> tuple[policy.Reported, ...]:
    """kube-proxy's release as Node objects tell it (nodeInfo.kubeProxyVersion, up to 1.32), where no report does."""
    return tuple(
        policy.Reported(NodeReport(name=node.fact.name, kube_proxy=info.kube_proxy_version), node)
        for node in nodes.present
        if (info := node.fact.status.node_info) is not None and info.kube_proxy_version and node.fact.name not in known
    )


def _programmed(view: Scene) -> Service | None:
    """The Service, if a node has to hold rules for it and the slices that say which are known."""
    service = view.service
    if service is None or service.is_external_name or service.is_headless:
        return None
    return service if view.slices or view.slices_reply.absent else None


def _not_programmed(service: Service) -> str:
    if service.is_headless:
        return "nothing to program: headless"
    return "nothing to program: ExternalName" if service.is_external_name else "tables seen, slices unknown"


def _node(view: Scene, node: NodeTables) -> Asking[tuple[Plane, list[Compared]]]:
    logs, configs, metrics = yield proxy(node.owner)
    found = plane(node, logs, configs, metrics, [slice_.fact for slice_ in view.slices])
    service = _programmed(view)
    if service is None or found.used is None:
        return found, []
    if found.release is not None and node.view.release is None:
        node = msgspec.structs.replace(node, view=released(node.view, found.release))
    return found, agreement.compare(view, service, node, found)


def _health_port(view: Scene) -> tuple[str, ...]:
    """The health check that a load balancer asks nodes; to a Pod of the cluster it is nothing."""
    port = view.service.spec.health_check_node_port if view.service is not None else None
    return (str(port),) if port and not view.request.client else ()


def _around(
    view: Scene,
    service: Service | None,
    planes: list[Plane],
    compared: list[Compared],
    reports: tuple[policy.Reported, ...],
    from_node: str,
) -> Asking[list[CheckResult]]:
    """What decides beside the table: connection tracking, kernel settings, health checks, connection entries."""
    conntrack, sysctls, durations, hairpin, attempts, health, connections = yield (
        flows_of(view, from_node),
        Need(Kind.SYSCTL, node=from_node),
        Need(Kind.DURATIONS),
        Need(Kind.HAIRPIN_MODE, about=(from_node,) if from_node else ()),
        Need(Kind.ATTEMPTS),
        Need(Kind.HEALTH_REPLIES, about=_health_port(view)),
        Need(Kind.IPVSADM_LCN, node=from_node),
    )
    table = planes[0].used.table if planes and planes[0].used else None
    dialect = table.dialect if table is not None else None
    kernels = tuple(item.report.kernel for item in reports if item.report.kernel)
    silent = (yield from probe_starvation.node_of_silent_probes(view)) if sysctls.present else ""
    judgements = [
        kernel.settings(view.service, dialect, sysctls, durations, kernels, silent),
        kernel.persistence(view, table, connections, sysctls),
        kernel.hairpin(view, hairpin, attempts, table),
        kernel.bridge(view, hairpin, sysctls, attempts),
        (yield from cilium.check(view, from_node)),
    ]
    judgements.append(connections_check.check(view, attempts))
    if service is not None:
        judgements.append(flows.check(view, service, conntrack.present, attempts))
        judgements.append(policy.check(view, service, compared, reports, health))
    return judgements
