"""Nodes of backends that are not ready, and Pods that crash while they are published."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import node
from tests.walk.layers.inputs import broken, sound

# --- Pods and readiness ------------------------------------------------------------------------------------------------


@broken("fault", "pod", "SP505", "CrashLoopBackOff")
def published_before_ready_and_crashing() -> Cluster:
    made = cluster(sockets=False, publishNotReadyAddresses=True)
    for pod in made.of("Pod"):
        pod["status"]["conditions"][0]["status"] = "False"
        pod["status"]["containerStatuses"][0] = {
            "name": "main",
            "ready": False,
            "restartCount": 5,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        }
    return made.settle()


# --- policies, nodes, rollouts -----------------------------------------------------------------------------------------


@broken("fault", "pod", "SP504", "w2", "10.244.2.12", "1 of 2")
def node_of_a_backend_is_not_ready() -> Cluster:
    made = cluster().settle()
    made.get("Node", "w2")["status"]["conditions"][0].update(status="Unknown", reason="NodeStatusUnknown")
    return made


@sound()
def another_node_is_not_ready() -> Cluster:
    made = cluster().settle()
    made.add(node("w3", "Unknown"))
    return made


# --- lists, names and publishing ---------------------------------------------------------------------------------------


@broken("warning", "pod", "SP504", "w2", "KubeletNotReady")
def node_that_reports_itself_not_ready() -> Cluster:
    made = cluster().settle()
    made.get("Node", "w2")["status"]["conditions"][0].update(status="False", reason="KubeletNotReady")
    return made


# --- lists of nodes ----------------------------------------------------------------------------------------------------


def _node_list(status: str) -> Cluster:
    made = cluster().settle()
    made.drop("Node")
    made.files["nodes.txt"] = (
        f"NAME   STATUS     ROLES    AGE   VERSION\nw1     Ready      <none>   5d    v1.35.4\nw2     {status:10} <none>   5d    v1.35.4\n"
    )
    return made


@broken("fault", "pod", "SP504", "w2 is not ready", "10.244.2.12")
def a_list_of_nodes_with_one_that_is_not_ready() -> Cluster:
    return _node_list("NotReady")


@sound()
def a_list_of_nodes_that_are_ready() -> Cluster:
    return _node_list("Ready")
