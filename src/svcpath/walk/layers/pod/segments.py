"""Requests that fill whole segments, beside small ones: a path that loses large packets alone (an MTU black hole).

A small request is answered and a large one is not even acknowledged by the other kernel: the application never sees it,
and no "fragmentation needed" came back (RFC 2923, RFC 4821). What was acknowledged and not answered is the application's
affair and says nothing here; nor does a single loss, so every large one must be lost, and more than one.
"""

from __future__ import annotations

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.layers.pod import direct, routes
from svcpath.walk.scene import Scene, host_port


def check(view: Scene, attempts: Reply) -> Asking[CheckResult]:
    small = direct.tried(view, attempts)
    large = _large(view, attempts)
    found = {}
    for (address, port), attempted in large.items():
        answered = [
            (attempt, recorded) for attempt, recorded in small.get((address, port, "TCP"), ()) if attempt.status
        ]
        lost = [
            (attempt, recorded)
            for attempt, recorded in attempted
            if attempt.outcome == "stalled" and attempt.unacknowledged != 0
        ]
        if answered and len(lost) >= 2 and len(lost) == len(attempted):
            found[address, port] = (answered, lost)
    places = yield from routes.narrow_places(view, ((key[0], lost[-1][0]) for key, (_, lost) in found.items()))
    findings: list[Finding] = []
    for (address, port), (answered, lost) in found.items():
        attempt, observed = lost[-1]
        measured = all(request.unacknowledged for request, _ in lost)
        place = host_port(address, port)
        who = next((endpoint.who for endpoint in view.usable if endpoint.address == address), address)
        size = f"{attempt.segment}-byte segments" if attempt.segment else "whole segments"
        unheard = f", {attempt.unacknowledged} bytes of it never acknowledged" if measured else ""
        findings.append(
            finding(
                "SP508",
                Status.FAIL,
                f"{place} ({who}) answers a small request, but a request of {attempt.padded} bytes in {size} is lost on the "
                f"way in {len(lost)} of {count(len(lost), 'attempt')}{unheard}",
                evidence=(
                    Evidence(f"{attempt.client} to {place}, {attempt.padded} bytes: no answer{unheard}", observed),
                    Evidence(
                        f"{attempt.client} to {place}, a small request: {answered[-1][0].status}", answered[-1][1]
                    ),
                ),
                confidence=Confidence.PROVEN if measured else Confidence.SUPPORTED,
                others=(places[address],),
                share="requests larger than the path takes",
                namespace=view.request.client_namespace or view.request.namespace,
                client=view.request.client_name or "CLIENT-POD",
                url=f"http://{place}/",
            )
        )
    passed = [key for key, attempted in large.items() if all(request.status for request, _ in attempted)]
    phrase = f"large requests pass to {len(passed)} of {len(large)}" if passed and not findings else ""
    return CheckResult(findings=tuple(findings), phrase=phrase, looked=bool(findings) or bool(phrase))


def _large(view: Scene, attempts: Reply) -> dict[tuple[str, int], list[tuple[Attempt, Observation[Attempts]]]]:
    usable = {endpoint.address for endpoint in view.usable}
    found: dict[tuple[str, int], list[tuple[Attempt, Observation[Attempts]]]] = {}
    for recorded in attempts.present:
        for attempt in recorded.fact.attempts:
            address = canonical(attempt.address or attempt.host)
            if attempt.padded and address in usable:
                found.setdefault((address, attempt.port), []).append((attempt, recorded))
    return found
