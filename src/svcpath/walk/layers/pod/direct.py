"""Recorded connections to the Pods' own addresses.

ECONNREFUSED means a RST (or ICMP port unreachable) came back; ETIMEDOUT that nothing did; neither says who sent or
dropped. So refused and timed out are findings of this layer with rival hypotheses, not verdicts on a cause.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.connections import Attempt, Attempts, Unanswered
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.observations import same_pod
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Disproof, Evidence, Finding, Gap, Hypothesis
from svcpath.findings.shell import shell
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.scene import EndpointView, Scene, host_port

FAILED = ("refused", "timeout", "reset", "no-route", "error")


def check(view: Scene, attempts: Reply, cut_off: Mapping[str, Hypothesis]) -> CheckResult:
    """``cut_off``: by endpoint address, what is supported where its node takes no command either."""
    found = tried(view, attempts)
    if not found:
        return CheckResult(looked=False)
    findings: list[Finding] = []
    phrases: list[str] = []
    quiet: list[str] = []
    by_address = {endpoint.address: endpoint for endpoint in view.usable}
    for (address, port, _), attempted in found.items():
        endpoint = by_address[address]
        # The newest attempt tells how it is now; the earlier ones are kept as evidence.
        newest, observation = attempted[-1]
        place = host_port(endpoint.address, port)
        failed = [attempt for attempt, _ in attempted if attempt.outcome in FAILED]
        if all(attempt.outcome == "unanswered" for attempt, _ in attempted):
            phrases.append(f"a datagram to {place} {_word(newest)}")
            quiet.append(place)
            continue
        if not failed:
            phrases.append(f"direct {place} {_word(newest)}")
            if all(attempt.unanswered for attempt, _ in attempted):
                findings.append(_no_http(view, endpoint, port, newest, observation))
            continue
        share = "" if len(failed) == len(attempted) else f" in {len(failed)} of {len(attempted)} attempts"
        outcome = failed[-1].outcome
        phrases.append(f"direct {place} {outcome}{share}")
        made = _finding(view, endpoint, port, failed[-1], observation, share)
        if newest.outcome in FAILED and (rival := cut_off.get(address)) is not None:
            first, *others = made.hypotheses
            made = msgspec.structs.replace(made, hypotheses=(first, rival, *others))
        findings.append(made)
    gaps: tuple[Gap, ...] = ()
    if quiet:
        why = "nothing came back, which is not a refusal: only a reply of the application would show more"
        gaps = (Gap("pod", f"an answer to a datagram from {', '.join(quiet[:4])}", why),)
    return CheckResult(findings=tuple(findings), not_looked_at=gaps, phrase=", ".join(phrases[:4]))


def lost(view: Scene, attempts: Reply) -> dict[str, tuple[EndpointView, Observation[Attempts]]]:
    """Endpoints, by address, whose newest direct connection got no answer or ended in no-route."""
    by_address = {endpoint.address: endpoint for endpoint in view.usable}
    found: dict[str, tuple[EndpointView, Observation[Attempts]]] = {}
    for (address, _, _), attempted in tried(view, attempts).items():
        attempt, recorded = attempted[-1]
        if attempt.outcome in ("timeout", "no-route"):
            found[address] = (by_address[address], recorded)
    return found


Place = tuple[str, int, str]


def tried(view: Scene, attempts: Reply) -> dict[Place, list[tuple[Attempt, Observation[Attempts]]]]:
    """Attempts to an endpoint's address on its slice port, by address, port and protocol, oldest first."""
    by_address = {endpoint.address: endpoint for endpoint in view.usable}
    found: dict[Place, list[tuple[Attempt, Observation[Attempts]]]] = {}
    for recorded in attempts.present:
        for attempt in recorded.fact.attempts:
            if attempt.padded:
                continue
            if view.request.client and attempt.client and not same_pod(attempt.client, view.request.client):
                continue
            endpoint = by_address.get(canonical(attempt.address or attempt.host))
            if endpoint is None:
                continue
            if (attempt.port, attempt.protocol) in view.asked_ports(endpoint):
                found.setdefault((endpoint.address, attempt.port, attempt.protocol), []).append((attempt, recorded))
    return found


