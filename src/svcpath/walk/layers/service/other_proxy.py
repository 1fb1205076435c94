"""A Service that is handed to another proxy than kube-proxy: its rules are missing from kube-proxy's tables by right.

Source: the label ``service.kubernetes.io/service-proxy-name`` (KEP-2447; pkg/proxy/apis/well_known_labels.go): kube-proxy
watches the Services without it alone.
"""

from __future__ import annotations

from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.status import Status
from svcpath.walk.checks import check
from svcpath.walk.scene import Scene

LABEL = "service.kubernetes.io/service-proxy-name"


@check
def left_to_another_proxy(scene: Scene) -> CheckResult:
    service = scene.service
    proxy = service.labels.get(LABEL) if service is not None else None
    if service is None or not proxy:
        return CheckResult(looked=False)
    return CheckResult(
        findings=(
            finding(
                "SP210",
                Status.WARN,
                f"Service {service.name} is left to the proxy {proxy}: kube-proxy does not program it",
                evidence=(Evidence(f"Service {service.name}: label {LABEL}={proxy}", scene.service_observation),),
                namespace=service.namespace,
                service=service.name,
            ),
        )
    )
