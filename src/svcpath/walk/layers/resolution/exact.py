"""Names asked as they stand, with a trailing dot: what the cluster DNS says of one name, free of any search list.

A lookup of a relative name ends with the error of its last candidate: where the Service's own record met a silent server,
glibc goes on to the bare name and reports that there is none (resolv/res_query.c, __res_context_search). Only the lookup of an
absolute name tells NXDOMAIN of that very name. It tells it for every resolver, since all ask the same question then; so it
also answers what a resolver would hear that the client's container does not have.
"""

from __future__ import annotations

import re
from typing import Any

from svcpath.evidence.facts.addresses import canonical, family_of
from svcpath.evidence.facts.dns import DnsAnswer, Lookup
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.models.resolvers import Answer, Layered, Query, RecordedWorld, UnknownAnswer, World
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.resolution.client_checks import asks_cluster_dns
from svcpath.walk.layers.resolution.compare import ResolverResult, look
from svcpath.walk.layers.resolution.corefile_checks import cluster_domain
from svcpath.walk.layers.resolution.recorded import NOT_A_RESOLVER
from svcpath.walk.names.client import Client
from svcpath.walk.names.cluster_dns import ClusterDns
from svcpath.walk.names.needs import lookups as lookups_of
from svcpath.walk.names.world import Answering
from svcpath.walk.scene import Scene

#: Names that are asked as they stand in one walk.
MAX_NAMES = 8
#: EAI_NONAME of glibc and musl, and libuv's word for it: the server answered, and there is no such name.
_DENIED = frozenset({"-2", "ENOTFOUND", "NXDOMAIN", "EAI_NONAME"})
_WATCH = re.compile(r"(?m)^.*(?:failed to (?:list|watch)|watch .*(?:closed|ended)|Unauthorized|is forbidden:).*$", re.I)

Looked = tuple[tuple[Lookup, Observation[Any]], ...]


def lookups(request: Request, client: Client, asked: tuple[str, ...], forms: tuple[str, ...] = ()) -> Asking[Looked]:
    """What the client's container, or whoever recorded, made of the names ``asked``, and of other ``forms`` where they are
    recorded too."""
    reply = yield from ask.one(lookups_of(request, asked))
    wanted = {name.lower() for name in (*asked, *forms)}
    return tuple(
        (lookup, observed)
        for observed in reply.present
        for lookup in observed.fact.lookups
        if lookup.name.lower() in wanted and lookup.resolver.partition("-")[0] not in NOT_A_RESOLVER
    )


def denied(lookup: Lookup) -> bool:
    """Whether a server said that there is no such name; silence and failures are no denial."""
    return not lookup.addresses and lookup.code.upper() in _DENIED


def answers(looked: Looked) -> tuple[DnsAnswer, ...]:
    """The rows of DNS that lookups of absolute names amount to; what hosts files may have said is not among them."""
    rows: dict[DnsAnswer, None] = {}
    for lookup, _ in looked:
        name = lookup.name.rstrip(".").lower()
        if denied(lookup):
            rows[DnsAnswer(name=name, type="A", rcode="NXDOMAIN")] = None
        elif lookup.addresses:
            for kind, version in (("A", 4), ("AAAA", 6)):
                other = tuple(address for address in lookup.addresses if family_of(address) == version)
                rows[DnsAnswer(name=name, type=kind, rcode="NOERROR", answers=other)] = None
    return tuple(rows)


def open_names(seen: list[ResolverResult], world: World) -> tuple[str, ...]:
    """The names on whose answer the outcome of a lookup hangs, absolute."""
    names: dict[str, None] = {}
    for result in seen:
        if result.outcome is None:
            asked = (query for trace in result.resolution.traces for query in trace.queries)
            names |= {
                f"{query.name.rstrip('.')}.": None for query in asked if isinstance(world.answer(query), UnknownAnswer)
            }
    return tuple(names)[:MAX_NAMES]


def decided(request: Request, client: Client, world: World, seen: list[ResolverResult]) -> Asking[list[ResolverResult]]:
    """What the client's resolvers make of ``world``, where a resolver that was named and that the container does not have gets the
    answers on which it hangs."""
    own = yield from lookups(request, client, client.names)
    known = any(lookup.resolver.startswith(name) for lookup, _ in own for name in client.resolvers)
    names = open_names(seen, world) if client.resolvers and not known else ()
    rows = answers((yield from lookups(request, client, names))) if names else ()
    return look(client, Layered((RecordedWorld(rows), world))) if rows else seen


def refused(
    request: Request, view: Scene, client: Client, dns: ClusterDns, answering: Answering
) -> Asking[CheckResult]:
    """The Service's own record, denied while the Service is there and the Corefile serves its zone.

    ``dns`` and ``answering`` are the cluster DNS as it should answer. Only a client that asks it is judged.
    """
    service = view.service
    domain = cluster_domain(client)
    if service is None or service.is_external_name or service.is_headless or not service.cluster_ips or not domain:
        return CheckResult(looked=False)
    if answering.model is None or asks_cluster_dns(client, dns, answering) is False:
        return CheckResult(looked=False)
    right = {canonical(ip) for ip in service.cluster_ips}
    record = f"{service.name}.{service.namespace}.svc.{domain}."
    own = yield from lookups(request, client, client.names)
    if not any(denied(lookup) for lookup, _ in own):
        return CheckResult(looked=False)
    given = [answering.model.answer(Query(record.rstrip("."), kind, "")) for kind in ("A", "AAAA")]
    if not any(isinstance(answer, Answer) and right & {canonical(ip) for ip in answer.addresses} for answer in given):
        return CheckResult(looked=False)
    short = (service.name, f"{service.name}.{service.namespace}", f"{service.name}.{service.namespace}.svc")
    every = yield from lookups(request, client, (record,), (*short, record.rstrip(".")))
    looked = tuple(pair for pair in every if pair[0].name.endswith("."))
    if (
        not looked
        or any(lookup.addresses for lookup, _ in (*every, *own))
        or not all(denied(lookup) for lookup, _ in looked)
    ):
        return CheckResult(looked=False)  # some lookup has it: one server of several, or the Service was just made
    log = next(((lines[-1], log) for log in dns.logs if (lines := _WATCH.findall(log.fact.text))), None)
    found = finding(
        "SP123",
        Status.FAIL,
        f"the cluster DNS denies {record} ({looked[0][0].code} {looked[0][0].error}), and Service {service.name} is there "
        f"with {', '.join(sorted(right))}: CoreDNS does not see what the API holds",
        evidence=(
            *(
                Evidence(f"{lookup.resolver} {lookup.name}: {lookup.code} {lookup.error}", observation)
                for lookup, observation in looked[:2]
            ),
            Evidence(f"Service {service.name}: {', '.join(service.cluster_ips)}", view.service_observation),
            *answering.evidence[:1],
            *((Evidence(f"CoreDNS log: {log[0].strip()[:200]}", log[1]),) if log else ()),
        ),
        confidence=Confidence.SUPPORTED,
        share="every lookup that this server answers",
        namespace=request.client_namespace or request.namespace,
        pod=client.label if client.pod else "CLIENT-POD",
        record=record,
        dns_service=dns.name,
    )
    return CheckResult(findings=(found,))
