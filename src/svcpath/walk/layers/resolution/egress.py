"""Whether the client's NetworkPolicies let it ask the cluster DNS: a rule for the Service alone forgets the lookup before.

Policies see the DNS Pods and their port, not the DNS Service (networking.k8s.io/v1). Read statically they are at most a
warning, until a lookup timed out. A DNS on the client's own node (NodeLocal DNSCache, Pods in the node's network) is left
out: a Pod is never kept from its node. Why TCP matters: RFC 7766 section 5, and 512 bytes are what a resolver without EDNS
takes over UDP (RFC 1035 section 4.2.1; musl, and glibc unless resolv.conf says edns0).
"""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.kubernetes import NetworkPolicy, Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.policies.network_policy import Decision, Peer, egress, may_leave
from svcpath.models.resolvers.registry import nameservers
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.resolution.client_checks import own_servers
from svcpath.walk.names.client import Client
from svcpath.walk.names.cluster_dns import ClusterDns
from svcpath.walk.names.needs import lookups as lookups_of
from svcpath.walk.names.world import Answering
from svcpath.walk.scene import Scene

#: Where CoreDNS Pods listen when no slice tells: 53 by its manifest, 5353 in OpenShift, 1053 in unprivileged ones.
PORTS = (53, 5353, 1053)
#: Where installers put it.
NAMESPACES = frozenset({"kube-system", "openshift-dns"})
#: What resolvers make of a server that does not answer.
_UNANSWERED = frozenset({"-3", "EAI_AGAIN", "ETIMEOUT", "ETIMEDOUT", "TIMEOUT"})
_UDP_BYTES = 512


def check(request: Request, view: Scene, client: Client, dns: ClusterDns, answering: Answering) -> Asking[CheckResult]:
    pod = client.pod.fact if client.pod else None
    if pod is None or pod.spec.host_network or own_servers(pod) or _on_the_node(client, dns, answering):
        return CheckResult(looked=False)
    reply = yield from ask.one(
        Need(Kind.NETWORK_POLICY, namespace=pod.namespace, permission="list networkpolicies.networking.k8s.io")
    )
    observed: list[Observation[NetworkPolicy]] = list(reply.present)
    if not observed:
        return CheckResult(looked=False)
    namespaces = yield from ask.one(Need(Kind.NAMESPACE))
    labels = {namespace.fact.name: namespace.fact.labels for namespace in namespaces.present}
    policies = [policy.fact for policy in observed]
    if _closed(view, policies, pod, labels) or (not dns.pods and any(slice_.fact.endpoints for slice_ in dns.slices)):
        # Nothing gets out: the pod layer says so of the Service's own Pods. Or there are DNS Pods that were not read.
        return CheckResult(looked=False)
    udp = _decide(policies, pod, dns, labels, "UDP")
    tcp = _decide(policies, pod, dns, labels, "TCP")
    bytes_ = _answer_bytes(view)
    if udp.allowed is not False and (tcp.allowed is not False or bytes_ <= _UDP_BYTES):
        return CheckResult(looked=False)
    lookups = yield from ask.one(lookups_of(request, client.names))
    seen = [(lookup, observed) for observed in lookups.present for lookup in observed.fact.lookups]
    if any(lookup.addresses for lookup, _ in seen):
        return CheckResult(looked=False)
    silent = [(lookup, observation) for lookup, observation in seen if lookup.code.upper() in _UNANSWERED]
    decision = udp if udp.allowed is False else tcp
    selecting = [observation for observation in observed if observation.fact in decision.policies]
    return CheckResult(findings=(_blocked(request, client, selecting, silent, udp, bytes_),))


