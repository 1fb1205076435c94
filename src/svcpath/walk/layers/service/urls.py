"""What the application asked for, as far as the evidence tells: a URL or host and port that does not fit the Service.

RFC 3986 section 3.2.2: an IPv6 literal in a URL stands in brackets. A URL without a port means its scheme's default.
"""

from __future__ import annotations

from svcpath.evidence.facts.dns import LookupQuestion
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.status import Status
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.urls import asked_host, asked_port


def check(view: Scene, queries: tuple[Observation[LookupQuestion], ...]) -> CheckResult:
    service = view.service
    if service is None or service.is_external_name:
        return CheckResult(looked=False)
    findings: list[Finding] = []
    for observation in queries:
        query = observation.fact
        if query.url and _bare_ipv6(query.url):
            findings.append(
                finding(
                    "SP207",
                    Status.FAIL,
                    f"the URL {query.url} holds an IPv6 address without brackets",
                    evidence=(Evidence(f"the client asks for {query.url}", observation),),
                    namespace=service.namespace,
                    service=service.name,
                )
            )
            continue
        port = asked_port(query)
        known = {entry.port for entry in service.ports}
        if (
            view.service_ports
            and port
            and known
            and port not in known
            and not service.is_headless
            and _is_ours(view, query)
        ):
            have = ", ".join(str(number) for number in sorted(known))
            findings.append(
                finding(
                    "SP207",
                    Status.FAIL,
                    f"the client connects to port {port}; Service {service.name} has {have}",
                    evidence=(Evidence(f"the client asks for {query.url or query.name}", observation),),
                    namespace=service.namespace,
                    service=service.name,
                )
            )
    return CheckResult(findings=tuple(findings))


def _bare_ipv6(url: str) -> bool:
    _, _, rest = url.partition("://")
    authority = rest.partition("/")[0].rpartition("@")[2]
    return authority.count(":") >= 2 and not authority.startswith("[")


def _is_ours(view: Scene, query: LookupQuestion) -> bool:
    """Whether the query's host is this Service: its name is the first label, or it is one of its addresses."""
    host = asked_host(query)
    if not host or view.service is None:
        return False
    labels = host.rstrip(".").split(".")
    if host in view.service.cluster_ips:
        return True
    return labels[0] == view.service.name and (len(labels) < 2 or labels[1] == view.service.namespace)
