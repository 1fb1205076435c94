"""Traffic policies Local: nodes without an endpoint of their own."""

from __future__ import annotations

from tests.fixtures.clients import CLIENT, with_client
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import port
from tests.fixtures.rule_tables import iptables
from tests.walk.layers.inputs import broken, sound

# --- traffic policies and mirrored slices ------------------------------------------------------------------------------


def _internal_local() -> Cluster:
    """One Pod, on w1, behind a Service that keeps traffic on the node: on w2 kube-proxy drops it."""
    made = cluster(1, internalTrafficPolicy="Local").settle()
    rules = iptables(made.objects, 4)
    made.files["w1.iptables-save.txt"] = rules
    kept = [
        line
        for line in rules.splitlines()
        if "shop/web" not in line and "KUBE-SEP" not in line and ":KUBE-SVC" not in line
    ]
    drop = (
        '-A KUBE-SERVICES -d 10.96.10.1/32 -p tcp -m comment --comment "shop/web has no local endpoints" '
        "-m tcp --dport 80 -j DROP"
    )
    kept.insert(kept.index("COMMIT"), drop)
    made.files["w2.iptables-save.txt"] = "\n".join(kept) + "\n"
    return made


@broken("fault", "dataplane", "SP622", "w2", "DROP", client="node/w2")
def internal_policy_local_without_an_endpoint_on_the_client_s_node() -> Cluster:
    return _internal_local()


@sound(client="node/w1")
def internal_policy_local_with_an_endpoint_on_the_client_s_node() -> Cluster:
    return _internal_local()


# --- internalTrafficPolicy Local ---------------------------------------------------------------------------------------


def _local(node: str) -> Cluster:
    return with_client(cluster(1, internalTrafficPolicy="Local"), node=node)


@broken("fault", "dataplane", "SP622", "w2", "10.96.10.1", "w1", client=CLIENT)
def a_client_on_a_node_without_an_endpoint_of_its_own_and_no_table() -> Cluster:
    return _local("w2")


@sound(client=CLIENT)
def a_client_on_the_node_of_the_only_endpoint() -> Cluster:
    return _local("w1")


# --- outside traffic under a Local policy ------------------------------------------------------------------------------


def _outside_local(**nodes: str) -> Cluster:
    """One serving but terminating Pod on w1, a ready one on w2, and Nodes of the given kube-proxy releases."""
    made = cluster(
        2,
        type="LoadBalancer",
        externalTrafficPolicy="Local",
        healthCheckNodePort=32001,
        ports=[{**port(80, 8080), "nodePort": 31080}],
    )
    made.get("Service")["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.128"}]}}
    made.get("Pod", "web-1")["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    for name, release in nodes.items():
        made.get("Node", name)["status"]["nodeInfo"] = {"kubeProxyVersion": release, "kubeletVersion": release}
    return made.settle()


@broken("fault", "dataplane", "SP620", "w1", "v1.24.3", "DROP")
def an_old_kube_proxy_on_a_node_with_a_terminating_endpoint_alone() -> Cluster:
    return _outside_local(w1="v1.24.3", w2="v1.24.3")


@sound("SP701", "SP704")
def a_newer_kube_proxy_on_a_node_with_a_terminating_endpoint_alone() -> Cluster:
    return _outside_local(w1="v1.30.1", w2="v1.30.1")


def _dropping(policy: str) -> Cluster:
    """A dump of a node without a name: it drops what comes from outside, as one without a local endpoint does."""
    made = cluster(
        1, type="LoadBalancer", externalTrafficPolicy=policy, ports=[{**port(9443, 8080), "nodePort": 31443}]
    )
    made.get("Service")["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.128"}]}}
    made.settle()
    comment = '--comment "shop/web has no local endpoints"'
    into = "-m conntrack --ctstate NEW -j KUBE-EXTERNAL-SERVICES"
    drops = [
        ":KUBE-EXTERNAL-SERVICES - [0:0]",
        f"-A INPUT {into}",
        f"-A FORWARD {into}",
        f"-A KUBE-EXTERNAL-SERVICES -d 192.0.2.128/32 -p tcp -m comment {comment} -m tcp --dport 9443 -j DROP",
        f"-A KUBE-EXTERNAL-SERVICES -p tcp -m comment {comment} -m addrtype --dst-type LOCAL -m tcp --dport 31443 -j DROP",
    ]
    rules = iptables(made.objects, 4).replace(
        ":KUBE-FORWARD - [0:0]", "\n".join([":KUBE-FORWARD - [0:0]", drops[0]]), 1
    )
    made.files["rules.txt"] = rules.replace("COMMIT", "\n".join([*drops[1:], "COMMIT"]), 1)
    return made


@broken("fault", "dataplane", "SP608", "192.0.2.128:9443", "31443", "timeout", "w1 serves")
def an_unnamed_node_that_drops_outside_traffic_under_a_local_policy() -> Cluster:
    return _dropping("Local")


@broken("fault", "dataplane", "SP602", "192.0.2.128:9443", "DROP")
def an_unnamed_node_that_drops_outside_traffic_under_the_cluster_policy() -> Cluster:
    return _dropping("Cluster")