def _decide(
    policies: list[NetworkPolicy], pod: Pod, dns: ClusterDns, labels: dict[str, dict[str, str]], protocol: str
) -> Decision:
    """The most that any Pod of the DNS is open to; of Pods that are not in the evidence only the port is known."""
    carried = {
        port.port
        for slice_ in dns.slices
        for port in slice_.fact.ports or ()
        if port.port is not None and (port.protocol or "TCP") == protocol
    }
    if not dns.pods:
        known = {dns.service.fact.namespace} if dns.service else NAMESPACES
        return may_leave(policies, pod, protocol, sorted(carried) or PORTS, known)
    decisions: list[Decision] = []
    for dns_pod in dns.pods:
        server = dns_pod.fact
        peer = Peer(server.namespace, server.labels, tuple(server.ips), labels.get(server.namespace))
        ports = sorted(carried or PORTS)
        decisions.extend(egress(policies, pod, peer, protocol, port, server) for port in ports)
    return next((decision for decision in decisions if decision.allowed is not False), decisions[0])


def _closed(view: Scene, policies: list[NetworkPolicy], pod: Pod, labels: dict[str, dict[str, str]]) -> bool:
    """Whether the policies keep the client from every backend too, so that it is not the DNS that was forgotten."""
    decisions = [
        egress(
            policies, pod, Peer(to.namespace, to.labels, to.ips, labels.get(to.namespace)), protocol, port, to
        ).allowed
        for endpoint in view.usable
        if endpoint.pod is not None
        for to in (endpoint.pod.fact,)
        for port, protocol in view.asked_ports(endpoint)
        if port is not None
    ]
    return bool(decisions) and all(allowed is False for allowed in decisions)


def _on_the_node(client: Client, dns: ClusterDns, answering: Answering) -> bool:
    """A cache on the node answers in place of the DNS Pods, or those are in their node's network."""
    servers = nameservers(client.conf) if client.conf is not None else ()
    bound = {address for config in answering.configs for address in config.bound}
    return (
        any(server.startswith("169.254.") for server in (*servers, *bound))
        or any(log.fact.component == "node-local-dns" for log in dns.logs)
        or dns.node_cache
        or any(pod.fact.spec.host_network for pod in dns.pods)
    )


def _answer_bytes(view: Scene) -> int:
    """How large the answer for a headless Service is: header, question, and a compressed record for each endpoint."""
    service = view.service
    if service is None or not service.is_headless:
        return 0
    question = len(f"{service.name}.{service.namespace}.svc.cluster.local") + 6
    sizes = {family: 16 if family == 4 else 28 for family in (4, 6)}
    return max(
        12 + question + sum(size for endpoint in view.ready if endpoint.family == family)
        for family, size in sizes.items()
    )


def _blocked(
    request: Request,
    client: Client,
    selecting: list[Observation[NetworkPolicy]],
    silent: list[tuple[Any, Observation[Any]]],
    udp: Decision,
    bytes_: int,
) -> Finding:
    names = ", ".join(policy.fact.name for policy in selecting)
    if udp.allowed is False:
        sentence = f"NetworkPolicy {names} does not allow {client.label} to the cluster DNS on 53/UDP (egress)"
        cause = "the policy drops the client's lookups"
    else:
        sentence = (
            f"NetworkPolicy {names} allows {client.label} to the cluster DNS on 53/UDP and not on 53/TCP: "
            f"the answer has {bytes_} bytes, more than the {_UDP_BYTES} that a resolver without EDNS takes over UDP"
        )
        cause = "the policy drops what is asked again over TCP"
    timed_out = bool(silent) and udp.allowed is False
    if timed_out:
        sentence += f", and the lookup of {silent[0][0].name} ended unanswered"
    else:
        sentence += "; no lookup was recorded"
    return finding(
        "SP125",
        Status.FAIL if timed_out else Status.WARN,
        sentence,
        evidence=(
            *(
                Evidence(f"NetworkPolicy {policy.fact.name} selects {client.label} for Egress", policy)
                for policy in selecting
            ),
            *(
                Evidence(f"{lookup.resolver} {lookup.name}: {lookup.code} {lookup.error}", attempt)
                for lookup, attempt in silent[:2]
            ),
        ),
        confidence=Confidence.SUPPORTED if timed_out else Confidence.POSSIBLE,
        cause=cause,
        namespace=request.client_namespace or request.namespace,
        pod=client.label,
        name=client.names[0] if client.names else request.service or "NAME",
    )
