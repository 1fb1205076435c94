"""The slices themselves: there at all, whose they are, and who writes them.

Sources: pkg/controller/endpointslice (one controller per Service with a selector), pkg/controller/endpointslicemirroring
(copies Endpoints only for Services without a selector), discovery.k8s.io/v1 well-known labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from svcpath.evidence.facts.kubernetes import EndpointSlice
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.findings.shell import shell
from svcpath.percent import percent
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.endpoints import needs
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.slices import CONTROLLER, MIRRORING


def check(view: Scene) -> Asking[CheckResult]:
    every = yield from ask.one(Need(Kind.ENDPOINT_SLICE, namespace=view.request.namespace))
    endpoints = yield from ask.one(needs.endpoints(view.request))
    if not view.slices:
        return _none(
            view,
            have_endpoints=bool(endpoints.present),
            orphans=[_stray(view, slice_) for slice_ in _strays(view, every.present)],
        )
    return CheckResult(findings=(*_mirrored(view), *_orphans(view, every.present)))


def _none(view: Scene, *, have_endpoints: bool, orphans: list[Finding]) -> CheckResult:
    service = view.service
    if service is None:
        return CheckResult(looked=False)
    command = shell(
        "kubectl -n {namespace} get endpointslices -l kubernetes.io/service-name={service} -o yaml",
        namespace=service.namespace,
        service=service.name,
    )
    observed = Evidence(f"Service {service.name} has no selector", view.service_observation)
    looked = tuple(
        Evidence(f"EndpointSlices of {service.name}: none", observation)
        for observation in view.slices_reply.observations
    )
    if not service.spec.selector:
        if have_endpoints:
            return CheckResult()  # legacy.py says why they are not mirrored
        missing = finding(
            "SP302",
            Status.INCONCLUSIVE if view.slices_reply.refused else Status.FAIL,
            f"Service {service.name} has no selector and there is no EndpointSlice or Endpoints with its name",
            evidence=(observed, *looked),
            confidence=Confidence.PROVEN
            if view.slices_reply.absent and view.slices_reply.complete
            else Confidence.SUPPORTED,
            remedy=f"either add a selector or create an EndpointSlice labelled kubernetes.io/service-name={service.name}",
            share="all new connections",
            namespace=service.namespace,
            service=service.name,
        )
        return CheckResult(findings=(missing, *orphans))
    if view.slices_reply.unreadable:
        gap = Gap(
            "endpoints", f"the slices of {service.name}", view.slices_reply.why, command, view.slices_reply.in_vain
        )
        return CheckResult(findings=tuple(orphans), not_looked_at=(gap,), looked=False)
    if not any(pod.fact.ready for pod in view.selected):
        return CheckResult(findings=tuple(orphans))  # selection.py and readiness.py have the reason
    names = ", ".join(pod.fact.name for pod in view.selected[:3])
    unwritten = finding(
        "SP303",
        Status.FAIL if view.slices_reply.complete else Status.INCONCLUSIVE,
        f"{len(view.selected)} Pods match ({names}) and no EndpointSlice of {service.name} is there",
        evidence=(*looked, *(Evidence(f"Pod {pod.fact.name} matches", pod) for pod in view.selected[:3])),
        namespace=service.namespace,
        service=service.name,
    )
    return CheckResult(findings=(unwritten, *orphans))


def _mirrored(view: Scene) -> list[Finding]:
    """Slices of the mirroring controller on a Service that has a selector: two managers for one Service."""
    service = view.service
    if service is None or not service.spec.selector:
        return []
    mine = {endpoint.address for endpoint in view.endpoints if endpoint.slice.managed_by == CONTROLLER}
    findings = []
    for slice_ in view.slices:
        if slice_.fact.managed_by != MIRRORING:
            continue
        name = slice_.fact.name
        listed = [endpoint for endpoint in view.endpoints if endpoint.slice.name == name]
        pod_addresses = {ip for pod in view.pods for ip in pod.fact.ips}
        stale = sorted({endpoint.address for endpoint in listed} - pod_addresses - mine)
        total = len({endpoint.address for endpoint in view.ready})
        broken = [address for address in stale if any(endpoint.address == address for endpoint in view.ready)]
        gone = f"; {', '.join(stale)} belongs to no Pod" if stale and view.pods else ""
        share = (
            f"{len(broken)} of {total} backends: about {percent(Fraction(len(broken), total))} of new connections fail"
            if broken
            else ""
        )
        findings.append(
            finding(
                "SP307",
                Status.FAIL if broken else Status.WARN,
                f"slice {name} (managed by endpointslicemirroring-controller) is stale: Service {service.name} has a "
                f"selector, so there are two managers for one Service{gone}" + (f"; {share}" if share else ""),
                evidence=(
                    Evidence(f"slice {name} is managed by {MIRRORING}", slice_),
                    Evidence(f"Service {service.name} has a selector", view.service_observation),
                    *(
                        Evidence(f"slice {other.fact.name} is managed by {other.fact.managed_by}", other)
                        for other in view.slices
                        if other.fact.managed_by == CONTROLLER
                    ),
                ),
                confidence=Confidence.PROVEN if broken and view.pods else Confidence.SUPPORTED,
                details=("the node's table matches the slices",) if broken else (),
                remedy="delete the mirrored slice: "
                + shell("kubectl -n {namespace} delete endpointslice {slice}", namespace=service.namespace, slice=name),
                share=share,
                namespace=service.namespace,
                slice=name,
            )
        )
    return findings


def _strays(view: Scene, every: tuple[Observation[EndpointSlice], ...]) -> Iterator[Observation[EndpointSlice]]:
    """Slices that were meant for this Service and miss it: no label, or another name on a slice named after it."""
    service = view.service
    if service is None:
        return
    for slice_ in every:
        name, label = slice_.fact.name, slice_.fact.service_name
        if label == service.name or not (name == service.name or name.startswith(f"{service.name}-")):
            continue
        owners = slice_.fact.metadata.owner_references or ()
        if not any(owner.kind == "Service" and owner.name != service.name for owner in owners):
            yield slice_


def _stray(view: Scene, slice_: Observation[EndpointSlice]) -> Finding:
    name, label = slice_.fact.name, slice_.fact.service_name
    labelled = f"is labelled kubernetes.io/service-name={label}" if label else "has no label kubernetes.io/service-name"
    return finding(
        "SP311",
        Status.FAIL if not view.slices else Status.WARN,
        f"slice {name} {labelled}, so it belongs to no Service {view.request.service}",
        evidence=(Evidence(f"slice {name} {labelled}", slice_),),
        confidence=Confidence.SUPPORTED,
        namespace=view.request.namespace,
        service=label or view.request.service,
    )


def _orphans(view: Scene, every: tuple[Observation[EndpointSlice], ...]) -> list[Finding]:
    """With slices of its own, a stray slice named after the Service is a warning; a controller's is its own affair."""
    by_hand = (slice_ for slice_ in _strays(view, every) if slice_.fact.managed_by not in (CONTROLLER, MIRRORING))
    return [_stray(view, slice_) for slice_ in by_hand]
