"""What the client's own files do to the lookup: another DNS server, a hosts entry, a search list that multiplies queries."""

from __future__ import annotations

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Pod
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.resolvers import Answer, Query, build, resolve, search_list
from svcpath.models.resolvers.registry import nameservers
from svcpath.status import Confidence, Status
from svcpath.walk.layers.resolution.compare import ResolverResult, resolvers_of
from svcpath.walk.layers.resolution.corefile_checks import cluster_domain
from svcpath.walk.names.client import Client
from svcpath.walk.names.cluster_dns import ClusterDns
from svcpath.walk.names.surroundings import environment
from svcpath.walk.names.world import Answering
from svcpath.walk.scene import Scene

#: The link-local address that NodeLocal DNSCache listens on by default (kubernetes/dns, nodelocaldns.yaml).
NODE_LOCAL = "169.254.20.10"


def asks_cluster_dns(client: Client, dns: ClusterDns, answering: Answering) -> bool | None:
    """Whether a nameserver of the client is the cluster DNS or a cache in front of it; None when it is not known."""
    if client.conf is None or dns.service is None:
        return None
    policy = client.pod.fact.spec.dns_policy if client.pod else None
    if "nameserver" not in client.conf and policy != "None":
        return None  # the kubelet always writes one: the file is cut or edited
    known = {canonical(ip) for ip in dns.service.fact.cluster_ips} | {NODE_LOCAL}
    known |= {canonical(ip) for pod in dns.pods for ip in pod.fact.ips}
    known |= {canonical(address) for config in answering.configs for address in config.bound}
    last = client.conf.rpartition("\n")[2].split()
    if len(last) == 2 and any(address.startswith(last[1]) for address in known):
        return True  # the file ends within the address, or right behind it
    return any(canonical(server) in known for server in nameservers(client.conf))


def own_servers(pod: Pod) -> str:
    """Why the kubelet does not write the cluster DNS into this Pod's resolv.conf; empty where it does.

    pkg/kubelet/network/dns/dns.go, getPodDNSType: ClusterFirst in the node's network counts as Default.
    """
    policy = pod.spec.dns_policy or "ClusterFirst"
    if policy == "ClusterFirst" and pod.spec.host_network:
        return "dnsPolicy ClusterFirst with hostNetwork: the node counts"
    return f"dnsPolicy {policy}" if policy in ("Default", "None") else ""


def nodes_servers(request: Request, view: Scene, client: Client, dns: ClusterDns, answering: Answering) -> CheckResult:
    """A Pod that gets its node's resolv.conf, which is not recorded: as a rule that one knows no Service."""
    pod = client.pod.fact if client.pod else None
    if view.service is None or pod is None or client.conf is not None or answering.recorded:
        return CheckResult(looked=False)
    why = own_servers(pod)
    more = (pod.spec.dns_config.nameservers or ()) if pod.spec.dns_config else ()
    aliases = {name for alias in pod.spec.host_aliases or () for name in alias.hostnames or ()}
    if not why or more or aliases & set(client.names):
        return CheckResult(looked=False)
    found = finding(
        "SP109",
        Status.WARN,
        f"{client.label} gets the resolv.conf of its node ({why}), and a node's servers as a rule know no Service names; "
        "that file was not looked at",
        evidence=(Evidence(f"Pod {pod.name}: {why}", client.pod),),
        confidence=Confidence.SUPPORTED,
        namespace=pod.namespace,
        pod=pod.name,
    )
    return CheckResult(findings=(found,))


def other_server(request: Request, view: Scene, client: Client, dns: ClusterDns, answering: Answering) -> CheckResult:
    """The name of a Service asked of a server that does not know it."""
    if view.service is None or answering.recorded:
        return CheckResult(looked=False)
    pod = client.pod.fact if client.pod else None
    if asks_cluster_dns(client, dns, answering) is not False:
        return CheckResult(looked=False)
    servers = ", ".join(nameservers(client.conf)) if client.conf is not None else "the node's servers"
    wanted = ", ".join(dns.service.fact.cluster_ips) if dns.service else "the cluster DNS"
    policy = (own_servers(pod) or f"dnsPolicy {pod.spec.dns_policy or 'ClusterFirst'}") if pod else ""
    why = f" ({policy})" if policy else ""
    return CheckResult(
        findings=(
            finding(
                "SP109",
                Status.FAIL,
                f"{client.label} asks {servers}{why}, not the cluster DNS {wanted}: Service names exist there only",
                evidence=(
                    Evidence(f"{client.label}'s resolv.conf: nameserver {servers}", client.resolv_conf),
                    *((Evidence(f"Pod {pod.name}: {policy}", client.pod),) if pod is not None else ()),
                    Evidence(f"Service {dns.name}: {wanted}", dns.service),
                ),
                confidence=Confidence.SUPPORTED,
                namespace=request.client_namespace or request.namespace,
                pod=client.label,
            ),
        )
    )


