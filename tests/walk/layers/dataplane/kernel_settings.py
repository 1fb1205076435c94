"""Bridges, hairpins and full connection tracking tables."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod
from tests.walk.layers.inputs import broken, sound
from tests.walk.layers.pod.routes import CLIENT_ADDRESS

# --- probes that a node drops ------------------------------------------------------------------------------------------


def full_connection_table(node: str, message: str = "Readiness probe failed: context deadline exceeded") -> Cluster:
    """Both Pods on w1 and not ready; ``node`` has a full connection tracking table."""
    made = cluster(2)
    for item in made.of("Pod"):
        name = item["metadata"]["name"]
        item["spec"]["nodeName"] = "w1"
        item["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]
        item["status"]["containerStatuses"][0]["ready"] = False
        made.add(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"{name}.1", "namespace": "shop"},
                "involvedObject": {"kind": "Pod", "name": name, "namespace": "shop"},
                "reason": "Unhealthy",
                "type": "Warning",
                "message": message,
                "lastTimestamp": "2026-01-02T03:04:05Z",
            }
        )
    made.add(pod("client", (CLIENT_ADDRESS,), labels={"app": "client"}, node=node))
    count = "net.netfilter.nf_conntrack_count = 262144\nnet.netfilter.nf_conntrack_max = 262144\n"
    made.files[f"{node}.sysctl.txt"] = f"net.ipv4.ip_forward = 1\n{count}"
    made.dumps = True
    return made.settle()


@broken("fault", "dataplane", "SP617", "262144 of 262144", client="pod/client")
def a_full_table_of_the_pods_node_drops_their_probes() -> Cluster:
    return full_connection_table("w1")


# --- bridges -----------------------------------------------------------------------------------------------------------


def _bridged(*modes: int, netfilter: int = 1, own: str = "timeout") -> Cluster:
    made = cluster(1).settle()
    ports = [f"/sys/class/net/cni0/brif/veth{number}/hairpin_mode {mode}" for number, mode in enumerate(modes)]
    made.files["w1-bridge.txt"] = "\n".join([*ports, f"net.bridge.bridge-nf-call-iptables = {netfilter}"]) + "\n"
    tries = ["pod: web-1 (10.244.1.11)", f"curl 10.96.10.1:80 -> {own}", "curl 10.244.1.11:8080 -> 200"]
    made.files["client.txt"] = "\n".join(tries) + "\n"
    return made


@broken("fault", "dataplane", "SP613", "web-1", "hairpin_mode 0")
def a_pod_that_hangs_on_its_own_service_behind_a_port_without_hairpin() -> Cluster:
    return _bridged(0)


@broken("fault", "dataplane", "SP617", "bridge-nf-call-iptables")
def a_pod_that_hangs_on_its_own_service_where_the_bridge_passes_netfilter_by() -> Cluster:
    return _bridged(1, netfilter=0)


@sound()
def a_pod_that_reaches_itself_through_its_service() -> Cluster:
    return _bridged(1, own="200")


@broken("warning", "dataplane", "SP613", "web-1", client="pod/web-1")
def a_client_that_is_its_own_backend_among_bridge_ports_of_both_kinds() -> Cluster:
    made = _bridged(0, 1)
    del made.files["client.txt"]
    return made
