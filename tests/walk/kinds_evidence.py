"""Kinds of broken and sound input that differ in what the evidence holds: parts of it, one by one, from other owners."""

from __future__ import annotations

import json

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import NAMESPACE, endpoint, endpoint_slice, pod, port, service
from tests.fixtures.proc_net import proc_net
from tests.walk.kinds import broken, sound

# --- Pods that were read one by one ---------------------------------------------------------------------------------


def _one_by_one(made: Cluster) -> Cluster:
    made.settle()
    made.drop("Node")
    made.listed = False
    return made


@sound()
def one_pod_of_two_read_by_its_name() -> Cluster:
    made = _one_by_one(cluster(2))
    made.drop("Pod", "web-2")
    return made


@broken("fault", "endpoints", "SP306", "web-2", "10.244.2.12")
def a_listed_slice_names_a_pod_that_the_list_lacks() -> Cluster:
    made = cluster(2).settle()
    made.drop("Pod", "web-2")
    return made


@broken("fault", "endpoints", "SP306", "web-2", "10.244.2.12")
def a_pod_whose_deletion_was_watched_is_still_in_the_slice() -> Cluster:
    made = cluster(2).settle()
    events = [json.dumps({"type": "ADDED", "object": one}) for one in made.objects]
    events.append(json.dumps({"type": "DELETED", "object": made.get("Pod", "web-2")}))
    made.objects = []
    made.files["watch.json"] = "\n".join(events) + "\n"
    return made


def _strangers(labels: dict[str, str], selector: dict[str, str]) -> Cluster:
    made = cluster(0, selector=selector)
    made.add(pod("client", ("10.244.1.50",), labels=labels))
    made = _one_by_one(made)
    made.drop("EndpointSlice")
    return made


@broken("inconclusive", None, "SP301", "app=web")
def only_the_clients_own_pod_was_read() -> Cluster:
    return _strangers({"app": "client"}, {"app": "web"})


@broken("inconclusive", None, "SP301", "app=web")
def only_the_clients_own_pod_was_read_and_it_shares_a_label() -> Cluster:
    return _strangers({"app": "client", "env": "prod"}, {"app": "web", "env": "prod"})


# --- whose sockets a list shows -------------------------------------------------------------------------------------


def _on_the_host(*open_: int) -> Cluster:
    made = cluster(0, ports=[port(80, "http", "http")])
    for number, each in enumerate((9001, 9002), start=1):
        made.add(pod(f"web-{number}", ("10.0.0.11",), ports=(("http", each, "TCP"),), hostNetwork=True))
    made.files["w1/ss-lntup.txt"] = (
        "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        + "".join(f"tcp   LISTEN 0      128    10.0.0.11:{each} 0.0.0.0:*\n" for each in (22, *open_))
    )
    return made.settle()


@broken("fault", "ports", "SP403", "9002", "1 of 2 Pods")
def the_nodes_sockets_lack_the_port_of_one_host_network_pod() -> Cluster:
    return _on_the_host(9001)


@sound()
def the_nodes_sockets_hold_the_ports_of_its_host_network_pods() -> Cluster:
    return _on_the_host(9001, 9002)


def _unnamed_tables(*sockets: tuple[str, str, int]) -> Cluster:
    """Dual stack, slices alone, and two socket tables of which one shows the Pod's address and the other nothing."""
    made = cluster(1, dual=True, sockets=False, ports=[port(80, 8080)]).settle()
    made.drop("Pod")
    made.drop("Node")
    for table in ("tcp", "tcp6"):
        made.files[f"{table}.txt"] = proc_net(table, list(sockets))
    return made


@broken("fault", "ports", "SP405", "IPv6", "fd00:244:1::b")
def sockets_told_by_the_slices_address_are_of_one_family() -> Cluster:
    return _unnamed_tables(("tcp", "10.244.1.11", 8080))


@sound()
def sockets_told_by_the_slices_address_are_of_both_families() -> Cluster:
    return _unnamed_tables(("tcp", "10.244.1.11", 8080), ("tcp", "fd00:244:1::b", 8080))


# --- the Service itself is not in the evidence ------------------------------------------------------------------------


def _without_service(made: Cluster) -> Cluster:
    made.settle()
    made.drop("Service")
    return made


@broken("fault", "ports", "SP403", "18080")
def slices_without_their_service_whose_port_nobody_opens() -> Cluster:
    return _without_service(cluster(ports=[port(80, 18080)]))


@broken("inconclusive", None, "")
def slices_without_their_service_that_answer() -> Cluster:
    return _without_service(cluster())


# --- slices and Endpoints -------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP317", "db.example.com", "FQDN")
def a_cluster_ip_over_slices_of_host_names() -> Cluster:
    made = cluster(0, selector=None)
    made.add(endpoint_slice("web-ext", "web", [endpoint("db.example.com")], [{"port": 8080}], managed_by="staff"))
    made.get("EndpointSlice")["addressType"] = "FQDN"
    return made


