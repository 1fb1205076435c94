"""Connections of the evidence to this Service or its backends that failed, whoever explains them.

Of each client, host and port the newest attempt counts; of attempts that were repeated to count failures, one that failed.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene, host_port

FAILED = ("refused", "timeout", "reset", "no-route")


class FailedConnection(msgspec.Struct, frozen=True):
    """``share``: how many of the repeated attempts failed, in words, empty where it was tried once. ``direct``: a backend
    answered at its own address."""

    attempt: Attempt
    observation: Observation[Attempts]
    share: str
    direct: bool

    @property
    def place(self) -> str:
        return host_port(self.attempt.address or self.attempt.host, self.attempt.port)


def gather(scene: Scene) -> Asking[FailedConnection | None]:
    """The first connection on the asked path that failed, if one did."""
    if not scene.request.service:
        return None
    attempts = yield from ask.one(Need(Kind.ATTEMPTS))
    newest = _newest(scene, attempts.present)
    failed = next(((attempt, shown) for attempt, shown in newest if attempt.outcome in FAILED), None)
    if failed is None:
        return None
    attempt, shown = failed
    direct = any(_is_backend(scene, other) and other.outcome == "ok" for other, _ in newest)
    return FailedConnection(attempt, shown, _share(attempt, shown), direct)


def _share(attempt: Attempt, shown: Observation[Attempts]) -> str:
    place = (attempt.protocol, attempt.host, attempt.port)
    same = [other for other in shown.fact.attempts if (other.protocol, other.host, other.port) == place]
    bad = sum(1 for other in same if other.outcome in FAILED)
    return f" in {bad} of {len(same)} attempts" if shown.fact.repeated and len(same) > 1 else ""


def _newest(scene: Scene, present: Sequence[Observation[Attempts]]) -> list[tuple[Attempt, Observation[Attempts]]]:
    """The newest attempt per client, host and port that goes to this Service or one of its backends; of attempts that
    were repeated to count failures, one that failed."""
    latest: dict[tuple[str, str, str, int], tuple[Attempt, Observation[Attempts]]] = {}
    for shown in present:
        for attempt in shown.fact.attempts:
            if _is_service(scene, attempt) or _is_backend(scene, attempt):
                key = (attempt.client, attempt.protocol, attempt.host, attempt.port)
                before = latest.get(key)
                if shown.fact.repeated and before and before[1] is shown and before[0].outcome in FAILED:
                    continue
                latest[key] = (attempt, shown)
    return list(latest.values())


def _is_service(scene: Scene, attempt: Attempt) -> bool:
    service = scene.service
    if service is None:
        return False
    ports = {port.port for port in scene.service_ports}
    if attempt.port not in ports:
        return False
    if canonical(attempt.host) in service.cluster_ips or canonical(attempt.address) in service.cluster_ips:
        return True
    labels = attempt.host.rstrip(".").split(".")
    return labels[0] == service.name and (len(labels) == 1 or labels[1] == service.namespace) and not attempt.address


def _is_backend(scene: Scene, attempt: Attempt) -> bool:
    """Another port of a Pod is another Service's business."""
    return any(
        endpoint.address == canonical(attempt.address or attempt.host)
        and attempt.port in {port for port, _ in scene.asked_ports(endpoint)}
        for endpoint in scene.usable
    )
