"""Lookups and their durations as recorded in the client."""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.dns import Lookup
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.resolvers.environment import INET, INET6
from svcpath.models.resolvers.libc import glibc_conf, musl_conf
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Asking
from svcpath.walk.layers.resolution.compare import ResolverResult
from svcpath.walk.names.client import Client
from svcpath.walk.names.needs import lookups as lookups_of
from svcpath.walk.scene import Scene

#: dig, nslookup and host are no application's resolver: what they say decides nothing.
NOT_A_RESOLVER = ("dig", "nslookup", "host", "drill", "kdig")


def contradicted(request: Request, client: Client, seen: list[ResolverResult]) -> Asking[list[ResolverResult]]:
    """``seen`` without the failures of a name that one of its very resolvers found in the client: what the models were given
    (a Service, a namespace) is not all that there is."""
    (lookups,) = yield (lookups_of(request, client.names),)
    good = {
        (lookup.name, lookup.resolver)
        for observed in lookups.present
        for lookup in observed.fact.lookups
        if lookup.addresses
    }
    wrong = {
        result.name
        for result in seen
        if result.fails and any(name == result.name and whose.startswith(result.resolver) for name, whose in good)
    }
    return [result for result in seen if not (result.fails and result.name in wrong)]


def check(request: Request, view: Scene, client: Client) -> Asking[CheckResult]:
    replies = yield (
        lookups_of(request, client.names),
        Need(Kind.DURATIONS),
        Need(Kind.CONNTRACK_STATS, about=_node(client)),
        Need(Kind.NODE_REPORT),
    )
    lookups, durations, stats, reports = replies
    findings: list[Finding] = []
    phrase = ""
    if lookups.present:
        found, phrase = _lookups(request, view, client, lookups.present)
        findings.extend(found)
    for duration in durations.present:
        if duration.fact.what in ("lookup", ""):
            kernel = next(
                (node.kernel for each_reply in reports.present for node in each_reply.fact.nodes if node.kernel), ""
            )
            findings.extend(_pattern(client, duration, stats.present, kernel))
    timed = [duration for duration in durations.present if duration.fact.what in ("lookup", "")]
    if timed and not findings and not phrase:
        number = sum(len(duration.fact.seconds) for duration in timed)
        phrase = f"{count(number, 'lookup')} took up to {max(value for duration in timed for value in duration.fact.seconds):g} s"
    return CheckResult(findings=tuple(findings), phrase=phrase, looked=bool(phrase or findings))


def _node(client: Client) -> tuple[str, ...]:
    node = client.pod.fact.spec.node_name if client.pod else None
    return (node,) if node else ()


def _wanted(request: Request, view: Scene, client: Client, name: str) -> bool:
    """Whether a recorded lookup is of this Service, in any form of its name."""
    if name in client.names:
        return True
    if not request.service or request.lookup:
        return False
    labels = name.rstrip(".").split(".")
    if labels[0] != request.service:
        return False
    return len(labels) == 1 or labels[1] == request.namespace


def _lookups(
    request: Request, view: Scene, client: Client, observed: tuple[Observation[Any], ...]
) -> tuple[list[Finding], str]:
    mine: list[tuple[Lookup, Observation[Any]]] = [
        (lookup, observation)
        for observation in observed
        for lookup in observation.fact.lookups
        if _wanted(request, view, client, lookup.name) and lookup.resolver.partition("-")[0] not in NOT_A_RESOLVER
    ]
    if not mine:
        return [], ""
    failed = [(lookup, observation) for lookup, observation in mine if not lookup.addresses]
    good = [(lookup, observation) for lookup, observation in mine if lookup.addresses]
    names = {"namespace": request.client_namespace or request.namespace, "pod": client.label}
    findings: list[Finding] = []
    if failed:
        lookup = failed[0][0]
        known = client.resolvers and any(lookup.resolver.startswith(resolver) for resolver in client.resolvers)
        everywhere = not good
        findings.append(
            finding(
                "SP118",
                Status.FAIL if everywhere or known else Status.WARN,
                f"{lookup.name} does not resolve with {lookup.resolver}: {lookup.code} {lookup.error}".rstrip()
                + (f"; it does with {', '.join(dict.fromkeys(lookup.resolver for lookup, _ in good))}" if good else ""),
                evidence=tuple(
                    Evidence(f"{failure.resolver} {failure.name}: {failure.code} {failure.error}", observation)
                    for failure, observation in failed[:3]
                ),
                confidence=Confidence.PROVEN,
                names={**names, "name": lookup.name},
            )
        )
    findings.extend(_fits(view, client, good, names))
    if not good:
        return findings, ""
    lookup, _ = good[0]
    which = ", ".join(dict.fromkeys(answer.resolver for answer, _ in good))
    return findings, f"{lookup.name} -> {', '.join(lookup.addresses)} ({which})"


