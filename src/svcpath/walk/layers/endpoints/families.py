"""Each address family of the Service needs endpoints of its own (slices are made per family from status.podIPs)."""

from __future__ import annotations

from svcpath.evidence.facts.addresses import family_of
from svcpath.evidence.facts.kubernetes import Service
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.status import Confidence, Status
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.selectors import as_text

NUMBER = {"IPv4": 4, "IPv6": 6}


def service_families(view: Scene) -> tuple[str, ...]:
    """The Service's families: ipFamilies, else those of its addresses."""
    service = view.service
    if service is None:
        return ()
    if service.spec.ip_families:
        return service.spec.ip_families
    return tuple(f"IPv{family_of(ip)}" for ip in service.cluster_ips if family_of(ip))


def _host_names_only(view: Scene, service: Service) -> Finding | None:
    """Slices of addressType FQDN give a cluster IP no backend (pkg/proxy/endpointschangetracker.go takes IPv4 and IPv6)."""
    filled = [slice_ for slice_ in view.slices if slice_.fact.endpoints]
    if not service.cluster_ips or not filled or any(slice_.fact.address_type != "FQDN" for slice_ in filled):
        return None
    names = ", ".join(dict.fromkeys(endpoint.address for endpoint in view.endpoints))
    return finding(
        "SP317",
        Status.FAIL,
        f"every slice of {service.name} is of addressType FQDN ({names}): nodes use IPv4 and IPv6 alone, so there is no backend",
        evidence=tuple(Evidence(f"slice {slice_.fact.name}: addressType FQDN", slice_) for slice_ in filled[:3]),
        confidence=Confidence.PROVEN,
        share="all new connections",
        namespace=service.namespace,
        service=service.name,
    )


def check(view: Scene) -> CheckResult:
    service = view.service
    if service is None:
        return CheckResult(looked=False)
    if named := _host_names_only(view, service):
        return CheckResult(findings=(named,))
    if not view.selected:
        return CheckResult(looked=False)
    ready = [pod for pod in view.selected if pod.fact.ready and pod.fact.ips]
    if not ready:
        return CheckResult(looked=False)
    families = service_families(view)
    findings: list[Finding] = []
    for family in families:
        number = NUMBER.get(family, 0)
        if any(endpoint.family == number for endpoint in view.usable):
            continue
        if any(family_of(ip) == number for pod in ready for ip in pod.fact.ips):
            continue
        have = ", ".join(f"{pod.fact.name} has only {', '.join(pod.fact.ips)}" for pod in ready[:3])
        one_of_two = len(families) > 1
        optional = one_of_two and service.spec.ip_family_policy == "PreferDualStack"
        findings.append(
            finding(
                "SP310",
                Status.FAIL,
                f"ipFamilies [{', '.join(families)}]: no endpoint of family {family}; the Pods match the selector and "
                f"are ready, but {have}",
                evidence=(
                    Evidence(f"Service {service.name}: families {', '.join(families)}", view.service_observation),
                    *(Evidence(f"Pod {pod.fact.name}: {', '.join(pod.fact.ips)}", pod) for pod in ready[:3]),
                    *(
                        Evidence(f"slice {slice_.fact.name} ({slice_.fact.address_type}) has no endpoints", slice_)
                        for slice_ in view.slices
                        if slice_.fact.address_type == family and not slice_.fact.endpoints
                    ),
                ),
                confidence=Confidence.PROVEN
                if any(slice_.fact.address_type == family for slice_ in view.slices)
                else Confidence.SUPPORTED,
                share=f"all new connections over {family}" if one_of_two else "all new connections",
                details=("ipFamilyPolicy PreferDualStack gave the Service both families",) if optional else (),
                namespace=service.namespace,
                selector=as_text(service.spec.selector or {}),
            )
        )
    return CheckResult(findings=tuple(findings))
