"""A workload of a cluster and what stands around it there, for a budget."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from svcpath.drain.cluster import ClusterTransport
from svcpath.errors import UnknownTarget
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.evidence.sources.kube_objects import Resource

#: How a workload is named (singular, plural and short names, as kubectl takes them) -> where the API has it.
WORKLOADS = {
    name: resource
    for resource, names in (
        (Resource("deployments", "apps"), ("deploy", "deployment", "deployments")),
        (Resource("statefulsets", "apps"), ("sts", "statefulset", "statefulsets")),
        (Resource("daemonsets", "apps"), ("ds", "daemonset", "daemonsets")),
        (Resource("replicasets", "apps"), ("rs", "replicaset", "replicasets")),
        (Resource("jobs", "batch"), ("job", "jobs")),
        (Resource("cronjobs", "batch"), ("cj", "cronjob", "cronjobs")),
        (Resource("pods"), ("po", "pod", "pods")),
        (Resource("replicationcontrollers"), ("rc", "replicationcontroller", "replicationcontrollers")),
        (Resource("rollouts", "argoproj.io", "v1alpha1"), ("rollout", "rollouts")),
    )
    for name in names
}
#: What may stand in front of it, and beside. Where a cluster does not serve the version, the one that it prefers is read.
_FRONTS = (
    Resource("services"),
    Resource("ingresses", "networking.k8s.io"),
    Resource("httproutes", "gateway.networking.k8s.io"),
    Resource("gateways", "gateway.networking.k8s.io"),
    Resource("backendconfigs", "cloud.google.com"),
    Resource("gcpbackendpolicies", "networking.gke.io"),
    Resource("healthcheckpolicies", "networking.gke.io"),
)
_BESIDE = (
    Resource("poddisruptionbudgets", "policy"),
    Resource("horizontalpodautoscalers", "autoscaling", "v2"),
    Resource("scaledobjects", "keda.sh", "v1alpha1"),
)


class WorkloadManifests(msgspec.Struct, frozen=True):
    """``manifests`` is one List, in JSON. ``unlisted_fronts`` and ``unlisted_beside`` name the resources that the account may
    not list: what stands in front of the workload, or beside it, is not all known then."""

    manifests: bytes
    unlisted_fronts: tuple[str, ...] = ()
    unlisted_beside: tuple[str, ...] = ()


def around(cluster: ClusterTransport, space: str, kind: str, name: str) -> WorkloadManifests:
    """The workload and what stands around it in its namespace.

    Raises UnknownTarget where the workload is not there, SourceUnavailable where the API server is not; kinds that the
    cluster does not serve are left out.
    """
    found: list[Any] = [_workload(cluster, space, kind, name)]
    denied: set[Resource] = set()
    for resource in (*_FRONTS, *_BESIDE):
        try:
            listed = _read(cluster, resource, space)
        except ApiTrouble as error:
            if error.status != 403:
                raise
            denied.add(resource)
            continue
        found.extend(_typed(item, listed) for item in listed.get("items") or ())
    return WorkloadManifests(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": found}, indent=1).encode(),
        tuple(resource.named for resource in _FRONTS if resource in denied),
        tuple(resource.named for resource in _BESIDE if resource in denied),
    )


def _workload(cluster: ClusterTransport, space: str, kind: str, name: str) -> Any:
    resource = WORKLOADS[kind.lower()]
    try:
        return json.loads(cluster.get(resource.path(space, name)))
    except ApiTrouble as error:
        if error.status != 404:
            raise
        raise UnknownTarget(
            f"no {kind}/{name} in namespace {space}: kubectl -n {space} get {resource.named}"
        ) from error


def _read(cluster: ClusterTransport, resource: Resource, space: str) -> dict[str, Any]:
    """The list, {} where it is not served."""
    try:
        try:
            listed = cluster.get(resource.path(space))
        except ApiTrouble as error:
            if error.status != 404 or not resource.group:
                raise
            served = json.loads(cluster.get(f"/apis/{resource.group}"))["preferredVersion"]["version"]
            listed = cluster.get(Resource(resource.plural, resource.group, served).path(space))
    except ApiTrouble as error:
        if error.status in (404, 405):
            return {}
        raise
    found: dict[str, Any] = json.loads(listed)
    return found


def _typed(item: dict[str, Any], listed: dict[str, Any]) -> dict[str, Any]:
    """An item of a list names neither its kind nor its version; the list does."""
    return {"apiVersion": listed["apiVersion"], "kind": str(listed["kind"]).removesuffix("List"), **item}