def _word(attempt: Attempt) -> str:
    if attempt.outcome == "unanswered":
        return "not answered, which is not refused"
    if attempt.outcome == "ok":
        return "answers" if not attempt.status else f"answers {attempt.status}"
    return f"connects, {attempt.outcome} {attempt.status or attempt.error}".strip()


def _no_http(
    view: Scene, endpoint: EndpointView, port: int, attempt: Attempt, observation: Observation[Attempts]
) -> Finding:
    """Connected, and no HTTP came back from a port that is named for it. Silence fails the request whatever is spoken
    there; an end or a reset may also be the answer of another protocol to a greeting in HTTP."""
    place = host_port(endpoint.address, port)
    evidence = (Evidence(f"{attempt.client or 'the client'} to {place}: {attempt.error}", observation),)
    silent = attempt.unanswered is Unanswered.SILENCE
    return finding(
        "SP506",
        Status.FAIL if silent else Status.INCONCLUSIVE,
        f"{place} ({endpoint.who}) accepts connections and does not answer GET /: {attempt.error}",
        evidence=evidence,
        confidence=Confidence.SUPPORTED if silent else Confidence.POSSIBLE,
        share=f"1 of {len(view.usable)} backends" if len(view.usable) > 1 else "all new connections",
        namespace=view.request.namespace,
        pod=endpoint.who,
        client=view.request.client_name or "CLIENT-POD",
        url=f"http://{place}/",
    )


def _finding(
    view: Scene, endpoint: EndpointView, port: int, attempt: Attempt, observation: Observation[Attempts], share: str
) -> Finding:
    place = host_port(endpoint.address, port)
    code = {"refused": "SP501", "timeout": "SP502"}.get(attempt.outcome, "SP506")
    client = attempt.client or "the client"
    evidence = (Evidence(f"{client} to {place}: {attempt.outcome} {attempt.error}".strip(), observation),)
    others: tuple[Hypothesis, ...] = ()
    if code == "SP502":
        others = (
            Hypothesis("a NetworkPolicy drops it", "pod", Confidence.POSSIBLE, evidence),
            Hypothesis("a route or return route between the nodes is missing", "pod", Confidence.POSSIBLE, evidence),
            Hypothesis("the application accepts and does not answer", "pod", Confidence.POSSIBLE, evidence),
        )
    found = finding(
        code,
        Status.FAIL,
        f"direct {'datagram' if attempt.protocol == 'UDP' else 'connection'} to {place} ({endpoint.who}): {attempt.outcome}{share}",
        evidence=evidence,
        confidence=Confidence.SUPPORTED,
        others=others,
        share=f"1 of {len(view.usable)} backends" if len(view.usable) > 1 else "all new connections",
        namespace=view.request.namespace,
        pod=endpoint.who,
        client=view.request.client_name or "CLIENT-POD",
        url=f"http://{place}/",
    )
    return found if attempt.protocol != "UDP" else _asked_by_datagram(view, found, endpoint.address, port)


def _asked_by_datagram(view: Scene, found: Finding, address: str, port: int) -> Finding:
    """A datagram is not repeated with curl."""
    command = shell(
        "kubectl -n {namespace} exec {client} -- dig +time=2 +tries=1 @{address} -p {port} kubernetes.default",
        namespace=view.request.client_namespace or view.request.namespace,
        client=view.request.client_name or "CLIENT-POD",
        address=address,
        port=port,
    )
    first, *others = found.hypotheses
    first = msgspec.structs.replace(
        first, disproof=Disproof(command, "an answer printed, whatever it says, disproves it")
    )
    return msgspec.structs.replace(found, hypotheses=(first, *others))
