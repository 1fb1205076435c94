"""Rollouts that are stuck, lag or are complete."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import port, workload
from tests.walk.layers.inputs import broken, sound


@broken("warning", "lifecycle", "SP704", "ProgressDeadlineExceeded")
def rollout_that_is_stuck() -> Cluster:
    made = cluster().settle()
    stuck = workload(updatedReplicas=1, replicas=3)
    stuck["spec"]["replicas"] = 2
    stuck["status"]["conditions"] = [
        {
            "type": "Progressing",
            "status": "False",
            "reason": "ProgressDeadlineExceeded",
            "message": 'ReplicaSet "web-5d" has timed out progressing.',
        }
    ]
    made.add(stuck)
    return made


@broken("warning", "lifecycle", "SP702", "generation")
def deployment_whose_status_lags() -> Cluster:
    made = cluster().settle()
    made.add(workload(observedGeneration=0))
    return made


@sound()
def deployment_that_is_complete() -> Cluster:
    made = cluster().settle()
    made.add(workload())
    return made


@sound()
def stateful_set_behind_a_headless_service() -> Cluster:
    made = cluster(clusterIP="None", clusterIPs=["None"], ports=[port(8080, 8080)])
    for pod in made.of("Pod"):
        pod["spec"]["hostname"], pod["spec"]["subdomain"] = pod["metadata"]["name"], "web"
    made.add(workload("StatefulSet"))
    return made.settle()
