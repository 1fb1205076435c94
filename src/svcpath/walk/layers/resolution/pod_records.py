"""HOST.SERVICE as a name: the record of one endpoint of a headless Service.

CoreDNS answers it for an endpoint that is ready and has that hostname in its slice, else for the endpoint's address with
dashes; with endpoint_pod_names in the Corefile also for the Pod's name (plugin/kubernetes, endpointHostname, v1.11). The
slice controller writes the hostname of a Pod whose subdomain is the Service (pkg/controller/endpointslice, utils.go).
"""

from __future__ import annotations

from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.names.client import Client
from svcpath.walk.names.needs import lookups as lookups_of
from svcpath.walk.names.world import Answering, CorefileFound
from svcpath.walk.scene import EndpointView, Scene

_PUBLISH = "Make that Pod ready, or set publishNotReadyAddresses where members have to find each other before they are."


def check(request: Request, view: Scene, client: Client, answering: Answering) -> Asking[CheckResult]:
    service = view.service
    if service is None or service.is_external_name or not view.slices:
        return CheckResult(looked=False)
    for name in client.names:
        host = _host(name, service.name, service.namespace, request.client_namespace or request.namespace)
        if not host or (yield from _another_service(name)):
            continue
        lookups = yield from ask.one(lookups_of(request, client.names))
        if any(
            lookup.addresses and lookup.name == name for observed in lookups.present for lookup in observed.fact.lookups
        ):
            continue
        mine = [endpoint for endpoint in view.endpoints if host in hosts(endpoint, service.name)]
        if service.is_headless and any(endpoint.endpoint.ready for endpoint in mine):
            continue
        by_pod = service.is_headless and any(
            endpoint.who.lower() == host and endpoint.endpoint.ready for endpoint in view.endpoints
        )
        if by_pod and (not answering.configs or any(_pod_names(config) for config in answering.configs)):
            continue  # endpoint_pod_names may be set, or is
        others = sorted(
            {host for endpoint in view.ready for host in hosts(endpoint, service.name) if host != _dashed(endpoint)}
        )
        if not service.is_headless:
            why = f"{service.name} has a cluster IP, and only a headless Service has records of its endpoints"
        elif mine:
            why = f"endpoint {mine[0].who} ({mine[0].address}) is not ready, and only ready ones have a record"
        else:
            why = f"no endpoint of {service.name} has the host name {host}"
            why += f" (they have {', '.join(others[:4])})" if others else ", nor any other"
        found = finding(
            "SP124",
            Status.FAIL,
            f"{name} has no record: {why}",
            evidence=(
                Evidence(
                    f"Service {service.name}: {'headless' if service.is_headless else 'cluster IP'}",
                    view.service_observation,
                ),
                *(
                    Evidence(f"slice {slice_.fact.name}: no ready endpoint with hostname {host}", slice_)
                    for slice_ in view.slices[:2]
                ),
            ),
            confidence=Confidence.SUPPORTED,
            remedy=_PUBLISH if mine and service.is_headless else "",
            cause_layer="endpoints" if mine and service.is_headless else None,
            share="every lookup of this name",
            namespace=request.client_namespace or request.namespace,
            pod=request.client_name or "CLIENT-POD",
            name=name,
        )
        return CheckResult(findings=(found,))
    return CheckResult(looked=False)


def hosts(endpoint: EndpointView, service: str) -> set[str]:
    """The labels under which an endpoint has a record."""
    named = {endpoint.endpoint.hostname.lower()} if endpoint.endpoint.hostname else set()
    spec = endpoint.pod.fact.spec if endpoint.pod else None
    if spec is not None and spec.hostname and spec.subdomain == service:
        named.add(spec.hostname.lower())
    return named or {_dashed(endpoint)}


def _dashed(endpoint: EndpointView) -> str:
    return endpoint.address.replace(".", "-").replace(":", "-")


def _pod_names(config: CorefileFound) -> bool:
    return "endpoint_pod_names" in config.observation.fact.text


def _host(name: str, service: str, namespace: str, searching: str) -> str:
    """HOST of HOST.SERVICE, HOST.SERVICE.NAMESPACE and the forms with svc; the first means the client's own namespace."""
    labels = name.rstrip(".").lower().split(".")
    if len(labels) < 2 or labels[1] != service:
        return ""
    rest = labels[2:]
    if not rest:
        return labels[0] if searching == namespace and not name.endswith(".") else ""
    return labels[0] if rest[0] == namespace and (len(rest) == 1 or rest[1] == "svc") else ""


def _another_service(name: str) -> Asking[bool]:
    """HOST.SERVICE may as well be NAME.NAMESPACE."""
    labels = name.rstrip(".").lower().split(".")
    if len(labels) != 2:
        return False
    reply = yield from ask.service(labels[1], labels[0])
    return bool(reply.present)