def _fits(
    view: Scene, client: Client, good: list[tuple[Lookup, Observation[Any]]], names: dict[str, str]
) -> list[Finding]:
    """A ClusterIP Service answers with its cluster IPs, a headless one with its endpoints' addresses."""
    service = view.service
    if service is None or service.is_external_name:
        return []
    right = {canonical(ip) for ip in service.cluster_ips}
    if service.is_headless:
        if not view.slices:
            return []
        right = {endpoint.address for endpoint in view.endpoints}
    if not right:
        return []
    for lookup, observation in good:
        wrong = [address for address in lookup.addresses if canonical(address) not in right]
        if lookup.unended and wrong and any(address.startswith(wrong[-1]) for address in right):
            continue  # the file ends within the address
        if wrong and len(wrong) == len(lookup.addresses):
            kind = "its endpoints are" if service.is_headless else "its cluster IP is"
            hidden = _in_hosts(client, lookup.name, wrong)
            why = " (the hosts file ends the lookup before DNS is asked)" if hidden else ""
            return [
                finding(
                    "SP107" if hidden else "SP121",
                    Status.FAIL,
                    f"{lookup.name} resolves to {', '.join(wrong)} with {lookup.resolver}{why}; "
                    f"{kind} {', '.join(sorted(right)[:4])}",
                    evidence=(
                        Evidence(f"{lookup.resolver} {lookup.name} -> {', '.join(lookup.addresses)}", observation),
                        *((Evidence(f"{client.label}'s hosts file names {lookup.name}", hidden),) if hidden else ()),
                        Evidence(f"Service {service.name}", view.service_observation),
                    ),
                    confidence=Confidence.PROVEN,
                    names={**names, "service": service.name, "namespace": service.namespace},
                )
            ]
    return []


def _in_hosts(client: Client, name: str, addresses: list[str]) -> Observation[Any] | None:
    """The hosts file, or the Pod whose hostAliases it is made of, if every one of the addresses is there for the name."""
    given = {canonical(host) for family in (INET, INET6) for host in glibc_conf.hosts(client.hosts_text, name, family)}
    return (client.hosts or client.pod) if {canonical(address) for address in addresses} <= given else None


def _pattern(
    client: Client, observation: Observation[Any], stats: tuple[Observation[Any], ...], kernel: str
) -> list[Finding]:
    """Durations that cluster at multiples of the resolver's timeout, and what conntrack counted meanwhile."""
    seconds: tuple[float, ...] = observation.fact.seconds
    timeout = float(musl_conf.parse(client.conf).timeout) if client.conf is not None else 5.0
    if timeout < 1:
        return []
    slow = [
        value
        for value in seconds
        if value >= 0.9 * timeout and abs(value - round(value / timeout) * timeout) <= 0.1 * timeout
    ]
    quick = [value for value in seconds if value < 0.2 * timeout]
    if len(slow) < 2 or len(slow) + len(quick) < 0.9 * len(seconds) or len(quick) < len(slow):
        return []
    failed = sum(stat.fact.counters.get("insert_failed", 0) for stat in stats)
    shown = ", ".join(f"{value:.2f}" for value in slow[:4])
    known = bool(stats)
    raced = failed > 0
    inserts = (
        f" and insert_failed is {failed}"
        if raced
        else "; insert_failed is 0"
        if known
        else "; conntrack -S was not looked at"
    )
    system = f"; kernel {kernel} (kernel 5.x fixed part of the races, reports on 5.0 remain)" if kernel else ""
    return [
        finding(
            "SP105",
            Status.FAIL if raced else Status.WARN,
            f"{len(slow)} of {len(seconds)} lookups take multiples of {timeout:g} s ({shown} s; timeout:{timeout:g}"
            f"{' default' if 'timeout' not in (client.conf or '') else ''}), the rest milliseconds{inserts}"
            + (": conntrack race on parallel A/AAAA" if raced else "")
            + system,
            evidence=(
                Evidence(f"durations: {shown} s among {len(seconds)}", observation),
                *(Evidence(f"conntrack -S: insert_failed={failed}", stat) for stat in stats[:1]),
            ),
            confidence=Confidence.SUPPORTED if raced else Confidence.POSSIBLE,
            remedy="Use NodeLocal DNSCache, with glibc alone `options single-request-reopen`, use-vc (TCP), or a newer kernel",
            names={"timeout": timeout},
        )
    ]
