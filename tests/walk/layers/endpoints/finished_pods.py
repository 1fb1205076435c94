"""Pods that have ended behind a Service."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import Obj, pod, workload
from tests.walk.layers.inputs import broken, sound

# --- workloads that make no Pods ---------------------------------------------------------------------------------------


def _no_pods(replicas: int, *conditions: Obj) -> Cluster:
    made = cluster(0)
    made.add(
        workload(replicas=replicas, readyReplicas=0, availableReplicas=0, updatedReplicas=0, conditions=[*conditions])
    )
    made.add(pod("db-1", ("10.244.1.60",), labels={"app": "db"}))
    return made.settle()


@broken("fault", "endpoints", "SP301", "Deployment web", "scaled to 0")
def a_deployment_that_is_scaled_to_zero() -> Cluster:
    return _no_pods(0)


@broken("fault", "endpoints", "SP301", "Deployment web", "exceeded quota")
def a_deployment_that_a_quota_keeps_from_making_pods() -> Cluster:
    message = 'pods "web-5d-" is forbidden: exceeded quota: team, requested: pods=1, used: pods=10, limited: pods=10'
    return _no_pods(2, {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message})


# --- Pods that have ended ----------------------------------------------------------------------------------------------


def _ended(phase: str, **more: Obj) -> Cluster:
    made = cluster(0)
    for number in (1, 2):
        ended = made.add(pod(f"web-job-{number}", (f"10.244.1.{40 + number}",), phase=phase, ready=False))
        ended["status"]["containerStatuses"][0]["state"] = {"terminated": {"exitCode": 0, "reason": "Completed"}}
        ended["status"] |= more
    return made.settle()


@broken("fault", "endpoints", "SP301", "finished", "web-job-1", "Succeeded")
def a_jobs_pods_that_have_completed_behind_a_service() -> Cluster:
    return _ended("Succeeded")


@broken("fault", "endpoints", "SP301", "finished", "Evicted")
def pods_that_were_evicted_and_not_replaced() -> Cluster:
    made = _ended("Failed")
    for replica in made.of("Pod"):
        replica["status"]["reason"] = "Evicted"
    return made


@sound()
def evicted_pods_beside_those_that_replaced_them() -> Cluster:
    made = cluster()
    made.objects.extend(replica for replica in _ended("Failed").of("Pod"))
    return made.settle()
