"""A workload of a cluster and what stands around it there, for a budget."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.kube import existing
from svcpath.evidence.facts.kubernetes.workload_names import KIND_OF
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.evidence.sources.kube_objects import Resource

#: Kind of a workload (evidence/facts/kubernetes/workload_names.py) -> where the API has it.
_WORKLOADS = {
    "Deployment": Resource("deployments", "apps"),
    "StatefulSet": Resource("statefulsets", "apps"),
    "DaemonSet": Resource("daemonsets", "apps"),
    "ReplicaSet": Resource("replicasets", "apps"),
    "Job": Resource("jobs", "batch"),
    "CronJob": Resource("cronjobs", "batch"),
    "Pod": Resource("pods"),
    "ReplicationController": Resource("replicationcontrollers"),
    "Rollout": Resource("rollouts", "argoproj.io", "v1alpha1"),
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
    """The workload and what stands around it in its namespace. ``kind`` is a key of KIND_OF, in any case.

    Raises UnknownTarget where the workload is not there, SourceUnavailable where the API server is not; kinds that the
    cluster does not serve are left out.
    """
    found: list[Any] = [existing(cluster.get, _WORKLOADS[KIND_OF[kind.lower()]], f"{kind}/{name}", space, name)]
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


def _read(cluster: ClusterTransport, resource: Resource, space: str) -> dict[str, Any]:
    """The list, {} where it is not served. Raises ApiTrouble."""
    found = _served(cluster, resource.path(space))
    if not found and resource.group:
        preferred = _served(cluster, f"/apis/{resource.group}").get("preferredVersion", {}).get("version", "")
        if preferred not in ("", resource.version):
            found = _served(cluster, msgspec.structs.replace(resource, version=preferred).path(space))
    return found


def _served(cluster: ClusterTransport, path: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(cluster.get(path))
    except ApiTrouble as error:
        if error.status in (404, 405):
            return {}
        raise
    return found


def _typed(item: dict[str, Any], listed: dict[str, Any]) -> dict[str, Any]:
    """An item of a list names neither its kind nor its version; the list does."""
    return {"apiVersion": listed["apiVersion"], "kind": str(listed["kind"]).removesuffix("List"), **item}
