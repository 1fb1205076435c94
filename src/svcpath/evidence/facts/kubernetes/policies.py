"""NetworkPolicies and PodDisruptionBudgets. Kubernetes API v1.35, networking.k8s.io/v1 and policy/v1."""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.kubernetes.meta import ApiRecord, LabelSelector, Object


class IPBlock(ApiRecord, frozen=True, kw_only=True):
    cidr: str = ""
    except_: tuple[str, ...] | None = msgspec.field(name="except", default=None)


class NetworkPolicyPeer(ApiRecord, frozen=True, kw_only=True):
    pod_selector: LabelSelector | None = None
    namespace_selector: LabelSelector | None = None
    ip_block: IPBlock | None = None


class NetworkPolicyPort(ApiRecord, frozen=True, kw_only=True):
    protocol: str | None = None
    port: int | str | None = None
    end_port: int | None = None


class NetworkPolicyIngressRule(ApiRecord, frozen=True, kw_only=True):
    from_: tuple[NetworkPolicyPeer, ...] | None = msgspec.field(name="from", default=None)
    ports: tuple[NetworkPolicyPort, ...] | None = None


class NetworkPolicyEgressRule(ApiRecord, frozen=True, kw_only=True):
    to: tuple[NetworkPolicyPeer, ...] | None = None
    ports: tuple[NetworkPolicyPort, ...] | None = None


class NetworkPolicySpec(ApiRecord, frozen=True, kw_only=True):
    pod_selector: LabelSelector = LabelSelector()
    policy_types: tuple[str, ...] | None = None
    ingress: tuple[NetworkPolicyIngressRule, ...] | None = None
    egress: tuple[NetworkPolicyEgressRule, ...] | None = None


class NetworkPolicy(Object, frozen=True, kw_only=True):
    spec: NetworkPolicySpec = NetworkPolicySpec()


class PodDisruptionBudgetSpec(ApiRecord, frozen=True, kw_only=True):
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None


class PodDisruptionBudget(Object, frozen=True, kw_only=True):
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
