"""Pods. Kubernetes API v1.35, core/v1."""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.kubernetes.containers import Container, ContainerStatus
from svcpath.evidence.facts.kubernetes.meta import ApiRecord, Condition, Object


class PodDNSConfigOption(ApiRecord, frozen=True, kw_only=True):
    name: str = ""
    value: str | None = None


class PodDNSConfig(ApiRecord, frozen=True, kw_only=True):
    nameservers: tuple[str, ...] | None = None
    searches: tuple[str, ...] | None = None
    options: tuple[PodDNSConfigOption, ...] | None = None


class HostAlias(ApiRecord, frozen=True, kw_only=True):
    ip: str = ""
    hostnames: tuple[str, ...] | None = None


class PodReadinessGate(ApiRecord, frozen=True, kw_only=True):
    condition_type: str = ""


class PodSpec(ApiRecord, frozen=True, kw_only=True):
    """``timeout_seconds`` is that of a Knative revision."""

    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    node_name: str | None = None
    host_network: bool | None = None
    hostname: str | None = None
    subdomain: str | None = None
    dns_policy: str | None = None
    dns_config: PodDNSConfig | None = None
    host_aliases: tuple[HostAlias, ...] | None = None
    readiness_gates: tuple[PodReadinessGate, ...] | None = None
    termination_grace_period_seconds: int | None = None
    timeout_seconds: int | None = None


class PodIP(ApiRecord, frozen=True, kw_only=True):
    ip: str = ""


class PodStatus(ApiRecord, frozen=True, kw_only=True):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    pod_ip: str | None = msgspec.field(name="podIP", default=None)
    pod_ips: tuple[PodIP, ...] | None = msgspec.field(name="podIPs", default=None)
    conditions: tuple[Condition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None


class Pod(Object, frozen=True, kw_only=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def ips(self) -> tuple[str, ...]:
        """Pod addresses, primary first; empty before the sandbox has one."""
        listed = tuple(entry.ip for entry in self.status.pod_ips or () if entry.ip)
        return listed or ((self.status.pod_ip,) if self.status.pod_ip else ())

    @property
    def ready(self) -> bool | None:
        """The Ready condition; None when the Pod carries none."""
        for condition in self.status.conditions or ():
            if condition.type == "Ready":
                return condition.status == "True"
        return None

    @property
    def deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def finished(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")
