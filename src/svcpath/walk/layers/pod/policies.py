"""NetworkPolicies that select the backends (ingress) or the client (egress), read statically.

Nothing tells whether a network plugin enforces them, so alone they are at most a warning; with a recorded direct
connection that timed out they are what explains it, and with one that succeeded they are refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import NetworkPolicy, Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.policies.network_policy import Decision, Peer, egress, ingress
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.layers.pod import needs
from svcpath.walk.scene import EndpointView, Scene, host_port


def check(view: Scene, attempts: Reply) -> Asking[CheckResult]:
    request = view.request
    policies = yield from ask.one(needs.policies(request))
    observed: list[Observation[NetworkPolicy]] = list(policies.present)
    client = yield from ask.client_pod(request.client_namespace, request.client_name)
    if request.client_namespace != request.namespace:
        more = yield from ask.one(Need(Kind.NETWORK_POLICY, namespace=request.client_namespace))
        observed.extend(more.present)
    if not observed:
        return CheckResult(looked=False)
    namespaces = yield from ask.one(Need(Kind.NAMESPACE))
    labels = {namespace.fact.name: namespace.fact.labels for namespace in namespaces.present}
    outcome = _outcomes(view, attempts)
    rules = [policy.fact for policy in observed]
    findings: list[Finding] = []
    for endpoint in view.usable:
        pod = endpoint.pod.fact if endpoint.pod else None
        if pod is None or pod.spec.host_network or (client is not None and _always_open(pod, client.fact)):
            continue
        for port, protocol in view.asked_ports(endpoint):
            if port is None:
                continue
            blocked = next(
                (
                    _blocked(
                        view,
                        endpoint,
                        port,
                        denied,
                        observed,
                        outcome,
                        direction,
                        _translated(view, endpoint, port, way),
                    )
                    for direction, way in _ways(rules, pod, client, labels, protocol)
                    if (denied := way(port)).allowed is False
                ),
                None,
            )
            if blocked is not None:
                findings.append(blocked)
                break
        if findings:
            break
    return CheckResult(findings=tuple(findings), looked=bool(findings))


Way = Callable[[int], Decision]


def _ways(
    policies: list[NetworkPolicy],
    pod: Pod,
    client: Observation[Pod] | None,
    labels: dict[str, dict[str, str]],
    protocol: str,
) -> Iterator[tuple[str, Way]]:
    """What decides on a connection to ``pod``, by the number of its port: into the Pod, and out of the client's."""
    yield "ingress", lambda port: _ingress(policies, pod, client, labels, protocol, port)
    if client is not None and not client.fact.spec.host_network:
        peer = Peer(pod.namespace, pod.labels, tuple(pod.ips), labels.get(pod.namespace))
        source = client.fact
        yield "egress", lambda port: egress(policies, source, peer, protocol, port, pod)


def _always_open(pod: Pod, client: Pod) -> bool:
    """A Pod can't be kept from itself, nor a node from the Pods on it (NetworkPolicy API, "The two sorts of Pod isolation")."""
    if (pod.namespace, pod.name) == (client.namespace, client.name):
        return True
    return bool(client.spec.host_network and client.spec.node_name and client.spec.node_name == pod.spec.node_name)


def _translated(view: Scene, endpoint: EndpointView, port: int, way: Way) -> str:
    """Policies see the Pod's port. One that allows the Service's port alone was written for what they do not see."""
    for service_port in view.service_ports:
        found = endpoint.port_for(service_port)
        if found is not None and found.port == port != service_port.port and way(service_port.port).allowed:
            return f"; {service_port.port}, the Service's port, is allowed, and policies see the Pod's: {port}"
    return ""


def _ingress(
    policies: list[NetworkPolicy],
    pod: Pod,
    client: Observation[Pod] | None,
    labels: dict[str, dict[str, str]],
    protocol: str,
    port: int,
) -> Decision:
    if client is None:
        # Without a client only a policy that lets nothing in on this port is a finding.
        stranger = Peer("", {}, (), {})
        decision = ingress(policies, pod, stranger, protocol, port)
        open_rules = any(rule for policy in decision.policies for rule in policy.spec.ingress or ())
        return Decision(decision.allowed is not False or open_rules, decision.policies)
    peer = Peer(
        client.fact.namespace,
        client.fact.labels,
        tuple(client.fact.ips),
        labels.get(client.fact.namespace),
        host_network=bool(client.fact.spec.host_network),
    )
    return ingress(policies, pod, peer, protocol, port)


def _outcomes(view: Scene, attempts: Reply) -> dict[str, str]:
    """Backend address -> outcome of the newest recorded direct connection."""
    addresses = {endpoint.address for endpoint in view.usable}
    return {
        address: attempt.outcome
        for recorded in attempts.present
        for attempt in recorded.fact.attempts
        if (address := canonical(attempt.address or attempt.host)) in addresses
    }


def _blocked(
    view: Scene,
    endpoint: EndpointView,
    port: int,
    decision: Decision,
    observed: list[Observation[NetworkPolicy]],
    outcomes: dict[str, str],
    direction: str,
    translated: str,
) -> Finding:
    names = ", ".join(policy.name for policy in decision.policies)
    place = host_port(endpoint.address, port)
    client = view.request.client_name or "any client"
    outcome = outcomes.get(endpoint.address)
    by_name = {policy.name for policy in decision.policies}
    evidence = tuple(
        Evidence(
            f"NetworkPolicy {policy.fact.name} selects the {'backend' if direction == 'ingress' else 'client'}", policy
        )
        for policy in observed
        if policy.fact.name in by_name
    )
    if outcome in ("ok", "http-error", "tls-error"):
        status, confidence = Status.PASS, Confidence.REFUTED
        sentence = (
            f"NetworkPolicy {names} would not allow {client} to {place}, but the connection works: nothing enforces it"
        )
    elif outcome in ("timeout", "refused", "reset"):
        status, confidence = Status.FAIL, Confidence.SUPPORTED
        sentence = f"NetworkPolicy {names} does not allow {client} to {place} ({direction}), and the connection ended in {outcome}{translated}"
    else:
        status, confidence = Status.WARN, Confidence.POSSIBLE
        sentence = f"NetworkPolicy {names} does not allow {client} to {place} ({direction}){translated}; no connection was tried"
    return finding(
        "SP503",
        status,
        sentence,
        evidence=evidence,
        confidence=confidence,
        remedy=f"Allow port {port}, the Pod's, in place of the Service's." if translated else "",
        namespace=view.request.client_namespace or view.request.namespace,
        client=view.request.client_name or "CLIENT-POD",
        url=f"http://{place}/",
    )
