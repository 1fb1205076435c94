"""Question 6: does the client's node carry the packet to a usable endpoint and back?"""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.node import NodeReport
from svcpath.models.dataplanes import times_of
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import Judgement, LayerResult, NotTested, layer_result
from svcpath.walk.layers.dataplane import agreement, mode
from svcpath.walk.layers.dataplane.tables import NodeTables, nodes_tables
from svcpath.walk.request import Request
from svcpath.walk.scene import Scene, scene


def layer(request: Request) -> Asking[LayerResult]:
    view = yield from scene(request)
    reported = yield from ask.one(Need(Kind.NODE_REPORT))
    reports: tuple[NodeReport, ...] = tuple(report for one in reported.present for report in one.fact.nodes)
    client_node = yield from _client_node(request)
    nodes = yield from nodes_tables(request, client_node, reports)
    judgements: list[Judgement] = []
    for node in nodes:
        judgements.append((yield from _node(view, node)))
    if not nodes:
        gap = NotTested(
            "dataplane",
            "the nodes' tables",
            "no rule dump in the evidence",
            "on the client's node: iptables-save; nft list ruleset",
        )
        judgements.append(Judgement(not_tested=(gap,), looked=False))
    return layer_result("dataplane", judgements)


def _client_node(request: Request) -> Asking[str]:
    """The node the client's connections start from; empty when it is not known: then every node is looked at."""
    if request.client_node:
        return request.client_node
    client = yield from ask.client_pod(request.client_namespace, request.client_name)
    return (client.fact.spec.node_name or "") if client else ""


def _node(view: Scene, node: NodeTables) -> Asking[Judgement]:
    service = view.service
    logs, configs, metrics = yield (
        Need(Kind.LOG, node=node.owner),
        Need(Kind.KUBE_PROXY_CONFIG),
        Need(Kind.METRICS, node=node.owner),
    )
    used, left = mode.in_use(node, logs, configs)
    gaps = node.unread
    if (
        service is None
        or service.is_external_name
        or service.is_headless
        or not (view.slices_reply.present or view.slices_reply.absent)
    ):
        return Judgement(not_tested=gaps, looked=False)
    times = times_of([one.fact for one in metrics.present])
    compared = agreement.compare(view, service, node, used, left, times)
    judgement = agreement.check(view, service, compared)
    return Judgement(judgement.findings, (*gaps, *judgement.not_tested), judgement.phrase, judgement.looked)
