"""A client that has no address of any family in which the Service can be reached.

status.podIPs lists all addresses that the Pod got (Pod API v1.35, at most one of each family). A Pod in its node's network
may have more of the node's than are listed, so it is not judged.
"""

from __future__ import annotations

from svcpath.evidence.facts.addresses import canonical, family_of
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.scene import Scene, connected


def check(view: Scene, attempts: Reply) -> Asking[CheckResult]:
    service, request = view.service, view.request
    if service is None or service.is_external_name:
        return CheckResult(looked=False)
    pod = yield from ask.client_pod(request.client_namespace, request.client_name)
    listed = tuple(address.ip for address in pod.fact.status.pod_ips or () if address.ip) if pod is not None else ()
    if pod is None or not listed or pod.fact.spec.host_network or pod.fact.finished:
        return CheckResult(looked=False)
    addresses = [canonical(ip) for ip in service.cluster_ips] or [endpoint.address for endpoint in view.endpoints]
    wanted = {family_of(address) for address in addresses} - {0}
    own = {family_of(address) for address in listed}
    if not wanted or own & wanted:
        return CheckResult(looked=False)
    if connected(attempts) & set(addresses):
        return CheckResult(looked=False)
    family = f"IPv{min(wanted)}"
    found = finding(
        "SP211",
        Status.FAIL,
        f"{pod.fact.name} has {', '.join(listed)} and no {family} address; {service.name} is reached at {addresses[0]} "
        f"({family} only)",
        evidence=(
            Evidence(f"Pod {pod.fact.name}: podIPs {', '.join(listed)}", pod),
            Evidence(f"Service {service.name}: {', '.join(addresses[:3])}", view.service_observation),
        ),
        confidence=Confidence.SUPPORTED,
        share=f"all new connections of {pod.fact.name}",
        namespace=pod.fact.namespace,
        pod=pod.fact.name,
        family=family,
    )
    return CheckResult(findings=(found,))
