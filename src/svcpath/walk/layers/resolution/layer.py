"""Question 1: does the name resolve, with the application's own resolver?"""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.request import Request
from svcpath.findings.finding import CheckResult, Gap, LayerAnswer, answer
from svcpath.findings.shell import shell
from svcpath.models.resolvers import RecordedWorld
from svcpath.models.resolvers.registry import nameservers
from svcpath.walk.ask import Asking
from svcpath.walk.layers.resolution import (
    client_checks,
    cluster_dns,
    compare,
    corefile_checks,
    derived,
    egress,
    elsewhere,
    exact,
    headless_records,
    jvm_cache,
    pod_records,
    recorded,
)
from svcpath.walk.names import cluster_dns as names_of_dns
from svcpath.walk.names import world
from svcpath.walk.names.client import Client, gather
from svcpath.walk.scene import Scene


def layer(view: Scene) -> Asking[LayerAnswer]:
    request = view.request
    client = yield from gather(request, view)
    dns = yield from names_of_dns.gather(
        nameservers(client.conf) if client.conf is not None else (), request.namespaces
    )
    answering = yield from world.gather(request.client_namespace, request.namespaces)
    served = next((found for config in answering.configs if (found := corefile_checks.domain_of(config))), "")
    if client.conf is None and client.pod is not None:
        client = msgspec.structs.replace(client, derived=derived.derive(client.pod.fact, dns, served))
    lookups = yield from recorded.check(request, view, client)
    judgements = [
        cluster_dns.check(dns, client.names),
        corefile_checks.check(client, dns, answering),
        (yield from headless_records.check(view, client, answering)),
        (yield from pod_records.check(request, view, client, answering)),
        client_checks.other_server(request, view, client, dns, answering),
        client_checks.nodes_servers(request, view, client, dns, answering),
        (yield from egress.check(request, view, client, dns, answering)),
        lookups,
    ]
    reached = answering.recorded or client_checks.asks_cluster_dns(client, dns, answering) is not False
    seen: list[compare.ResolverResult] = []
    if client.conf is not None and answering.world is not None and reached and client.names:
        seen = yield from recorded.contradicted(request, client, compare.look(client, answering.world))
        seen = yield from exact.decided(request, client, answering.world, seen)
        judgements.append(client_checks.fits(request, view, client, seen))
        judgements.append(client_checks.never_asked(request, view, client, seen, served))
        modelled = compare.check(request, client, seen, answering.evidence)
        judgements.append(_quiet(modelled) if lookups.phrase else modelled)
    elif client.conf is not None and reached and (client.pod or request.lookup) and not lookups.looked:
        # What is asked for a name that is meant shows without any answer.
        unanswered = compare.look(client, RecordedWorld(()))
        judgements.append(client_checks.never_asked(request, view, client, unanswered, served))
    judgements.append((yield from exact.refused(request, view, client, dns, answering)))
    judgements.append((yield from elsewhere.check(request, view, client, seen)))
    judgements.append(client_checks.amplification(client))
    judgements.append((yield from jvm_cache.check(request, view, client)))
    if client.resolv_conf is None:
        judgements.append(CheckResult(not_looked_at=(_no_conf(request, client),), looked=False))
    elif answering.world is None and not lookups.looked:
        judgements.append(CheckResult(not_looked_at=(_no_answers(request, client),), looked=False))
    return answer(judgements)


def _quiet(judgement: CheckResult) -> CheckResult:
    """Beside recorded lookups that succeed the models' phrase and open questions add nothing."""
    return CheckResult(judgement.findings, (), "", judgement.looked)


def _no_conf(request: Request, client: Client) -> Gap:
    namespace = request.client_namespace or request.namespace or "NAMESPACE"
    return Gap(
        "resolution",
        "the client's own resolv.conf" if client.derived else "the name with the client's resolver",
        (client.missing or "no resolv.conf was read")
        + ("; judged as the kubelet writes it, without the node's own search suffixes" if client.derived else ""),
        shell(
            "kubectl -n {ns} exec {pod} -- cat /etc/resolv.conf /etc/hosts",
            ns=namespace,
            pod=request.client_name or "CLIENT-POD",
        ),
        # What the kubelet would write stands in for the file: that it was not read has a gap of its own.
        () if client.derived else client.not_seen,
    )


def _no_answers(request: Request, client: Client) -> Gap:
    name = client.names[0] if client.names else "NAME"
    namespace = request.client_namespace or request.namespace or "NAMESPACE"
    return Gap(
        "resolution",
        "what the cluster DNS answers",
        "no recorded answers, and no Corefile with the Services it serves",
        shell(
            "kubectl -n {ns} exec {pod} -- getent ahosts {name}",
            ns=namespace,
            pod=request.client_name or "CLIENT-POD",
            name=name,
        ),
    )
