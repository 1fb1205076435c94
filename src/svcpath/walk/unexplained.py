"""A recorded connection that failed while no layer fails: never a healthy verdict, and no accusation either."""

from __future__ import annotations

from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import Evidence, Finding, LayerResult, Status
from svcpath.walk.request import Request
from svcpath.walk.scene import Scene, canonical, host_port, scene

FAILED = ("refused", "timeout", "reset", "no-route")


def check(request: Request, layers: tuple[LayerResult, ...]) -> Asking[tuple[Finding, ...]]:
    if not request.service or any(result.status is Status.FAIL for result in layers):
        return ()
    view = yield from scene(request)
    attempts = yield from ask.one(Need(Kind.ATTEMPTS))
    newest = _newest(view, attempts.present)
    failed = [(attempt, one) for attempt, one in newest if attempt.outcome in FAILED]
    if not failed or any(result.status is Status.INCONCLUSIVE for result in layers):
        return ()
    attempt, one = failed[0]
    place = host_port(attempt.address or attempt.host, attempt.port)
    direct = any(_is_backend(view, each) and each.outcome == "ok" for each, _ in newest)
    code = "SP619" if direct else "SP011"
    share = _share(attempt, one)
    also = " while the Pods answer directly" if direct else ""
    return (
        finding(
            code,
            Status.INCONCLUSIVE,
            f"a recorded connection to {place} ended in {attempt.outcome}{share}{also}, and no layer that was looked at explains it",
            evidence=(Evidence(f"{attempt.client or 'the client'} to {place}: {attempt.outcome}", one),),
            standing=None,
            layer="dataplane",
        ),
    )


def _share(attempt: Attempt, one: Observation[Attempts]) -> str:
    place = (attempt.protocol, attempt.host, attempt.port)
    same = [each for each in one.fact.attempts if (each.protocol, each.host, each.port) == place]
    bad = sum(1 for each in same if each.outcome in FAILED)
    return f" in {bad} of {len(same)} attempts" if one.fact.repeated and len(same) > 1 else ""


def _newest(view: Scene, observed: tuple[Observation[Attempts], ...]) -> list[tuple[Attempt, Observation[Attempts]]]:
    """The newest attempt per client, host and port that goes to this Service or one of its backends; of attempts that
    were repeated to count failures, one that failed."""
    latest: dict[tuple[str, str, str, int], tuple[Attempt, Observation[Attempts]]] = {}
    for one in observed:
        for attempt in one.fact.attempts:
            if _is_service(view, attempt) or _is_backend(view, attempt):
                key = (attempt.client, attempt.protocol, attempt.host, attempt.port)
                before = latest.get(key)
                if one.fact.repeated and before and before[1] is one and before[0].outcome in FAILED:
                    continue
                latest[key] = (attempt, one)
    return list(latest.values())


def _is_service(view: Scene, attempt: Attempt) -> bool:
    service = view.service
    if service is None:
        return False
    ports = {port.port for port in view.service_ports}
    if attempt.port not in ports:
        return False
    if canonical(attempt.host) in service.cluster_ips or canonical(attempt.address) in service.cluster_ips:
        return True
    labels = attempt.host.rstrip(".").split(".")
    return labels[0] == service.name and (len(labels) == 1 or labels[1] == service.namespace) and not attempt.address


def _is_backend(view: Scene, attempt: Attempt) -> bool:
    """Another port of a Pod is another Service's business."""
    return any(
        endpoint.address == canonical(attempt.address or attempt.host)
        and attempt.port in {port for port, _ in view.asked_ports(endpoint)}
        for endpoint in view.usable
    )
