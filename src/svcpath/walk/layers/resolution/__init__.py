"""Question 1: does the name resolve, with the application's own resolver?"""

from __future__ import annotations

from svcpath.evidence.facts.dns import DnsAnswer
from svcpath.evidence.facts.need import Kind, Need
from svcpath.models.resolvers import Layered, RecordedWorld, World
from svcpath.models.resolvers.registry import nameservers
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import Judgement, LayerResult, NotTested, layer_result
from svcpath.walk.layers.resolution import cluster_dns, compare, recorded
from svcpath.walk.layers.resolution.client import Client, gather
from svcpath.walk.request import Request
from svcpath.walk.scene import scene


def layer(request: Request) -> Asking[LayerResult]:
    view = yield from scene(request)
    client = yield from gather(request, view)
    servers = nameservers(client.conf) if client.conf is not None else ()
    dns = yield from cluster_dns.gather(servers)
    answers = yield from ask.one(Need(Kind.DNS_ANSWERS))
    rows: list[DnsAnswer] = [row for one in answers.present for row in one.fact.rows]
    worlds: list[World] = []
    if rows:
        worlds.append(RecordedWorld(rows))
    judgements = [cluster_dns.check(dns), (yield from recorded.check(request, view, client))]
    if client.conf is not None and worlds:
        seen = compare.look(client, Layered(worlds))
        judgements.append(compare.check(request, client, seen, answers.present))
    if client.conf is None:
        judgements.append(Judgement(not_tested=(_no_conf(request, client),), looked=False))
    return layer_result("resolution", judgements)


def _no_conf(request: Request, client: Client) -> NotTested:
    namespace = request.client_namespace or request.namespace or "NAMESPACE"
    return NotTested(
        "resolution",
        "the name with the client's resolver",
        client.missing or "no resolv.conf in the evidence",
        f"kubectl -n {namespace} exec {request.client_name or 'CLIENT-POD'} -- cat /etc/resolv.conf /etc/hosts",
    )
