"""Nodes, Namespaces, Events and ConfigMaps. Kubernetes API v1.35, core/v1."""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.kubernetes.meta import ApiRecord, Condition, Object, ObjectReference


class NodeAddress(ApiRecord, frozen=True, kw_only=True):
    type: str = ""
    address: str = ""


class NodeSystemInfo(ApiRecord, frozen=True, kw_only=True):
    kube_proxy_version: str = ""


class NodeStatus(ApiRecord, frozen=True, kw_only=True):
    addresses: tuple[NodeAddress, ...] | None = None
    conditions: tuple[Condition, ...] | None = None
    node_info: NodeSystemInfo | None = None


class NodeSpec(ApiRecord, frozen=True, kw_only=True):
    pod_cidrs: tuple[str, ...] | None = msgspec.field(name="podCIDRs", default=None)


class Node(Object, frozen=True, kw_only=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def zone(self) -> str | None:
        return self.labels.get("topology.kubernetes.io/zone")


class Event(Object, frozen=True, kw_only=True):
    """core/v1 Event (events.k8s.io/v1 is read into the same fields: ``regarding``, ``note``)."""

    involved_object: ObjectReference | None = None
    regarding: ObjectReference | None = None
    reason: str | None = None
    message: str | None = None
    note: str | None = None
    type: str | None = None
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None

    @property
    def subject(self) -> ObjectReference:
        return self.involved_object or self.regarding or ObjectReference()

    @property
    def at(self) -> str | None:
        """Last time it was seen, RFC 3339."""
        return self.last_timestamp or self.event_time or self.first_timestamp or self.metadata.creation_timestamp


class ConfigMap(Object, frozen=True, kw_only=True):
    data: dict[str, str] | None = None


class Namespace(Object, frozen=True, kw_only=True):
    pass
