"""Is there such a Service, has it an address, and has it the port that was asked for?"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.need import Kind, Need
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.findings.shell import shell
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene


def check(view: Scene) -> Asking[CheckResult]:
    if view.service is not None:
        return _present(view, view.service)
    request = view.request
    command = shell(
        "kubectl -n {namespace} get service {service} -o yaml", namespace=request.namespace, service=request.service
    )
    if not request.service:
        gap = Gap("service", "the Service", "no Service was read", "kubectl get services -A -o yaml")
        return CheckResult(not_looked_at=(gap,), looked=False)
    if view.service_reply.unreadable:
        gap = Gap("service", f"Service {request.service}", view.service_reply.why, command, view.service_reply.in_vain)
        return CheckResult(not_looked_at=(gap,), looked=False)
    everywhere = yield from ask.one(Need(Kind.SERVICE, permission="list services"))
    evidence = tuple(
        Evidence(f"looked for Service {request.label}: absent", observation)
        for observation in view.service_reply.observations
    )
    confidence = Confidence.PROVEN if view.service_reply.complete else Confidence.SUPPORTED
    details = _near(view, [value for value in everywhere.values if isinstance(value, Service)])
    missing = finding(
        "SP201",
        Status.FAIL,
        f"no Service {request.service} in namespace {request.namespace}",
        evidence=evidence,
        confidence=confidence,
        details=details,
        namespace=request.namespace,
        service=request.service,
    )
    return CheckResult(findings=(missing,))


def _near(view: Scene, services: list[Service]) -> tuple[str, ...]:
    """Services the user may have meant: the same name elsewhere, or a similar one here."""
    request = view.request
    elsewhere = sorted(service.namespace for service in services if service.name == request.service)
    here = sorted(service.name for service in services if service.namespace == request.namespace)
    details = []
    if elsewhere:
        details.append(f"a Service {request.service} exists in {', '.join(elsewhere)}")
    if close := difflib.get_close_matches(request.service, here, n=3):
        details.append(f"similar in {request.namespace}: {', '.join(close)}")
    elif here and not elsewhere:
        details.append(f"Services in {request.namespace}: {', '.join(here[:8])}")
    return tuple(details)


def _present(view: Scene, service: Service) -> CheckResult:
    observed = Evidence(_describe(service), view.service_observation)
    findings = [*_address(view, service, observed), *_port(view, service, observed)]
    gaps = () if _applied(service) or not _lacks_address(service) else (_manifest(service),)
    return CheckResult(findings=tuple(findings), not_looked_at=gaps, phrase=_describe(service))


def _lacks_address(service: Service) -> bool:
    return not service.is_external_name and not service.is_headless and not service.cluster_ips


def _applied(service: Service) -> bool:
    """Whether an API server wrote this object: a manifest as one applies it has none of these, and no cluster IP."""
    meta = service.metadata
    return bool(meta.uid or meta.resource_version or meta.creation_timestamp)


def _manifest(service: Service) -> Gap:
    return Gap(
        "service",
        f"the cluster IP of {service.name}",
        "this is a manifest that no API server has read: the address is given when it is applied",
        shell("kubectl get service {name} -o yaml", name=service.name),
    )


def _describe(service: Service) -> str:
    ports = ", ".join(
        f"{port.port}/{port.protocol}"
        + (f" -> targetPort {port.target_port}" if port.target_port not in (None, port.port) else "")
        for port in service.ports[:4]
    ) + (" ..." if len(service.ports) > 4 else "")
    if service.is_external_name:
        return f"ExternalName {service.spec.external_name}"
    kind = "headless" if service.is_headless else f"{service.spec.type} {', '.join(service.cluster_ips)}"
    return ", ".join(part for part in (kind.strip(), ports, *_policies(service)) if part)


def _policies(service: Service) -> Iterator[str]:
    """What else steers a connection, where it is not the default."""
    spec = service.spec
    if spec.session_affinity == "ClientIP":
        config = spec.session_affinity_config.client_ip if spec.session_affinity_config else None
        yield f"ClientIP affinity {(config.timeout_seconds if config else None) or 10800} s"
    if spec.internal_traffic_policy == "Local":
        yield "internalTrafficPolicy Local"
    if spec.external_traffic_policy == "Local":
        yield "externalTrafficPolicy Local"
    if spec.traffic_distribution:
        yield f"trafficDistribution {spec.traffic_distribution}"
    if spec.publish_not_ready_addresses:
        yield "publishNotReadyAddresses"


def _address(view: Scene, service: Service, observed: Evidence) -> list[Finding]:
    findings = []
    if _lacks_address(service) and _applied(service):
        findings.append(
            finding(
                "SP202",
                Status.FAIL,
                f"Service {service.name} is of type {service.spec.type} and has no cluster IP",
                evidence=(observed,),
                confidence=Confidence.SUPPORTED,
                namespace=service.namespace,
                service=service.name,
            )
        )
    ingress = service.status.load_balancer.ingress if service.status and service.status.load_balancer else None
    if service.spec.type == "LoadBalancer" and service.status is not None and not ingress:
        findings.append(
            finding(
                "SP209",
                Status.WARN,
                f"Service {service.name} is of type LoadBalancer and has no load balancer address yet",
                evidence=(observed,),
                namespace=service.namespace,
                service=service.name,
            )
        )
    return findings


def _port(view: Scene, service: Service, observed: Evidence) -> list[Finding]:
    asked = view.request.port
    if not asked or view.service_ports or service.is_external_name:
        return []
    have = ", ".join(f"{port.port}/{port.protocol}{f' ({port.name})' if port.name else ''}" for port in service.ports)
    if service.is_headless and any(
        str(port.port) == asked for slice_ in view.slices for port in slice_.fact.ports or ()
    ):
        return []
    meant = [str(port.port) for port in service.ports if str(port.target_port) == asked]
    return [
        finding(
            "SP206",
            Status.FAIL,
            f"Service {service.name} has no port {asked}: it has {have or 'none'}",
            evidence=(observed,),
            confidence=Confidence.PROVEN,
            details=(f"{asked} is the targetPort of port {', '.join(meant)}: clients use the latter",) if meant else (),
            namespace=service.namespace,
            service=service.name,
        )
    ]
