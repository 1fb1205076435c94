"""Does a NetworkPolicy allow a connection, by the API's own rules?

Source: networking.k8s.io/v1 NetworkPolicy (API reference v1.35): policies are additive; a Pod selected by no policy of a
direction is open in it; a selected one takes only what some rule of some policy allows; an empty ``from``/``to`` or
``ports`` list allows all of its kind; ``policyTypes`` absent means Ingress, and Egress too when there are egress rules;
ipBlock matches addresses outside the cluster (here: any address, as plugins do); traffic from the Pod's own node is
allowed by kubelet probes' need, which no rule can state, and a Pod's traffic to itself can't be denied.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping, Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import Container, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, Pod
from svcpath.models.policies.selectors import label_selector_matches


class Peer(msgspec.Struct, frozen=True):
    """The other end of a connection. ``namespace_labels`` None means not known: a namespaceSelector then matches only if
    it names kubernetes.io/metadata.name, which the API server sets on every namespace. ``host_network``: a Pod in its
    node's network, of which the API says that plugins may take it for the node: selectors then decide nothing, and its
    packets may carry another address of the node."""

    namespace: str
    labels: Mapping[str, str]
    addresses: tuple[str, ...] = ()
    namespace_labels: Mapping[str, str] | None = None
    host_network: bool = False


class Decision(msgspec.Struct, frozen=True):
    """``allowed`` None: a rule depends on labels that are not known. ``policies`` are those that select the Pod."""

    allowed: bool | None
    policies: tuple[NetworkPolicy, ...]


def applies(policy: NetworkPolicy, pod: Pod, direction: str) -> bool:
    """Whether ``policy`` selects ``pod`` for "Ingress" or "Egress"."""
    types = policy.spec.policy_types
    if not types:  # SetDefaults_NetworkPolicy: an empty list is as good as none
        types = ("Ingress", "Egress") if policy.spec.egress else ("Ingress",)
    return (
        policy.namespace == pod.namespace
        and direction in types
        and label_selector_matches(policy.spec.pod_selector, pod.labels)
    )


def ingress(policies: Sequence[NetworkPolicy], pod: Pod, peer: Peer, protocol: str, port: int) -> Decision:
    """May ``peer`` connect to ``pod`` on its ``port`` (the Pod's, after translation)?"""
    selecting = tuple(policy for policy in policies if applies(policy, pod, "Ingress"))
    rules = [
        (policy.namespace, rule.from_ or (), rule.ports or ())
        for policy in selecting
        for rule in policy.spec.ingress or ()
    ]
    return _decide(selecting, rules, peer, protocol, port, pod)


def egress(
    policies: Sequence[NetworkPolicy], pod: Pod, peer: Peer, protocol: str, port: int, target: Pod | None
) -> Decision:
    """May ``pod`` connect to ``peer`` on ``port``? Named ports are looked up in ``target``."""
    selecting = tuple(policy for policy in policies if applies(policy, pod, "Egress"))
    rules = [
        (policy.namespace, rule.to or (), rule.ports or ()) for policy in selecting for rule in policy.spec.egress or ()
    ]
    return _decide(selecting, rules, peer, protocol, port, target)


def may_leave(
    policies: Sequence[NetworkPolicy], pod: Pod, protocol: str, ports: Sequence[int], namespaces: Collection[str]
) -> Decision:
    """May ``pod`` connect on one of ``ports`` to some Pod of ``namespaces`` of which no more is known? ``allowed`` None:
    a rule may allow it. A podSelector alone means Pods of the policy's own namespace."""
    selecting = tuple(policy for policy in policies if applies(policy, pod, "Egress"))
    if not selecting:
        return Decision(True, ())
    open_ = any(
        (not rule.ports or any(_may_be(port, protocol, ports) for port in rule.ports))
        and (
            not rule.to
            or policy.namespace in namespaces
            or any(peer.ip_block is not None or peer.namespace_selector is not None for peer in rule.to)
        )
        for policy in selecting
        for rule in policy.spec.egress or ()
    )
    return Decision(None if open_ else False, selecting)


def _may_be(rule: NetworkPolicyPort, protocol: str, ports: Sequence[int]) -> bool:
    """Whether a rule's port takes one of ``ports`` of an unknown Pod: a name may stand for any number."""
    named = isinstance(rule.port, str) and not rule.port.isdigit()
    return (rule.protocol or "TCP") == protocol and (
        named or any(_port_matches(rule, protocol, port, None) for port in ports)
    )


Rule = tuple[str, Sequence[NetworkPolicyPeer], Sequence[NetworkPolicyPort]]


def _decide(
    selecting: tuple[NetworkPolicy, ...],
    rules: Sequence[Rule],
    peer: Peer,
    protocol: str,
    port: int,
    pod: Pod | None,
) -> Decision:
    if not selecting:
        return Decision(True, ())
    unknown = False
    for namespace, peers, ports in rules:
        if ports and not any(_port_matches(rule_port, protocol, port, pod) for rule_port in ports):
            continue
        if not peers:
            return Decision(True, selecting)
        verdicts = [_peer_matches(rule_peer, namespace, peer) for rule_peer in peers]
        if True in verdicts:
            return Decision(True, selecting)
        unknown = unknown or None in verdicts
    return Decision(None if unknown else False, selecting)


def _port_matches(rule: NetworkPolicyPort, protocol: str, port: int, pod: Pod | None) -> bool:
    if (rule.protocol or "TCP") != protocol:
        return False
    if rule.port is None:
        return True
    if isinstance(rule.port, int) or rule.port.isdigit():
        first = int(rule.port)
        return first <= port <= (rule.end_port or first)
    if pod is None:
        return False
    return any(
        declared.name == rule.port and (declared.protocol or "TCP") == protocol and declared.container_port == port
        for container in (*(pod.spec.containers or ()), *_sidecars(pod))
        for declared in container.ports or ()
    )


def _sidecars(pod: Pod) -> tuple[Container, ...]:
    return tuple(container for container in pod.spec.init_containers or () if container.restart_policy == "Always")


def _peer_matches(rule: NetworkPolicyPeer, namespace: str, peer: Peer) -> bool | None:
    if rule.ip_block is not None:
        inside = _in_block(rule.ip_block.cidr, rule.ip_block.except_ or (), peer.addresses)
        return None if peer.host_network and not inside else inside
    if peer.host_network:
        return None
    in_namespace: bool | None = peer.namespace == namespace
    if rule.namespace_selector is not None:
        labels = {"kubernetes.io/metadata.name": peer.namespace, **(peer.namespace_labels or {})}
        in_namespace = label_selector_matches(rule.namespace_selector, labels)
        if not in_namespace and peer.namespace_labels is None:
            in_namespace = None
    if in_namespace is False:
        return False
    if rule.pod_selector is not None and not label_selector_matches(rule.pod_selector, peer.labels):
        return False
    return in_namespace


def _in_block(cidr: str, exceptions: Sequence[str], addresses: Sequence[str]) -> bool:
    try:
        block = ipaddress.ip_network(cidr, strict=False)
        out = [ipaddress.ip_network(excepted, strict=False) for excepted in exceptions]
        own = [ipaddress.ip_address(address) for address in addresses]
    except ValueError:
        return False
    return any(
        policy.version == block.version
        and policy in block
        and not any(policy.version == rule.version and policy in rule for rule in out)
        for policy in own
    )
