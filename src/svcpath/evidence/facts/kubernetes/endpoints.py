"""EndpointSlices, and the older Endpoints. Kubernetes API v1.35, discovery.k8s.io/v1 and core/v1."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes.meta import ApiRecord, Object, ObjectReference


class EndpointConditions(ApiRecord, frozen=True, kw_only=True):
    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class ForZone(ApiRecord, frozen=True, kw_only=True):
    name: str = ""


class EndpointHints(ApiRecord, frozen=True, kw_only=True):
    for_zones: tuple[ForZone, ...] | None = None
    for_nodes: tuple[ForZone, ...] | None = None


class Endpoint(ApiRecord, frozen=True, kw_only=True):
    """One endpoint of a slice. A missing ``ready`` or ``serving`` means true, a missing ``terminating`` false
    (discovery.k8s.io/v1, EndpointConditions)."""

    addresses: tuple[str, ...] = ()
    conditions: EndpointConditions | None = None
    hostname: str | None = None
    node_name: str | None = None
    zone: str | None = None
    target_ref: ObjectReference | None = None
    hints: EndpointHints | None = None

    @property
    def ready(self) -> bool:
        return self.conditions is None or self.conditions.ready is not False

    @property
    def serving(self) -> bool:
        return self.conditions is None or self.conditions.serving is not False

    @property
    def terminating(self) -> bool:
        return self.conditions is not None and self.conditions.terminating is True


class EndpointPort(ApiRecord, frozen=True, kw_only=True):
    """``port`` absent means all ports (or, from the slice controller, that no target port was found)."""

    name: str | None = None
    protocol: str | None = None
    port: int | None = None


class EndpointSlice(Object, frozen=True, kw_only=True):
    address_type: str = ""
    endpoints: tuple[Endpoint, ...] | None = None
    ports: tuple[EndpointPort, ...] | None = None

    @property
    def service_name(self) -> str | None:
        return self.labels.get("kubernetes.io/service-name")

    @property
    def managed_by(self) -> str | None:
        return self.labels.get("endpointslice.kubernetes.io/managed-by")


class EndpointAddress(ApiRecord, frozen=True, kw_only=True):
    ip: str = ""
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointSubset(ApiRecord, frozen=True, kw_only=True):
    addresses: tuple[EndpointAddress, ...] | None = None
    not_ready_addresses: tuple[EndpointAddress, ...] | None = None


class Endpoints(Object, frozen=True, kw_only=True):
    subsets: tuple[EndpointSubset, ...] | None = None