def fits(request: Request, view: Scene, client: Client, seen: list[ResolverResult]) -> CheckResult:
    """A lookup that succeeds with an address that is not the Service's."""
    service = view.service
    if service is None or service.is_external_name:
        return CheckResult(looked=False)
    right = {canonical(ip) for ip in service.cluster_ips}
    if service.is_headless:
        right = {endpoint.address for endpoint in view.endpoints}
    if not right:
        return CheckResult(looked=False)
    for result in seen:
        outcome = result.outcome
        if outcome is None or not outcome.ok or not _is_service_name(view, result.name, client):
            continue
        if {canonical(address) for address in outcome.addresses} & right:
            continue
        from_hosts = not result.resolution.trace.queries
        given = ", ".join(outcome.addresses[:3])
        cause = "the hosts file ends the lookup before DNS is asked" if from_hosts else "another source answered"
        wanted = "its endpoints are" if service.is_headless else "its cluster IP is"
        return CheckResult(
            findings=(
                finding(
                    "SP107" if from_hosts else "SP121",
                    Status.FAIL,
                    f"{result.name} resolves to {given} ({cause}); {wanted} {', '.join(sorted(right)[:3])}",
                    evidence=(
                        *(
                            (Evidence(f"{client.label}'s hosts file names {result.name}", client.hosts or client.pod),)
                            if from_hosts
                            else ()
                        ),
                        Evidence(f"Service {service.name}", view.service_observation),
                    ),
                    confidence=Confidence.PROVEN if from_hosts else Confidence.SUPPORTED,
                    namespace=request.client_namespace or request.namespace,
                    pod=client.label,
                    service=service.name,
                ),
            )
        )
    return CheckResult(looked=False)


def never_asked(request: Request, view: Scene, client: Client, seen: list[ResolverResult], served: str) -> CheckResult:
    """A name that means the Service and is asked outside its zone alone: whatever an upstream says, it is not the Service.
    ``served`` is the zone that a Corefile in the evidence serves."""
    service = view.service
    if service is None or service.is_external_name:
        return CheckResult(looked=False)
    own = f"{service.name}.{service.namespace}.svc."
    record = f"{own}{cluster_domain(client) or served or 'CLUSTER-DOMAIN'}"
    missing: dict[str, list[ResolverResult]] = {}
    for result in seen:
        asked = {query.name.rstrip(".").lower() for trace in result.resolution.traces for query in trace.queries}
        reached = any(name.startswith(own.lower()) for name in asked)
        if result.outcome is None and asked and not reached and _is_service_name(view, result.name, client):
            missing.setdefault(result.name, []).append(result)
    if not missing:
        return CheckResult(looked=False)
    name, those = next(iter(missing.items()))
    who = ", ".join(result.resolver for result in those)
    candidates = ", ".join(those[0].candidates[:4])
    others = [result.resolver for result in seen if result.name == name and result.resolves]
    also = f"; {', '.join(others)} ask it" if others else ""
    found = finding(
        "SP122",
        Status.WARN,
        f"{name} as written never asks for {record} with {who}: {candidates} lies outside the cluster's zone{also}",
        evidence=(*client.conf_evidence, Evidence(f"Service {service.name}", view.service_observation)),
        confidence=Confidence.SUPPORTED,
        namespace=request.client_namespace or request.namespace,
        pod=client.label if client.pod else "CLIENT-POD",
        name=name,
        record=record,
    )
    return CheckResult(findings=(found,))


def _is_service_name(view: Scene, name: str, client: Client) -> bool:
    """Whether a name, as written, means the Service (short, with namespace, or fully qualified)."""
    service = view.service
    if service is None:
        return False
    domain = cluster_domain(client)
    labels = name.rstrip(".").split(".")
    if labels[0] != service.name:
        return False
    rest = ".".join(labels[1:])
    forms = {"", service.namespace, f"{service.namespace}.svc", f"{service.namespace}.svc.{domain}"}
    return rest in forms


class _OnlyAsIs:
    """A world in which every search candidate is NXDOMAIN and the name itself has an address."""

    def __init__(self, name: str) -> None:
        self._name = name.rstrip(".").lower()

    def answer(self, query: Query) -> Answer:
        if query.name.lower() == self._name:
            return Answer("NOERROR", ("192.0.2.1",) if query.type == "A" else ())
        return Answer("NXDOMAIN")


def amplification(client: Client) -> CheckResult:
    """Queries per lookup of an outside name, where search domains beyond the cluster's three multiply them."""
    conf = client.conf
    domain = cluster_domain(client)
    if conf is None or not domain:
        return CheckResult(looked=False)
    suffixes = search_list(conf)
    extra = [
        suffix
        for suffix in suffixes
        if suffix.rstrip(".") != domain and not suffix.rstrip(".").endswith(f"svc.{domain}") and suffix != "."
    ]
    findings: list[Finding] = []
    for name in client.names:
        if not extra or name.endswith(".") or name.rstrip(".").endswith(f".{domain}") or "." not in name:
            continue
        resolver = (resolvers_of(client) or ("glibc",))[0]
        around = environment(client)
        resolution = resolve(resolver, name, around, _OnlyAsIs(name))
        queries = resolution.trace.queries
        candidates = len(dict.fromkeys(query.name for query in queries))
        if candidates < 3:
            continue
        wasted = len(queries) - sum(1 for query in queries if query.name == name)
        per_candidate = round(len(queries) / candidates)
        listed = " and ".join(f'"{suffix}"' for suffix in extra)
        dots = name.count(".")
        findings.append(
            finding(
                "SP104",
                Status.WARN,
                f"{name} with {build(resolver, around).title}: {candidates} candidates x {per_candidate} = {len(queries)} queries per lookup, "
                f"{wasted} wasted; extra search domains {listed} are listed",
                evidence=(Evidence(f"{client.label}'s resolv.conf: search {' '.join(suffixes)}", client.resolv_conf),),
                confidence=Confidence.PROVEN,
                remedy=f"set ndots:{max(1, min(dots, 2))} through dnsConfig, or write {name}. with a trailing dot",
                namespace=client.pod.fact.namespace if client.pod else "NAMESPACE",
                pod=client.label if client.pod else "CLIENT-POD",
            )
        )
    return CheckResult(findings=tuple(findings), looked=bool(findings))
