"""Sockets of Pods in their node's network, and of Pods that no file names."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod, port
from tests.fixtures.proc_net import proc_net
from tests.walk.layers.inputs import broken, sound

# --- policies, nodes, rollouts -----------------------------------------------------------------------------------------


@broken("fault", "ports", "SP403", "9999", "8080")
def host_network_pods_where_nothing_listens() -> Cluster:
    return _host_network(9999)


@sound()
def host_network_pods_that_listen() -> Cluster:
    return _host_network(8080)


def _host_network(target: int) -> Cluster:
    made = cluster(0, ports=[port(80, target)])
    for number, (name, address) in enumerate((("w1", "10.0.0.11"), ("w2", "10.0.0.12")), 1):
        made.add(pod(f"web-{number}", (address,), node=name, hostNetwork=True))
        made.sockets[f"web-{number}"] = [("tcp", "0.0.0.0", 8080), ("tcp", "0.0.0.0", 10250)]
    return made.settle()


# --- whose sockets a list shows ----------------------------------------------------------------------------------------


def _on_the_host(*open_: int) -> Cluster:
    made = cluster(0, ports=[port(80, "http", "http")])
    for number, listening in enumerate((9001, 9002), start=1):
        made.add(pod(f"web-{number}", ("10.0.0.11",), ports=(("http", listening, "TCP"),), hostNetwork=True))
    made.files["w1/ss-lntup.txt"] = (
        "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        + "".join(f"tcp   LISTEN 0      128    10.0.0.11:{number} 0.0.0.0:*\n" for number in (22, *open_))
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
