"""v1 Endpoints, read only to detect what is wrong with mirroring: no data plane reads them any more.

Source: pkg/controller/endpointslicemirroring/utils.go (skipMirror: the skip-mirror label, the leader election annotation)
and endpointslicemirroring_controller.go (Services with a selector are not mirrored).
"""

from __future__ import annotations

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Endpoints
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.endpoints import needs
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.slices import MIRRORING

SKIP_LABEL = "endpointslice.kubernetes.io/skip-mirror"
LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"


def check(view: Scene) -> Asking[CheckResult]:
    reply = yield from ask.one(needs.endpoints(view.request))
    objects: tuple[Observation[Endpoints], ...] = reply.present
    if not objects or view.service is None:
        return CheckResult(looked=False)
    legacy = objects[0]
    addresses = {canonical(address.ip) for subset in legacy.fact.subsets or () for address in subset.addresses or ()}
    waiting = {
        canonical(address.ip) for subset in legacy.fact.subsets or () for address in subset.not_ready_addresses or ()
    }
    findings: list[Finding] = []
    if not view.slices:
        findings.extend(_not_mirrored(view, legacy, addresses) or _none_ready(view, legacy, waiting - addresses))
    elif view.service.spec.selector:
        findings.extend(_edited(view, legacy, addresses))
    else:
        findings.extend(_stale_mirror(view, legacy, addresses))
    if legacy.fact.annotations.get(OVER_CAPACITY) == "truncated":
        findings.append(
            finding(
                "SP313",
                Status.WARN,
                f"v1 Endpoints {legacy.fact.name} is cut at 1000 addresses; the slices hold {len(view.distinct)}",
                evidence=(Evidence(f"annotation {OVER_CAPACITY}: truncated", legacy),),
                confidence=Confidence.PROVEN,
                namespace=legacy.fact.namespace,
                service=legacy.fact.name,
            )
        )
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def _not_mirrored(view: Scene, legacy: Observation[Endpoints], addresses: set[str]) -> list[Finding]:
    service = view.service
    if service is None or service.spec.selector or not addresses:
        return []
    listed = ", ".join(sorted(addresses)[:4])
    if legacy.fact.labels.get(SKIP_LABEL) == "true":
        why, remedy = f"label {SKIP_LABEL}=true", f"remove the label {SKIP_LABEL}, or create an EndpointSlice instead"
    elif LEADER_ANNOTATION in legacy.fact.annotations:
        why, remedy = f"annotation {LEADER_ANNOTATION}", f"remove the annotation {LEADER_ANNOTATION}"
    else:
        why, remedy = "", "look at the endpointslicemirroring controller of the kube-controller-manager (1.18 or newer)"
    because = f" ({why})" if why else ""
    known = bool(why) or view.slices_reply.complete
    return [
        finding(
            "SP308",
            Status.FAIL if known else Status.INCONCLUSIVE,
            f"Endpoints {legacy.fact.name} lists {listed} but no EndpointSlice exists{because}: "
            "kube-proxy and Cilium see no backend",
            evidence=(
                Evidence(f"Endpoints {legacy.fact.name}: {listed}" + (f", {why}" if why else ""), legacy),
                *(
                    Evidence(f"EndpointSlices of {service.name}: none", observation)
                    for observation in view.slices_reply.observations
                ),
            ),
            confidence=Confidence.PROVEN if why and view.slices_reply.complete else Confidence.SUPPORTED,
            remedy=remedy,
            share="all new connections",
            namespace=service.namespace,
            service=service.name,
        )
    ]


def _none_ready(view: Scene, legacy: Observation[Endpoints], waiting: set[str]) -> list[Finding]:
    """Endpoints made by hand that hold no ready address: mirrored or not, they give no backend."""
    service = view.service
    if service is None or service.spec.selector or service.spec.publish_not_ready_addresses:
        return []
    addresses = (
        f"lists {', '.join(sorted(waiting)[:4])} under notReadyAddresses alone" if waiting else "lists no address"
    )
    return [
        finding(
            "SP302",
            Status.FAIL,
            f"Service {service.name} has no selector and its Endpoints {addresses}: no usable backend",
            evidence=(
                Evidence(f"Endpoints {legacy.fact.name} {addresses}", legacy),
                Evidence(f"Service {service.name} has no selector", view.service_observation),
            ),
            confidence=Confidence.SUPPORTED,
            remedy="list a ready address in the Endpoints, or create an EndpointSlice with one",
            share="all new connections",
            namespace=service.namespace,
            service=service.name,
        )
    ]


def _stale_mirror(view: Scene, legacy: Observation[Endpoints], addresses: set[str]) -> list[Finding]:
    """The mirrored slices of a Service without a selector hold other addresses than the Endpoints they copy."""
    mirrored = [slice_ for slice_ in view.slices if slice_.fact.managed_by == MIRRORING]
    copied = {endpoint.address for endpoint in view.endpoints if endpoint.slice.managed_by == MIRRORING}
    if not mirrored or not addresses or copied == addresses:
        return []
    old, new = ", ".join(sorted(copied - addresses)[:4]), ", ".join(sorted(addresses - copied)[:4])
    difference = " and ".join(
        part
        for part in (f"the slice still has {old}" if old else "", f"{new} is missing from the slice" if new else "")
        if part
    )
    return [
        finding(
            "SP312",
            Status.FAIL,
            f"Endpoints {legacy.fact.name} and its mirrored slice differ: {difference}; nodes follow the slice",
            evidence=(
                Evidence(f"Endpoints {legacy.fact.name}: {', '.join(sorted(addresses)[:4])}", legacy),
                *(Evidence(f"slice {slice_.fact.name} is managed by {MIRRORING}", slice_) for slice_ in mirrored[:2]),
            ),
            confidence=Confidence.PROVEN,
            remedy="look at the endpointslicemirroring controller of the kube-controller-manager, or edit the slice's source again",
            share=f"{len(copied - addresses)} of {len(copied)} backends" if old else "",
            namespace=legacy.fact.namespace,
            service=legacy.fact.name,
        )
    ]


def _edited(view: Scene, legacy: Observation[Endpoints], addresses: set[str]) -> list[Finding]:
    """Ready addresses in Endpoints that no slice and no Pod has: somebody wrote them, and no data plane reads them."""
    in_slices = {endpoint.address for endpoint in view.endpoints}
    of_pods = {canonical(ip) for pod in view.pods for ip in pod.fact.ips}
    foreign = sorted(addresses - in_slices - of_pods)
    if not foreign or not view.pods:
        return []
    return [
        finding(
            "SP312",
            Status.WARN,
            f"Endpoints {legacy.fact.name} lists {', '.join(foreign[:4])}, which is in no slice: edited by hand, no node uses it",
            evidence=(Evidence(f"Endpoints {legacy.fact.name}: {', '.join(foreign[:4])}", legacy),),
            namespace=legacy.fact.namespace,
            service=legacy.fact.name,
        )
    ]
