"""Kinds of broken and sound input that differ in what a node's tables and settings hold."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.controllers import iptables
from tests.fixtures.objects import endpoint, endpoint_slice, port, service
from tests.walk.kinds import broken, sound

# --- a table that is older than the slices ---------------------------------------------------------------------------


def _twin(made: Cluster, address: str) -> Cluster:
    """Another Service that sends to ``address`` all the while: its rules name the same Pod and port."""
    six = ":" in address
    ip = "fd00:96::99" if six else "10.96.10.99"
    made.add(service("twin", clusterIP=ip, selector=None))
    made.add(endpoint_slice("twin-1", "twin", [endpoint(address)], [{"port": 8080}], managed_by="staff"))
    return made


def _older(now: int, before: int, *, dual: bool = False) -> Cluster:
    """w1's rules as they were with ``before`` Pods; the slices as they are with ``now``."""
    made = _twin(cluster(max(now, before), dual=dual), "fd00:244:1::d" if dual else "10.244.1.13").settle()
    every = list(made.objects)

    def only(count: int) -> None:
        gone = {f"web-{number}" for number in range(count + 1, 9)}
        made.objects = [one for one in every if one["kind"] != "Pod" or one["metadata"]["name"] not in gone]
        made.settle()

    only(before)
    made.files["w1.iptables-save.txt"] = iptables(made.objects, 4)
    if dual:
        made.files["w1.ip6tables-save.txt"] = iptables(made.objects, 6)
    only(now)
    made.sockets = {name: held for name, held in made.sockets.items() if any(name == each for each in _pods(made))}
    return made


def _pods(made: Cluster) -> list[str]:
    return [one["metadata"]["name"] for one in made.of("Pod")]


@broken("fault", "dataplane", "SP603", "STALE", "10.244.1.13:8080", "1/3")
def a_node_that_still_sends_to_a_removed_pod() -> Cluster:
    return _older(2, 3)


@broken("fault", "dataplane", "SP603", "STALE", "fd00:244:1::d")
def a_node_that_still_sends_to_a_removed_pod_over_ipv6() -> Cluster:
    return _older(2, 3, dual=True)


@broken("fault", "dataplane", "SP604", "MISSING", "10.244.1.13:8080")
def a_node_that_does_not_send_to_a_new_pod() -> Cluster:
    return _older(3, 2)


@sound()
def a_node_whose_table_is_as_old_as_the_slices() -> Cluster:
    return _older(3, 3)


# --- rules of another mode --------------------------------------------------------------------------------------------

_CONFIG = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\n"
_IPVS = """IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.10.1:80 rr
  -> 10.244.1.11:8080             Masq    1      0          0
  -> 10.244.2.12:8080             Masq    1      0          0
"""


def _left(rules: Cluster, *, table: str = _IPVS) -> Cluster:
    """kube-proxy runs in ipvs mode, and what ``rules`` would give in iptables mode is still there."""
    made = cluster().settle()
    made.files["kube-proxy-config.yaml"] = _CONFIG
    if table:
        made.files["w1.ipvsadm-Ln.txt"] = table
    made.files["w1.iptables-save.txt"] = iptables(rules.settle().objects, 4)
    return made


@broken("fault", "dataplane", "SP607", "REJECT", "10.96.10.1:80", "ipvs, in use, is right")
def a_left_reject_beside_the_ipvs_table() -> Cluster:
    return _left(cluster(0))


@broken("fault", "dataplane", "SP607", "REJECT", "10.96.10.1:80", "ipvs")
def a_left_reject_where_the_table_in_use_is_not_in_the_evidence() -> Cluster:
    return _left(cluster(0), table="")


@broken("fault", "dataplane", "SP607", "10.244.1.13:8080")
def left_rules_that_send_to_a_pod_that_is_gone() -> Cluster:
    return _left(cluster(3))


@broken("warning", "dataplane", "SP607", "10.96.10.1:80", "as the slices say")
def left_rules_that_send_to_the_right_pods() -> Cluster:
    return _left(cluster(2))


@sound()
def left_rules_of_another_service() -> Cluster:
    rules = cluster(2, clusterIP="10.96.10.77")
    rules.get("Service")["metadata"]["name"] = "other"
    return _left(rules)


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
    """A dump of a node that nobody names: it drops what comes from outside, as one without a local endpoint does."""
    made = cluster(
        1, type="LoadBalancer", externalTrafficPolicy=policy, ports=[{**port(9443, 8080), "nodePort": 31443}]
    )
    made.get("Service")["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.128"}]}}
    made.settle()
    said = '--comment "shop/web has no local endpoints"'
    into = "-m conntrack --ctstate NEW -j KUBE-EXTERNAL-SERVICES"
    drops = [
        ":KUBE-EXTERNAL-SERVICES - [0:0]",
        f"-A INPUT {into}",
        f"-A FORWARD {into}",
        f"-A KUBE-EXTERNAL-SERVICES -d 192.0.2.128/32 -p tcp -m comment {said} -m tcp --dport 9443 -j DROP",
        f"-A KUBE-EXTERNAL-SERVICES -p tcp -m comment {said} -m addrtype --dst-type LOCAL -m tcp --dport 31443 -j DROP",
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


# --- bridges ------------------------------------------------------------------------------------------------------------


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


# --- a table without the Service object -------------------------------------------------------------------------------


def _cilium(*backends: str) -> Cluster:
    made = cluster().settle()
    made.drop("Service")
    rows = [f"{number} => {each}:8080/TCP (active)" for number, each in enumerate(backends, start=1)]
    made.files["w1/cilium-service-list.txt"] = (
        "ID   Frontend          Service Type   Backend\n"
        f"7    10.96.10.1:80/TCP   ClusterIP      {rows[0]}\n" + "".join(f"{'':40}{row}\n" for row in rows[1:])
    )
    return made


@sound()
def slices_without_their_service_that_a_nodes_table_agrees_with() -> Cluster:
    return _cilium("10.244.1.11", "10.244.2.12")


@broken("inconclusive", None, "SP603", "10.244.1.99:8080", "in no slice")
def a_nodes_table_that_knows_a_backend_more_than_the_slices_without_their_service() -> Cluster:
    return _cilium("10.244.1.11", "10.244.1.99")


# --- lists of nodes ---------------------------------------------------------------------------------------------------


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


# --- nodes on which another program carries Services ------------------------------------------------------------------

_OTHERS = """*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-KUBELET-CANARY - [0:0]
{chain}
COMMIT
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
COMMIT
"""


def _in_place_of_kube_proxy(chain: str = "") -> Cluster:
    made = cluster().settle()
    jump = f":{chain} - [0:0]\n-A PREROUTING -j {chain}" if chain else ""
    made.files["w1.iptables-save.txt"] = "# Generated by iptables-save v1.8.9 (nf_tables)\n" + _OTHERS.format(
        chain=jump
    )
    return made


@sound()
def a_node_on_which_cilium_takes_kube_proxys_place() -> Cluster:
    return _in_place_of_kube_proxy("CILIUM_PRE_nat")


@sound()
def a_node_on_which_ovn_kubernetes_takes_kube_proxys_place() -> Cluster:
    return _in_place_of_kube_proxy("OVN-KUBE-NODEPORT")


@broken("inconclusive", None, "SP615", "w1", "nftables mode")
def a_node_without_any_chain_of_kube_proxy() -> Cluster:
    return _in_place_of_kube_proxy()
