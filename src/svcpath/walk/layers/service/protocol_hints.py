"""appProtocol: a hint that gateways and meshes read and kube-proxy ignores (KEP-3726 names its values)."""

from __future__ import annotations

from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.status import Confidence, Status
from svcpath.walk.checks import check
from svcpath.walk.scene import Scene

#: Unprefixed words that users write for the prefixed ones. "http", "https", "grpc" are IANA or implementation names.
MEANT = {"h2c": "kubernetes.io/h2c", "ws": "kubernetes.io/ws", "wss": "kubernetes.io/wss"}


@check
def app_protocol(view: Scene) -> CheckResult:
    service = view.service
    if service is None:
        return CheckResult(looked=False)
    findings = []
    for port in view.service_ports or service.ports:
        wanted = MEANT.get((port.app_protocol or "").lower())
        if wanted is None:
            continue
        findings.append(
            finding(
                "SP208",
                Status.WARN,
                f'appProtocol "{port.app_protocol}" of port {port.name or port.port} is not the Kubernetes name: '
                f"use {wanted}; the L4 path is not affected (lint only)",
                evidence=(Evidence(f"Service {service.name}, port {port.port}", view.service_observation),),
                confidence=Confidence.PROVEN,
                remedy=f"set appProtocol: {wanted}",
                namespace=service.namespace,
                service=service.name,
            )
        )
    return CheckResult(findings=tuple(findings), looked=bool(findings))
