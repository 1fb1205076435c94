"""internalTrafficPolicy Local where no table of the client's node was read: the API's own words decide.

KEP-2086 and the Service API: a node without an endpoint of its own drops what its Pods send to the cluster IP.
"""

from __future__ import annotations

from svcpath.evidence.facts.addresses import canonical
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.scene import Scene, connected


def check(view: Scene, node: str, attempts: Reply) -> Asking[CheckResult]:
    """``node`` is the client's."""
    service = view.service
    if service is None or service.is_headless or service.spec.internal_traffic_policy != "Local" or not node:
        return CheckResult(looked=False)
    places = [endpoint.endpoint.node_name for endpoint in view.usable]
    known = [place for place in places if place]
    if not known or len(known) < len(places) or node in known:
        return CheckResult(looked=False)
    own = {canonical(ip) for ip in service.cluster_ips}
    if own & connected(attempts):
        return CheckResult(looked=False)
    client = yield from ask.client_pod(view.request.client_namespace, view.request.client_name)
    where = ", ".join(sorted(set(known)))
    found = finding(
        "SP622",
        Status.FAIL,
        f"{node}: connections to {', '.join(service.cluster_ips)} are dropped (internalTrafficPolicy Local, no local endpoint): a "
        f"timeout, not refused; endpoints are on {where}",
        evidence=(
            Evidence(f"Service {service.name}: internalTrafficPolicy Local", view.service_observation),
            *((Evidence(f"Pod {client.fact.name} runs on {node}", client),) if client is not None else ()),
            *(Evidence(f"slice {slice_.fact.name}: endpoints on {where}", slice_) for slice_ in view.slices[:2]),
        ),
        confidence=Confidence.SUPPORTED,
        share=f"all new connections from {node}",
        namespace=service.namespace,
        service=service.name,
        node=node,
    )
    return CheckResult(findings=(found,))
