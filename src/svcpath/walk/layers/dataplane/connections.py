"""Repeated new connections to the Service's own addresses: which share is answered, and how sure that makes us.

Failed ones are judged where no layer explains them (judge/failed_connection.py); here is what working ones show.
"""

from __future__ import annotations

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.percent import percent
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.probes import miss, pinned
from svcpath.walk.scene import Scene, host_port

_WORKS = ("ok", "http-error", "tls-error", "stalled")
Place = tuple[str, str, int]


def check(view: Scene, attempts: Reply) -> CheckResult:
    service = view.service
    if service is None or not service.cluster_ips:
        return CheckResult(looked=False)
    addresses = {canonical(ip) for ip in service.cluster_ips}
    ports = {(port.protocol, port.port): port for port in view.service_ports}
    tried: dict[Place, list[bool]] = {}
    quiet: dict[Place, int] = {}
    nodes: dict[str, list[bool]] = {}
    for recorded in attempts.present:
        if not recorded.fact.repeated:
            continue
        for attempt in recorded.fact.attempts:
            place = (attempt.protocol, canonical(attempt.address or attempt.host), attempt.port)
            if place[1] not in addresses or (place[0], place[2]) not in ports:
                continue
            if attempt.outcome == "unanswered":
                quiet[place] = quiet.get(place, 0) + 1
            elif attempt.client.startswith("node/"):
                nodes.setdefault(attempt.client[5:], []).append(attempt.outcome in _WORKS)
            else:
                tried.setdefault(place, []).append(attempt.outcome in _WORKS)
    ported = _node_ports(view, attempts, addresses)
    if not tried and not nodes and not quiet and not ported:
        return CheckResult(looked=False)
    phrases: list[str] = []
    for (protocol, address, number), results in tried.items():
        what = count(len(results), "datagram" if protocol == "UDP" else "new connection")
        phrase = f"{sum(results)} of {what} to {host_port(address, number)} answered"
        if all(results):
            family = 6 if ":" in address else 4
            backends = sum(1 for endpoint in view.usable_for(ports[protocol, number]) if endpoint.family == family)
            if pinned(service):
                phrase += " (ClientIP affinity: one client address is one sample)"
            elif backends > 1:
                phrase += f" ({percent(miss(backends, len(results)))} chance that they all missed one of {backends})"
        phrases.append(phrase)
    for (_, address, number), sent in quiet.items():
        phrases.append(f"{count(sent, 'datagram')} to {host_port(address, number)} not answered, which is not refused")
    if nodes:
        matrix = ", ".join(f"{node} {sum(results)} of {len(results)}" for node, results in sorted(nodes.items()))
        phrases.append(f"answered from the nodes themselves: {matrix}")
    findings, phrase = _judged(view, ported)
    every = (*tried.values(), *nodes.values())
    shown = (*phrases, *((phrase,) if phrase else ()))
    return CheckResult(
        findings=findings, phrase=", ".join(shown), looked=bool(every) and all(all(results) for results in every)
    )


Ported = dict[Place, tuple[Attempt, Observation[Attempts]]]


def _node_ports(view: Scene, attempts: Reply, cluster_ips: set[str]) -> Ported:
    """The newest attempt to each node address on one of the Service's node ports."""
    numbers = {(port.protocol, port.node_port) for port in view.service_ports if port.node_port}
    backends = {endpoint.address for endpoint in view.distinct}
    found: Ported = {}
    for recorded in attempts.present:
        for attempt in recorded.fact.attempts:
            address = canonical(attempt.address or attempt.host)
            asked = recorded.fact.repeated and (attempt.protocol, attempt.port) in numbers
            if asked and address not in cluster_ips and address not in backends:
                found[attempt.protocol, address, attempt.port] = (attempt, recorded)
    return found


def _judged(view: Scene, ported: Ported) -> tuple[tuple[Finding, ...], str]:
    """A node port that does not answer from inside is a warning: firewalls, nodePortAddresses and policies that the
    cluster IP does not meet may want it so."""
    answered = [place for place, (attempt, _) in ported.items() if attempt.outcome in _WORKS]
    failed = [
        (place, tried)
        for place, tried in ported.items()
        if tried[0].outcome in ("refused", "timeout", "no-route", "reset")
    ]
    words = ", ".join(host_port(address, number) for _, address, number in answered)
    phrase = f"node port answers on {words}" if answered else ""
    if not failed:
        return (), phrase
    (_, address, number), (attempt, recorded) = failed[0]
    place = host_port(address, number)
    found = finding(
        "SP623",
        Status.WARN,
        f"node port {place}: {attempt.outcome} from {attempt.client or 'the client'}"
        + (f"; it answers on {words}" if words else ""),
        evidence=(Evidence(f"{attempt.client or 'the client'} to {place}: {attempt.outcome}", recorded),),
        confidence=Confidence.POSSIBLE,
        share=f"{len(failed)} of {count(len(ported), 'node port')} that {'was' if len(ported) == 1 else 'were'} tried",
        namespace=view.request.client_namespace or view.request.namespace,
        client=view.request.client_name or "CLIENT-POD",
        url=f"http://{place}/",
    )
    return (found,), phrase
