"""What every object of the API has: names, labels, owners, stamps; and what several kinds share.

Kubernetes API v1.35 (meta/v1, core/v1 ObjectReference and Condition, meta/v1 LabelSelector).
"""

from __future__ import annotations

import msgspec


class ApiRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """Base of every API record: frozen, keyword-only, camelCase on the wire.

    Records are trees, so the collector of cycles need not look at the millions that a large cluster has.
    """


class ManagedFields(ApiRecord, frozen=True, kw_only=True):
    manager: str = ""
    time: str | None = None
    subresource: str = ""


class OwnerReference(ApiRecord, frozen=True, kw_only=True):
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class ObjectMeta(ApiRecord, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int | None = None
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    managed_fields: tuple[ManagedFields, ...] | None = None


class Object(ApiRecord, frozen=True, kw_only=True):
    """What every API object has."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.labels or {}

    @property
    def annotations(self) -> dict[str, str]:
        return self.metadata.annotations or {}


class ObjectReference(ApiRecord, frozen=True, kw_only=True):
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""


class Condition(ApiRecord, frozen=True, kw_only=True):
    """A condition of a Pod, Node, Deployment, ...; ``status`` is "True", "False" or "Unknown"."""

    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    last_heartbeat_time: str | None = None


class LabelSelectorRequirement(ApiRecord, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(ApiRecord, frozen=True, kw_only=True):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelSelectorRequirement, ...] | None = None
