"""Services. Kubernetes API v1.35, core/v1."""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.kubernetes.meta import ApiRecord, Object


class ServicePort(ApiRecord, frozen=True, kw_only=True):
    """``target_port`` is a number or a port name; absent means ``port``."""

    name: str = ""
    protocol: str = "TCP"
    port: int = 0
    target_port: int | str | None = None
    node_port: int | None = None
    app_protocol: str | None = None


class ClientIPConfig(ApiRecord, frozen=True, kw_only=True):
    timeout_seconds: int | None = None


class SessionAffinityConfig(ApiRecord, frozen=True, kw_only=True):
    client_ip: ClientIPConfig | None = msgspec.field(name="clientIP", default=None)


class ServiceSpec(ApiRecord, frozen=True, kw_only=True):
    type: str = "ClusterIP"
    cluster_ip: str | None = msgspec.field(name="clusterIP", default=None)
    cluster_ips: tuple[str, ...] | None = msgspec.field(name="clusterIPs", default=None)
    external_ips: tuple[str, ...] | None = msgspec.field(name="externalIPs", default=None)
    external_name: str | None = None
    ip_families: tuple[str, ...] | None = None
    ip_family_policy: str | None = None
    selector: dict[str, str] | None = None
    ports: tuple[ServicePort, ...] | None = None
    session_affinity: str | None = None
    session_affinity_config: SessionAffinityConfig | None = None
    internal_traffic_policy: str | None = None
    external_traffic_policy: str | None = None
    traffic_distribution: str | None = None
    health_check_node_port: int | None = None
    load_balancer_source_ranges: tuple[str, ...] | None = None
    publish_not_ready_addresses: bool | None = None


class LoadBalancerIngress(ApiRecord, frozen=True, kw_only=True):
    ip: str | None = None
    ip_mode: str | None = None


class LoadBalancerStatus(ApiRecord, frozen=True, kw_only=True):
    ingress: tuple[LoadBalancerIngress, ...] | None = None


class ServiceStatus(ApiRecord, frozen=True, kw_only=True):
    load_balancer: LoadBalancerStatus | None = None


class Service(Object, frozen=True, kw_only=True):
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus | None = None

    @property
    def ports(self) -> tuple[ServicePort, ...]:
        return self.spec.ports or ()

    @property
    def cluster_ips(self) -> tuple[str, ...]:
        """Allocated virtual addresses, primary family first; empty for headless and ExternalName."""
        listed = self.spec.cluster_ips or ((self.spec.cluster_ip,) if self.spec.cluster_ip else ())
        return tuple(ip for ip in listed if ip and ip != "None")

    @property
    def is_headless(self) -> bool:
        return self.spec.cluster_ip == "None" or "None" in (self.spec.cluster_ips or ())

    @property
    def is_external_name(self) -> bool:
        return self.spec.type == "ExternalName"
