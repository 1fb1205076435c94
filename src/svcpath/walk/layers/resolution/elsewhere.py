"""A name that means a Service of a namespace that has none, while another namespace has a Service of that name.

The kubelet's search list begins with the client's own namespace, so that a short name means a Service there
(pkg/kubelet/network/dns/dns.go, generateSearchesForDNSClusterFirst).
"""

from __future__ import annotations

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.resolution.compare import ResolverResult
from svcpath.walk.layers.resolution.corefile_checks import cluster_domain
from svcpath.walk.layers.resolution.exact import denied, lookups
from svcpath.walk.names.client import Client
from svcpath.walk.scene import Scene


def check(request: Request, view: Scene, client: Client, seen: list[ResolverResult]) -> Asking[CheckResult]:
    """Of names that are denied, in recorded lookups or by the models (``seen``)."""
    looked = yield from lookups(request, client, client.names)
    failed = dict.fromkeys(lookup.name for lookup, _ in looked if denied(lookup))
    failed |= dict.fromkeys(result.name for result in seen if result.fails)
    works = {lookup.name for lookup, _ in looked if lookup.addresses} | {
        result.name for result in seen if result.resolves
    }
    for name in failed:
        meant = _meant(name, request, cluster_domain(client))
        if name in works or meant is None:
            continue
        service, namespace = meant
        asked = (service, namespace) == (request.service, request.namespace)
        if asked and (view.service is not None or view.service_reply.absent):
            continue  # it is there, or the layer of the Service says that it is not
        everywhere = yield from ask.one(Need(Kind.SERVICE, permission="list services"))
        same = [known for known in everywhere.present if known.fact.name == service]
        if not same or any(service.fact.namespace == namespace for service in same):
            continue
        same.sort(key=lambda item: (item.fact.namespace != request.namespace, item.fact.namespace))
        (here,) = yield (Need(Kind.SERVICE, namespace=namespace, name=service, permission="get services"),)
        there = ", ".join(service.fact.namespace for service in same[:4])
        right = f"{service}.{same[0].fact.namespace}"
        return CheckResult(
            findings=(
                finding(
                    "SP119",
                    Status.FAIL,
                    f"{name} means Service {service} of namespace {namespace}, where none was read; there is one in {there}",
                    evidence=(
                        *(
                            Evidence(f"{lookup.resolver} {lookup.name}: {lookup.code} {lookup.error}", observation)
                            for lookup, observation in looked[:2]
                            if lookup.name == name
                        ),
                        *client.conf_evidence,
                        *(
                            Evidence(f"Service {service} in namespace {other_service.fact.namespace}", other_service)
                            for other_service in same[:2]
                        ),
                    ),
                    confidence=Confidence.PROVEN if here.absent else Confidence.SUPPORTED,
                    remedy=f"ask for {right}, or make the Service in {namespace}",
                    share="every lookup of this name",
                    namespace=namespace,
                    service=service,
                ),
            )
        )
    return CheckResult(looked=False)


def _meant(name: str, request: Request, domain: str) -> tuple[str, str] | None:
    """The Service and namespace that a name stands for, as written; None for what is no form of a Service's name."""
    service, _, rest = name.rstrip(".").partition(".")
    namespace, _, zone = rest.partition(".")
    if name.endswith(".") and not zone:
        return None  # an absolute name of one or two labels lies outside the cluster's zone
    if zone not in ("", "svc", f"svc.{domain}"):
        return None
    namespace = namespace or request.client_namespace
    return (service, namespace) if service and namespace else None
