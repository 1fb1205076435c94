"""Kinds of Pods and slices: who is ready, and what the slices say of them."""

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import NAMESPACE, Obj, endpoint, endpoint_slice, node, pod, service, workload
from tests.walk.kinds import broken, sound

# --- Pods and readiness -------------------------------------------------------------------------------------------


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
    for one in made.of("Pod"):
        one["status"]["containerStatuses"] = []
        one["spec"]["nodeName"] = ""
        one["status"]["conditions"].append(
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
    for one in made.of("Pod"):
        one["status"]["containerStatuses"][0]["lastState"] = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    return made


@broken("fault", "endpoints", "SP304", "readiness gate", "example.com/in-rotation")
def readiness_gate_unmet() -> Cluster:
    made = _all_pods()
    for one in made.of("Pod"):
        one["spec"]["readinessGates"] = [{"conditionType": "example.com/in-rotation"}]
        one["status"]["containerStatuses"][0]["ready"] = True
    return made


@sound()
def readiness_gate_met() -> Cluster:
    made = cluster()
    for one in made.of("Pod"):
        one["spec"]["readinessGates"] = [{"conditionType": "example.com/in-rotation"}]
        one["status"]["conditions"].append({"type": "example.com/in-rotation", "status": "True"})
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
    for one in made.of("Pod"):
        one["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    return made.settle()


@broken("fault", "endpoints", "SP304", "web-1")
def only_terminating_endpoints_that_do_not_serve() -> Cluster:
    made = cluster()
    for one in made.of("Pod"):
        one["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
        one["status"]["conditions"][0]["status"] = "False"
    return made.settle()


@sound("SP701", "SP704")
def one_pod_terminating_beside_a_ready_one() -> Cluster:
    made = cluster(3)
    made.get("Pod", "web-1")["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    return made.settle()


@sound("SP316", "SP314")
def not_ready_pods_that_are_published_and_listen() -> Cluster:
    made = cluster(publishNotReadyAddresses=True)
    for one in made.of("Pod"):
        one["status"]["conditions"][0]["status"] = "False"
        one["status"]["containerStatuses"][0]["ready"] = False
    return made.settle()


@broken("fault", "pod", "SP505", "CrashLoopBackOff")
def published_before_ready_and_crashing() -> Cluster:
    made = cluster(sockets=False, publishNotReadyAddresses=True)
    for one in made.of("Pod"):
        one["status"]["conditions"][0]["status"] = "False"
        one["status"]["containerStatuses"][0] = {
            "name": "main",
            "ready": False,
            "restartCount": 5,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        }
    return made.settle()


# --- slices -------------------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP306", "10.244.1.99", "web-gone")
def slice_with_a_pod_that_is_gone() -> Cluster:
    made = cluster().settle()
    made.get("EndpointSlice")["endpoints"].append(endpoint("10.244.1.99", "web-gone"))
    return made


@broken("fault", "endpoints", "SP306", "10.244.1.77", "10.244.1.11", "1 of 2")
def slice_with_another_address_than_the_pod_has() -> Cluster:
    made = cluster().settle()
    for one in made.get("EndpointSlice")["endpoints"]:
        if one["targetRef"]["name"] == "web-1":
            one["addresses"] = ["10.244.1.77"]
    return made


@sound()
def the_same_pods_spread_over_two_slices() -> Cluster:
    made = cluster(4).settle()
    whole = made.get("EndpointSlice")
    second = endpoint_slice("web-second", "web", whole["endpoints"][2:], whole["ports"])
    whole["endpoints"] = whole["endpoints"][:2]
    made.add(second)
    return made


@sound()
def the_same_pod_listed_in_two_slices() -> Cluster:
    made = cluster().settle()
    whole = made.get("EndpointSlice")
    made.add(endpoint_slice("web-second", "web", list(whole["endpoints"]), whole["ports"]))
    return made


@broken("fault", "endpoints", "SP301")
def an_orphan_slice_under_another_service() -> Cluster:
    made = cluster(selector={"app": "none"}).settle()
    made.add(
        endpoint_slice("web-manual", "wbe", [endpoint("10.244.1.11", "web-1")], [{"port": 8080, "protocol": "TCP"}])
    )
    return made


@broken("warning", "endpoints", "SP312", "192.0.2.7")
def endpoints_edited_by_hand() -> Cluster:
    made = cluster().settle()
    made.add(_endpoints(["10.244.1.11", "10.244.2.12", "192.0.2.7"]))
    return made


def _endpoints(addresses: list[str], **meta: object) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "web", "namespace": NAMESPACE, **meta},
        "subsets": [{"addresses": [{"ip": ip} for ip in addresses], "ports": [{"port": 8080, "protocol": "TCP"}]}],
    }


@sound()
def endpoints_as_their_controller_writes_them() -> Cluster:
    made = cluster().settle()
    made.add(_endpoints(["10.244.1.11", "10.244.2.12"]))
    return made


@broken("warning", "endpoints", "SP313", "1000")
def endpoints_over_capacity() -> Cluster:
    made = cluster().settle()
    made.add(
        _endpoints(["10.244.1.11", "10.244.2.12"], annotations={"endpoints.kubernetes.io/over-capacity": "truncated"})
    )
    return made


@broken("fault", "endpoints", "SP303", "web-1")
def ready_pods_and_an_empty_slice() -> Cluster:
    made = cluster().settle()
    made.get("EndpointSlice")["endpoints"] = []
    return made


@broken("warning", "endpoints", "SP315", "web-2")
def a_ready_pod_in_no_slice() -> Cluster:
    made = cluster().settle()
    whole = made.get("EndpointSlice")
    whole["endpoints"] = [one for one in whole["endpoints"] if one["targetRef"]["name"] == "web-1"]
    return made


def _by_hand(name: str = "", label: str = "web") -> Cluster:
    made = cluster(0, selector=None)
    ports = [{"port": 5432, "protocol": "TCP", **({"name": name} if name else {})}]
    made.add(endpoint_slice("web-db", label, [endpoint("192.0.2.10")], ports, managed_by="staff"))
    return made


@sound()
def selectorless_service_with_a_slice_made_by_hand() -> Cluster:
    return _by_hand()


@broken("fault", "ports", "SP407", '"pg"')
def selectorless_service_whose_slice_names_its_port_otherwise() -> Cluster:
    return _by_hand("pg")


@broken("fault", "endpoints", "SP302")
def selectorless_service_whose_slice_has_another_label() -> Cluster:
    return _by_hand(label="wbe")


# --- Pods that have not started -------------------------------------------------------------------------------------


def _starting(event: str = "", init: str = "", **status: object) -> Cluster:
    made = cluster(1)
    one = made.get("Pod", "web-1")
    one["status"] |= {"phase": "Pending", **status}
    one["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]
    waits = {"waiting": {"reason": "PodInitializing" if init else "ContainerCreating"}}
    one["status"]["containerStatuses"] = [{"name": "main", "ready": False, "restartCount": 0, "state": waits}]
    if init:
        one["spec"]["initContainers"] = [{"name": "mesh", "restartPolicy": "Always"}, {"name": init}]
        one["status"]["initContainerStatuses"] = [
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


# --- workloads that make no Pods ------------------------------------------------------------------------------------


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


# --- addresses outside the cluster beside its Pods ------------------------------------------------------------------


@broken("warning", "endpoints", "SP319", "192.0.2.50", "web-legacy", "outside the cluster")
def a_machine_outside_the_cluster_beside_the_pods() -> Cluster:
    made = cluster().settle()
    ports: list[Obj] = [{"name": "", "port": 8080, "protocol": "TCP"}]
    made.add(endpoint_slice("web-legacy", "web", [endpoint("192.0.2.50")], ports, managed_by="migration"))
    return made


@broken("warning", "endpoints", "SP314", "web-1", "still has web-1 as ready")
def a_pod_that_is_not_ready_and_a_slice_that_says_it_is() -> Cluster:
    made = cluster().settle()
    status = made.get("Pod", "web-1")["status"]
    status["conditions"][0]["status"] = "False"
    status["containerStatuses"][0]["ready"] = False
    return made
