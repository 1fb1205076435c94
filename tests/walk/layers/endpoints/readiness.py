"""Pods that are not ready, not started, terminating or published all the same."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import NAMESPACE, node, pod, service
from tests.walk.layers.dataplane.kernel_settings import full_connection_table
from tests.walk.layers.inputs import broken, sound

# --- Pods and readiness ------------------------------------------------------------------------------------------------


def _all_pods(*, phase: str = "Running", waiting: str = "") -> Cluster:
    made = Cluster()
    for name in ("w1", "w2"):
        made.add(node(name))
    made.add(service())
    for number in (1, 2):
        ips = () if phase == "Pending" and not waiting else (f"10.244.{number}.9",)
        made.add(pod(f"web-{number}", ips, node=f"w{number}", ready=False, phase=phase, waiting=waiting))
    return made.settle()


@broken("fault", "endpoints", "SP304", "Insufficient cpu")
def every_pod_pending() -> Cluster:
    made = _all_pods(phase="Pending")
    for replica in made.of("Pod"):
        replica["status"]["containerStatuses"] = []
        replica["spec"]["nodeName"] = ""
        replica["status"]["conditions"].append(
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/2 nodes are available: 2 Insufficient cpu.",
            }
        )
    return made


@broken("fault", "endpoints", "SP304", "ImagePullBackOff")
def every_pod_waits_for_its_image() -> Cluster:
    return _all_pods(phase="Pending", waiting="ImagePullBackOff")


@broken("fault", "endpoints", "SP304", "CrashLoopBackOff", "exit 137")
def every_pod_crashes() -> Cluster:
    made = _all_pods(waiting="CrashLoopBackOff")
    for replica in made.of("Pod"):
        replica["status"]["containerStatuses"][0]["lastState"] = {
            "terminated": {"exitCode": 137, "reason": "OOMKilled"}
        }
    return made


@broken("fault", "endpoints", "SP304", "readiness gate", "example.com/in-rotation")
def readiness_gate_unmet() -> Cluster:
    made = _all_pods()
    for replica in made.of("Pod"):
        replica["spec"]["readinessGates"] = [{"conditionType": "example.com/in-rotation"}]
        replica["status"]["containerStatuses"][0]["ready"] = True
    return made


@sound()
def readiness_gate_met() -> Cluster:
    made = cluster()
    for replica in made.of("Pod"):
        replica["spec"]["readinessGates"] = [{"conditionType": "example.com/in-rotation"}]
        replica["status"]["conditions"].append({"type": "example.com/in-rotation", "status": "True"})
    return made.settle()


@broken("warning", "endpoints", "SP314", "1 of 3 Pods", "web-3")
def one_pod_of_three_not_ready() -> Cluster:
    made = cluster(3)
    made.drop("Pod", "web-3")
    made.add(pod("web-3", ("10.244.1.13",), ready=False))
    return made.settle()


@broken("warning", "endpoints", "SP305", "web-1")
def only_terminating_endpoints_that_serve() -> Cluster:
    made = cluster()
    for replica in made.of("Pod"):
        replica["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    return made.settle()


@broken("fault", "endpoints", "SP304", "web-1")
def only_terminating_endpoints_that_do_not_serve() -> Cluster:
    made = cluster()
    for replica in made.of("Pod"):
        replica["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
        replica["status"]["conditions"][0]["status"] = "False"
    return made.settle()


@sound("SP701", "SP704")
def one_pod_terminating_beside_a_ready_one() -> Cluster:
    made = cluster(3)
    made.get("Pod", "web-1")["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    return made.settle()


@sound("SP316", "SP314")
def not_ready_pods_that_are_published_and_listen() -> Cluster:
    made = cluster(publishNotReadyAddresses=True)
    for replica in made.of("Pod"):
        replica["status"]["conditions"][0]["status"] = "False"
        replica["status"]["containerStatuses"][0]["ready"] = False
    return made.settle()


# --- Pods that have not started ----------------------------------------------------------------------------------------


def _starting(event: str = "", init: str = "", **status: object) -> Cluster:
    made = cluster(1)
    replica = made.get("Pod", "web-1")
    replica["status"] |= {"phase": "Pending", **status}
    replica["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]
    waits = {"waiting": {"reason": "PodInitializing" if init else "ContainerCreating"}}
    replica["status"]["containerStatuses"] = [{"name": "main", "ready": False, "restartCount": 0, "state": waits}]
    if init:
        replica["spec"]["initContainers"] = [{"name": "mesh", "restartPolicy": "Always"}, {"name": init}]
        replica["status"]["initContainerStatuses"] = [
            {"name": "mesh", "ready": False, "restartCount": 0, "state": {"running": {}}},
            {"name": init, "ready": False, "restartCount": 0, "state": {"running": {}}},
        ]
    made.sockets["web-1"] = None
    if event:
        made.add(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": "web-1.1", "namespace": NAMESPACE},
                "involvedObject": {"kind": "Pod", "name": "web-1", "namespace": NAMESPACE},
                "type": "Warning",
                "reason": "FailedMount",
                "message": event,
                "lastTimestamp": "2026-01-02T03:04:05Z",
            }
        )
    return made.settle()


@broken("fault", "endpoints", "SP304", "wait-db", "has not ended")
def an_init_container_that_does_not_end() -> Cluster:
    return _starting(init="wait-db")


@broken("fault", "endpoints", "SP304", "ContainerCreating", 'configmap "settings" not found')
def a_volume_that_can_t_be_mounted() -> Cluster:
    return _starting('MountVolume.SetUp failed for volume "settings" : configmap "settings" not found')


# --- addresses outside the cluster beside its Pods ---------------------------------------------------------------------


@broken("warning", "endpoints", "SP314", "web-1", "still has web-1 as ready")
def a_pod_that_is_not_ready_and_a_slice_that_says_it_is() -> Cluster:
    made = cluster().settle()
    status = made.get("Pod", "web-1")["status"]
    status["conditions"][0]["status"] = "False"
    status["containerStatuses"][0]["ready"] = False
    return made


# --- lists, names and publishing ---------------------------------------------------------------------------------------


@sound("SP316")
def published_before_ready_and_running() -> Cluster:
    return not_ready_pods_that_are_published_and_listen()


# --- probes that a node drops ------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP304", "deadline exceeded", client="pod/client")
def a_full_table_of_another_node_than_the_pods() -> Cluster:
    return full_connection_table("w2")


@broken("fault", "endpoints", "SP304", "statuscode: 503", client="pod/client")
def probes_that_are_answered_on_a_node_with_a_full_table() -> Cluster:
    return full_connection_table("w1", "Readiness probe failed: HTTP probe failed with statuscode: 503")
