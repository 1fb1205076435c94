"""An ExternalName that names another Service of the cluster: that Service's endpoints decide.

NAME.NAMESPACE.svc.DOMAIN is the form of a Service's record (DNS-based service discovery specification 1.1.0). Which
domain is the cluster's own is not looked at: a Service of that name and namespace is either in the evidence or it is not.
"""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Gap
from svcpath.findings.shell import shell
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking

#: The domain of Services that are exported between clusters (KEP-1645): its Services are another kind.
_CLUSTERSET = "clusterset"


def check(service: Service) -> Asking[CheckResult]:
    name, namespace = named(service.spec.external_name or "")
    if not name:
        return CheckResult(phrase="none needed: ExternalName")
    reply = yield from ask.service(namespace, name)
    target = ask.cluster_service(reply)
    place = f"{name}.{namespace}, which externalName names"
    if target is None or target.is_external_name:
        why = "it is an ExternalName again" if target is not None else reply.why or "it was not read"
        command = shell("kubectl -n {namespace} get service,endpointslices -o yaml", namespace=namespace)
        return _gap(place, why, command, reply.in_vain)
    slices = (yield from ask.slices(namespace, name)).present
    if not slices:
        command = shell(
            "kubectl -n {namespace} get endpointslices -l kubernetes.io/service-name={name} -o yaml",
            namespace=namespace,
            name=name,
        )
        return _gap(place, "no slice of it was read", command)
    usable, every = _usable(slices)
    if usable:
        return CheckResult(phrase=f"{usable} of {every} ready in {place}")
    found = finding(
        "SP318",
        Status.FAIL,
        f"externalName leads to Service {name} of namespace {namespace}, which has no ready endpoint (0 of {every})",
        evidence=(
            *(Evidence(f"slice {slice_.fact.name}: no endpoint ready", slice_) for slice_ in slices[:3]),
            Evidence(f"Service {name} of namespace {namespace}", reply.present[0]),
        ),
        confidence=Confidence.SUPPORTED,
        share="all new connections",
        namespace=namespace,
        service=name,
    )
    return CheckResult(findings=(found,))


def _gap(place: str, why: str, command: str, looks: tuple[Observation[Any], ...] = ()) -> CheckResult:
    gap = Gap("endpoints", f"the endpoints of {place}", why, command, looks)
    return CheckResult(not_looked_at=(gap,), phrase=f"those of {place}")


def named(target: str) -> tuple[str, str]:
    """Name and namespace of the Service that a full name means; empty for any other name."""
    labels = target.rstrip(".").lower().split(".")
    if len(labels) < 4 or labels[2] != "svc" or labels[3] == _CLUSTERSET:
        return "", ""
    return labels[0], labels[1]


def _usable(slices: tuple[Observation[EndpointSlice], ...]) -> tuple[int, int]:
    endpoints = [endpoint for slice_ in slices for endpoint in slice_.fact.endpoints or ()]
    ready = [endpoint for endpoint in endpoints if endpoint.ready] or [
        endpoint for endpoint in endpoints if endpoint.serving and endpoint.terminating
    ]
    return len(ready), len(endpoints)
