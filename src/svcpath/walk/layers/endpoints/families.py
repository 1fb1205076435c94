"""Each address family of the Service needs endpoints of its own (slices are made per family from status.podIPs)."""

from __future__ import annotations

from svcpath.evidence.facts.addresses import family_of
from svcpath.evidence.facts.kubernetes import Service
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Confidence, Evidence, Finding, Status
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
    filled = [one for one in view.slices if one.fact.endpoints]
    if not service.cluster_ips or not filled or any(one.fact.address_type != "FQDN" for one in filled):
        return None
    names = ", ".join(dict.fromkeys(endpoint.address for endpoint in view.endpoints))
    return finding(
        "SP317",
        Status.FAIL,
        f"every slice of {service.name} is of addressType FQDN ({names}): nodes use IPv4 and IPv6 alone, so there is no backend",
        evidence=tuple(Evidence(f"slice {one.fact.name}: addressType FQDN", one) for one in filled[:3]),
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
    ready = [one for one in view.selected if one.fact.ready and one.fact.ips]
    if not ready:
        return CheckResult(looked=False)
    families = service_families(view)
    findings: list[Finding] = []
    for family in families:
        number = NUMBER.get(family, 0)
        if any(endpoint.family == number for endpoint in view.usable):
            continue
        if any(family_of(ip) == number for one in ready for ip in one.fact.ips):
            continue
        have = ", ".join(f"{one.fact.name} has only {', '.join(one.fact.ips)}" for one in ready[:3])
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
                    *(Evidence(f"Pod {one.fact.name}: {', '.join(one.fact.ips)}", one) for one in ready[:3]),
                    *(
                        Evidence(f"slice {one.fact.name} ({one.fact.address_type}) has no endpoints", one)
                        for one in view.slices
                        if one.fact.address_type == family and not one.fact.endpoints
                    ),
                ),
                confidence=Confidence.PROVEN
                if any(one.fact.address_type == family for one in view.slices)
                else Confidence.SUPPORTED,
                share=f"all new connections over {family}" if one_of_two else "all new connections",
                details=("ipFamilyPolicy PreferDualStack gave the Service both families",) if optional else (),
                namespace=service.namespace,
                selector=as_text(service.spec.selector or {}),
            )
        )
    return CheckResult(findings=tuple(findings))
