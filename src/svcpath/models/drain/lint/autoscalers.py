"""How many Pods a workload has at least, where an autoscaler decides it and not its own ``replicas``.

autoscaling/v2 HorizontalPodAutoscaler: minReplicas is 1 unless it is set. keda.sh ScaledObject: minReplicaCount is 0 unless
it is set, and the autoscaler that KEDA makes has at least 1 as long as there is work.
"""

from __future__ import annotations

from collections.abc import Sequence

from svcpath.evidence.facts.kubernetes import Object, OtherObject, Workload

#: Kind of the autoscaler -> the field with its least number, and what that is unless it is set.
_LEAST = {"HorizontalPodAutoscaler": ("minReplicas", 1), "ScaledObject": ("minReplicaCount", 1)}


def least_replicas(workload: Workload, others: Sequence[Object]) -> tuple[int, str]:
    """The least number of Pods, and the same in words with where it comes from."""
    for obj in others:
        if isinstance(obj, OtherObject) and obj.kind in _LEAST and _scales(obj, workload):
            field, default = _LEAST[obj.kind]
            value = (obj.spec or {}).get(field)
            least = max(value, 1) if isinstance(value, int) and not isinstance(value, bool) else default
            return least, f"{least} replicas, the least that {obj.kind} {obj.name} keeps"
    if workload.spec.replicas is None:
        return 1, "1 replica (the default; no autoscaler of it was read)"
    return workload.spec.replicas, f"{workload.spec.replicas} replicas"


def _scales(autoscaler: OtherObject, workload: Workload) -> bool:
    target = (autoscaler.spec or {}).get("scaleTargetRef")
    if not isinstance(target, dict) or target.get("name") != workload.name:
        return False
    if autoscaler.namespace and workload.namespace and autoscaler.namespace != workload.namespace:
        return False
    return str(target.get("kind", "Deployment")) == workload.kind
