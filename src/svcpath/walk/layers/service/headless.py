"""A headless Service hands out addresses and translates nothing: a client that uses the Service's port misses.

Many headless Services have port 80 and targetPort 8080 and clients that connect to 8080: only a client that is seen to
use the untranslated port (a URL, a recorded connection) makes it a fault.
"""

from __future__ import annotations

from svcpath.evidence.facts.dns import LookupQuestion
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.scene import Scene, host_port
from svcpath.walk.subjects.urls import asked_port


def check(view: Scene, queries: tuple[Observation[LookupQuestion], ...], attempts: Reply) -> CheckResult:
    service = view.service
    if service is None or not service.is_headless:
        return CheckResult(looked=False)
    findings = []
    notes = []
    for port in view.service_ports or service.ports:
        real = {
            (endpoint.address, found.port)
            for endpoint in view.distinct
            if (found := endpoint.port_for(port)) and found.port is not None
        }
        differing = sorted((address, number) for address, number in real if number != port.port)
        if not differing:
            continue
        listening = ", ".join(host_port(address, number) for address, number in differing[:4])
        relying = [query for query in queries if asked_port(query.fact) == port.port]
        tried = [
            recorded
            for recorded in attempts.present
            for attempt in recorded.fact.attempts
            if attempt.port == port.port
            and attempt.outcome in ("refused", "timeout", "no-route", "reset")
            and (attempt.host.split(".")[0] == service.name or attempt.address in {address for address, _ in real})
        ]
        if not relying and not tried:
            notes.append(f"clients reach {listening} themselves, port {port.port} is translated by nothing")
            continue
        wrong = ", ".join(host_port(address, port.port) for address, _ in differing[:4])
        evidence = [
            Evidence(f"Service {service.name}: clusterIP None, port {port.port}", view.service_observation),
            Evidence(f"the slices' port is {', '.join(str(number) for _, number in differing[:4])}", view.slices[0]),
            *(
                Evidence(f"the client connects to port {port.port}", observation)
                for observation in (*relying, *tried)[:2]
            ),
        ]
        findings.append(
            finding(
                "SP205",
                Status.FAIL,
                f"no translation for headless Services: a connection to {wrong} is refused or times out, "
                f"the listening port is {', '.join(sorted({str(number) for _, number in differing}))}",
                evidence=tuple(evidence),
                confidence=Confidence.PROVEN if tried else Confidence.SUPPORTED,
                namespace=service.namespace,
                service=service.name,
            )
        )
    return CheckResult(findings=tuple(findings), phrase="; ".join(notes))