@broken("fault", "endpoints", "SP302", "192.0.2.7", "notReadyAddresses")
def endpoints_made_by_hand_with_nothing_ready() -> Cluster:
    made = cluster(0, selector=None)
    subset = {"notReadyAddresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 8080}]}
    meta = {"name": "web", "namespace": NAMESPACE}
    made.add({"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": [subset]})
    return made


@broken("warning", "endpoints", "SP309", "web-1", "web-9", "both ready")
def two_ready_pods_claim_one_address() -> Cluster:
    made = cluster(1).settle()
    made.add(pod("web-9", ("10.244.1.11",)))
    made.sockets["web-9"] = made.sockets["web-1"]
    slice_ = made.get("EndpointSlice")
    slice_["endpoints"] = [*slice_["endpoints"], endpoint("10.244.1.11", "web-9")]
    return made


# --- files that are no evidence ---------------------------------------------------------------------------------------


@sound()
def a_charts_template_beside_the_objects() -> Cluster:
    made = cluster().settle()
    made.files["templates/service.yaml"] = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n"
    return made


_SEARCH = "search shop.svc.cluster.local svc.cluster.local cluster.local\n"


def client_of(conf: str, names: str = "") -> Cluster:
    """A client with its resolv.conf, what two runtimes made of the name, and the cluster DNS with its Corefile."""
    made = cluster().settle()
    made.add(pod("client", ("10.244.1.50",), labels={"app": "client"}, dnsPolicy="ClusterFirst"))
    dns = service("kube-dns", clusterIP="10.96.0.10", selector={"k8s-app": "kube-dns"})
    dns["metadata"]["namespace"] = "kube-system"
    made.add(dns)
    corefile = ".:53 {\n    kubernetes cluster.local in-addr.arpa ip6.arpa\n    forward . 192.0.2.53\n}\n"
    meta = {"name": "coredns", "namespace": "kube-system"}
    made.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"Corefile": corefile}})
    made.files["client.resolv.conf"] = conf
    if names:
        made.files["client.names.txt"] = names
    return made


_CONF = f"{_SEARCH}nameserver 10.96.0.10\noptions ndots:5\n"
_NAMES = "musl-1.2.5 web -> 10.96.10.1\nglibc-2.36 web -> 10.96.10.1\n"


@broken("warning", "resolution", "SP122", "web.shop.svc.cluster.local", "musl", client="pod/client")
def ndots_0_and_a_short_name() -> Cluster:
    return client_of(_CONF.replace("ndots:5", "ndots:0"))


@broken("warning", "resolution", "SP122", "web.shop.svc.cluster.local", "web.lan", client="pod/client")
def a_search_list_without_the_clusters_zone() -> Cluster:
    return client_of(_CONF.replace(_SEARCH, "search lan\n"))


_OPEN = ".:53 {\n    errors\n    kubernetes cluster.local in-addr.arpa ip6.arpa\n    forward . 192.0.2.53\n"


@broken("fault", "resolution", "SP001", "closing brace")
def a_corefile_without_its_last_brace() -> Cluster:
    made = cluster().settle()
    made.files["Corefile"] = _OPEN
    return made


@broken("inconclusive", None, "SP001", "may be cut")
def a_corefile_that_ends_within_a_line() -> Cluster:
    made = cluster().settle()
    made.files["Corefile"] = _OPEN[:-4]
    return made


@sound(client="pod/client")
def a_client_whose_files_are_whole() -> Cluster:
    return client_of(_CONF, _NAMES)


@sound("SP001", client="pod/client")
def a_resolv_conf_that_ends_before_its_nameserver() -> Cluster:
    return client_of(_SEARCH[:-7], _NAMES)


@sound(client="pod/client")
def a_resolv_conf_that_ends_within_its_nameserver() -> Cluster:
    return client_of(f"{_SEARCH}nameserver 10.96.0.1", _NAMES)


@sound(client="pod/client")
def recorded_names_that_end_within_an_address() -> Cluster:
    return client_of(_CONF, _NAMES[:-2])


@sound("SP001", client="pod/client")
def recorded_names_that_end_within_the_second_part_of_an_address() -> Cluster:
    return client_of(_CONF, _NAMES[:-6])


@broken("fault", "resolution", "SP121", "10.96.10.2", "10.96.10.1", client="pod/client")
def recorded_names_with_another_address() -> Cluster:
    return client_of(_CONF, _NAMES.replace("10.96.10.1\n", "10.96.10.2\n"))


@sound("SP001")
def a_headless_service_beside_a_damaged_dump() -> Cluster:
    made = cluster(clusterIP="None").settle()
    made.files["w1.iptables-save.txt"] = "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -m comment --comm"
    return made


@sound()
def files_whose_lines_end_as_a_terminal_ends_them() -> Cluster:
    made = cluster().settle()
    made.dumps = True
    files = made.evidence()
    made.sockets.clear()
    made.dumps = False
    made.files = {path: raw.decode().replace("\n", "\r\n") for path, raw in files.items() if path != "objects.json"}
    return made
