"""Which record reads which Kubernetes kind, and the rules that JSON and YAML share.

API groups are checked, for other groups have kinds of the same name (serving.knative.dev Service). Of a Secret only name
and namespace are read. The annotation kubectl.kubernetes.io/last-applied-configuration is emptied: it repeats the
manifest, environment values included.
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_GROUPS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("Service", "Endpoints", "Pod", "Node", "ConfigMap", "Namespace", "ReplicationController", "Secret"), ("",)
    ),
    "Event": ("", "events.k8s.io"),
    "EndpointSlice": ("discovery.k8s.io",),
    "NetworkPolicy": ("networking.k8s.io", "extensions"),
    "PodDisruptionBudget": ("policy",),
    **dict.fromkeys(("Deployment", "ReplicaSet", "DaemonSet"), ("apps", "extensions")),
    "StatefulSet": ("apps",),
    **dict.fromkeys(("Job", "CronJob"), ("batch",)),
    "Rollout": ("argoproj.io",),
}

KIND_OF: dict[str, Kind] = {
    **{kind.value: kind for kind in Kind if kind.value in api.KINDS},
    **dict.fromkeys(api.WORKLOAD_KINDS, Kind.WORKLOAD),
}


class NotKubernetes(FormatError):
    """A text that reads well and holds no Kubernetes object."""


class Meta(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    continue_: str = msgspec.field(name="continue", default="")
    remaining: int | None = msgspec.field(name="remainingItemCount", default=None)


class Bare(msgspec.Struct):
    """What is read of a Secret."""

    api_version: str = msgspec.field(name="apiVersion", default="")
    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)


RECORDS = {**api.KINDS, "": api.OtherObject}
_WORKLOAD_FIELDS = frozenset(field.encode_name for field in msgspec.structs.fields(api.WorkloadSpec))


def belongs(kind: str, api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    groups = _GROUPS.get(kind)
    return groups is None or group in groups or not api_version


def record_name(kind: str, api_version: str) -> str:
    """The key of KINDS that reads this kind; "" for kinds no layer reads."""
    return kind if kind in api.KINDS and belongs(kind, api_version) else ""


def fact_kind(obj: api.Object) -> Kind:
    if isinstance(obj, api.Workload):
        return Kind.WORKLOAD
    if isinstance(obj, api.OtherObject):
        return Kind.OTHER_OBJECT
    return KIND_OF.get(obj.kind, Kind.OTHER_OBJECT)


def without_last_applied(obj: api.Object) -> api.Object:
    notes = obj.metadata.annotations
    if notes and notes.get(LAST_APPLIED):
        metadata = msgspec.structs.replace(obj.metadata, annotations={**notes, LAST_APPLIED: ""})
        return msgspec.structs.replace(obj, metadata=metadata)
    return obj


def bare_secret(bare: Bare) -> api.Object:
    metadata = api.ObjectMeta(name=bare.metadata.name, namespace=bare.metadata.namespace)
    return api.OtherObject(api_version=bare.api_version, kind=bare.kind, metadata=metadata)


def has_pod_template(spec: Any) -> bool:
    return isinstance(spec, dict) and isinstance(spec.get("template"), dict) and "spec" in spec["template"]


def workload_like(value: Any) -> api.Workload:
    """An object of a foreign kind as a workload: its Pod template has to be the API's, the other fields count where they
    have the types of a Deployment's. Raises msgspec.ValidationError."""
    try:
        return msgspec.convert(value, api.Workload)
    except msgspec.ValidationError:
        spec = {"template": value["spec"]["template"]}
        for key in _WORKLOAD_FIELDS & value["spec"].keys() - spec.keys():
            try:
                msgspec.convert({key: value["spec"][key]}, api.WorkloadSpec)
            except msgspec.ValidationError:
                continue
            spec[key] = value["spec"][key]
        kept = {key: value[key] for key in ("apiVersion", "kind", "metadata") if key in value}
        return msgspec.convert({**kept, "spec": spec}, api.Workload)


def infer_kind(shape: dict[str, Any]) -> str:
    """Kind of an object that does not say, from fields that only that kind has; "" if unclear."""
    spec = shape.get("spec")
    status = shape.get("status")
    spec = spec if isinstance(spec, dict) else {}
    status = status if isinstance(status, dict) else {}
    if not isinstance(shape.get("metadata"), dict):
        return ""
    signs = (
        ("EndpointSlice", "addressType" in shape),
        ("Endpoints", "subsets" in shape),
        ("Event", "involvedObject" in shape or "regarding" in shape),
        ("Node", "nodeInfo" in status or "podCIDR" in spec),
        ("Pod", isinstance(spec.get("containers"), list)),
        ("Service", "clusterIP" in spec or "sessionAffinity" in spec or "externalName" in spec),
        ("NetworkPolicy", "podSelector" in spec),
        ("PodDisruptionBudget", "minAvailable" in spec or "disruptionsAllowed" in status),
        ("StatefulSet", "serviceName" in spec and "template" in spec),
        ("DaemonSet", "updateStrategy" in spec and "template" in spec),
        ("Deployment", "strategy" in spec and "template" in spec),
        ("ReplicaSet", "replicas" in spec and has_pod_template(spec)),
    )
    return next((kind for kind, holds in signs if holds), "")


def with_kind(obj: api.Object, kind: str, api_version: str) -> api.Object:
    if obj.kind:
        return obj
    return msgspec.structs.replace(obj, kind=kind, api_version=obj.api_version or api_version)


def is_object(value: Any) -> bool:
    """A decoded document that is a Kubernetes object or list."""
    if not isinstance(value, dict):
        return False
    kind = value.get("kind")
    if isinstance(kind, str) and kind and (isinstance(value.get("apiVersion"), str) or "metadata" in value):
        return True
    return bool(infer_kind(value))
