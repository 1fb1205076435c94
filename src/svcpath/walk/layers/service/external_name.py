"""ExternalName is a CNAME and nothing else: no port mapping, no selector, no address.

Source: Service docs "Type ExternalName"; CoreDNS plugin/kubernetes answers with a CNAME record alone.
"""

from __future__ import annotations

import re

from svcpath.evidence.facts.addresses import family_of
from svcpath.evidence.facts.dns import LookupQuestion
from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.urls import asked_host, asked_port

#: ValidateExternalName: a DNS-1123 subdomain, with or without the dot at its end.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\.?")


def check(view: Scene, queries: tuple[Observation[LookupQuestion], ...], attempts: Reply) -> Asking[CheckResult]:
    service = view.service
    if service is None or not service.is_external_name:
        return CheckResult(looked=False)
    observed = Evidence(f"Service {service.name}: ExternalName {service.spec.external_name}", view.service_observation)
    findings = [*_shape(service, observed), *_ports(view, service, observed, queries, attempts)]
    if not findings:
        findings = yield from _relative(view, service, observed)
    return CheckResult(findings=tuple(findings))


def _relative(view: Scene, service: Service, observed: Evidence) -> Asking[list[Finding]]:
    """A name that would need a search list: one label, or NAME.NAMESPACE and NAME.NAMESPACE.svc of a Service that is there."""
    target = service.spec.external_name or ""
    labels = target.rstrip(".").lower().split(".")
    seen: tuple[Evidence, ...] = ()
    if len(labels) == 2 or (len(labels) == 3 and labels[2] == "svc"):
        reply = yield from ask.service(labels[1], labels[0])
        if not reply.present and len(labels) == 2:
            return []
        seen = tuple(
            Evidence(f"Service {labels[0]} of namespace {labels[1]} is there", observed) for observed in reply.present
        )
    elif len(labels) != 1:
        return []
    sentence = (
        f"externalName {target} is no full name: the CNAME sends clients to {'.'.join(labels)}. as it stands, "
        "outside the cluster's zone, for no search list applies to it"
    )
    return [
        finding(
            "SP212",
            Status.WARN,
            sentence,
            evidence=(observed, *seen),
            confidence=Confidence.SUPPORTED,
            namespace=view.request.client_namespace or service.namespace,
            pod=view.request.client_name or "CLIENT-POD",
            target=".".join(labels),
        )
    ]


def _shape(service: Service, observed: Evidence) -> list[Finding]:
    target = service.spec.external_name or ""
    values = {"namespace": service.namespace, "service": service.name}
    if family_of(target):
        sentence = f"externalName {target} is an address: no CNAME can point there, clients get no answer"
        return [
            finding("SP204", Status.FAIL, sentence, evidence=(observed,), confidence=Confidence.PROVEN, names=values)
        ]
    if target and not _NAME.fullmatch(target):
        sentence = f"externalName {target} is no DNS name (RFC 1123): the API server takes none like it, and no CNAME points there"
        return [
            finding("SP204", Status.FAIL, sentence, evidence=(observed,), confidence=Confidence.PROVEN, names=values)
        ]
    if not target:
        sentence = f"Service {service.name} is of type ExternalName without an externalName"
        return [
            finding("SP204", Status.FAIL, sentence, evidence=(observed,), confidence=Confidence.PROVEN, names=values)
        ]
    if service.spec.selector:
        sentence = f"Service {service.name} is of type ExternalName: its selector selects nothing"
        return [
            finding("SP204", Status.WARN, sentence, evidence=(observed,), confidence=Confidence.PROVEN, names=values)
        ]
    return []


def _ports(
    view: Scene, service: Service, observed: Evidence, queries: tuple[Observation[LookupQuestion], ...], attempts: Reply
) -> list[Finding]:
    """A port that is meant to be mapped is a fault once a client is seen to rely on it, else a warning."""
    target = service.spec.external_name
    name = f"{service.name}.{service.namespace}.svc"
    used = {asked_port(query.fact): query for query in queries if asked_port(query.fact)}
    for attempt in attempts.present:
        for tried in attempt.fact.attempts:
            if tried.host.split(".")[0] == service.name:
                used.setdefault(tried.port, attempt)
    findings = []
    for port in view.service_ports or service.ports:
        if port.target_port in (None, port.port):
            continue
        relied = port.port in used
        host = next((host for query in queries if (host := asked_host(query.fact))), name)
        evidence = (
            (observed, Evidence(f"the client connects to port {port.port}", used[port.port])) if relied else (observed,)
        )
        findings.append(
            finding(
                "SP203",
                Status.FAIL if relied else Status.WARN,
                f"CNAME only: {port.port} -> {port.target_port} is not done, targetPort has no effect on ExternalName; "
                f"the client connects to {target}:{port.port} and sends {host} as Host and SNI",
                evidence=evidence,
                confidence=Confidence.PROVEN if relied else Confidence.SUPPORTED,
                details=(f"the Host, SNI and certificate of {target} may not match the name {host}",),
                namespace=service.namespace,
                service=service.name,
            )
        )
    return findings
