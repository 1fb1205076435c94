"""What listens in the Pods: the wrong port, protocol, address or family."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import port
from tests.walk.layers.inputs import broken, sound
from tests.walk.layers.pod.connections import tried_over_both_families

# --- ports -------------------------------------------------------------------------------------------------------------


@broken("fault", "ports", "SP408", "8080/TCP", "8080/UDP")
def application_listens_on_udp_only() -> Cluster:
    made = cluster()
    for name in made.sockets:
        made.sockets[name] = [("udp", "0.0.0.0", 8080)]
    return made.settle()


@broken("fault", "ports", "SP408", "53", "UDP")
def udp_service_over_a_tcp_listener() -> Cluster:
    made = cluster(ports=[port(53, 5353, protocol="UDP")])
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 5353)]
        made.files[f"{name}.proc-net-udp.txt"] = _empty("udp")
        made.files[f"{name}.proc-net-udp6.txt"] = _empty("udp6")
    return made.settle()


def _empty(table: str) -> str:
    from tests.fixtures.proc_net import proc_net

    return proc_net(table, [])


@sound()
def one_number_in_both_protocols() -> Cluster:
    made = cluster(ports=[port(53, 5353, "tcp"), port(53, 5353, "udp", "UDP")])
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 5353), ("udp", "0.0.0.0", 5353)]
        made.files[f"{name}.proc-net-udp6.txt"] = _empty("udp6")
    return made.settle()


@broken("fault", "ports", "SP404", "[::1]:8080")
def ipv6_loopback_bind() -> Cluster:
    made = cluster()
    for name in made.sockets:
        made.sockets[name] = [("tcp", "::1", 8080)]
    return made.settle()


@broken("fault", "ports", "SP404", "127.0.0.1:8080", "1 of 2 Pods")
def one_pod_of_two_binds_loopback() -> Cluster:
    made = cluster()
    made.sockets["web-1"] = [("tcp", "127.0.0.1", 8080)]
    return made.settle()


@broken("fault", "ports", "SP405", "IPv6")
def dual_stack_service_over_an_ipv4_listener() -> Cluster:
    made = cluster(dual=True)
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 8080)]
    return made.settle()


@broken("fault", "ports", "SP405", "IPv4")
def v6_only_bind_on_dual_stack() -> Cluster:
    made = cluster(dual=True, sockets=False)
    for pod in made.of("Pod"):
        name = pod["metadata"]["name"]
        made.files[f"{name}.ss.txt"] = (
            "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
            "tcp   LISTEN 0      511             [::]:8080         [::]:*    ino:4711 sk:1 v6only:1 <->\n"
        )
    return made.settle()


@sound()
def wildcard_of_both_families_on_dual_stack() -> Cluster:
    return cluster(dual=True).settle()


@sound()
def loopback_beside_the_real_listener() -> Cluster:
    made = cluster()
    for name in made.sockets:
        made.sockets[name] = [("tcp", "127.0.0.1", 9901), ("tcp", "0.0.0.0", 8080)]
    return made.settle()


@sound()
def listener_bound_to_the_pods_own_address() -> Cluster:
    made = cluster()
    for pod in made.of("Pod"):
        made.sockets[pod["metadata"]["name"]] = [("tcp", pod["status"]["podIP"], 8080)]
    return made.settle()


@broken("fault", "ports", "SP403", "18080", "1 of 12 Pods")
def one_bad_pod_of_twelve() -> Cluster:
    made = cluster(12, ports=[port(80, 18080)])
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 18080)]
    made.sockets["web-7"] = [("tcp", "0.0.0.0", 8080)]
    return made.settle()


@sound()
def twelve_good_pods() -> Cluster:
    made = cluster(12)
    made.dumps = True
    return made.settle()


# --- lists, names and publishing ---------------------------------------------------------------------------------------


@broken("fault", "ports", "SP404", "172.20.0.5:8080", "10.244.1.11")
def listener_bound_to_another_interface() -> Cluster:
    made = cluster()
    for name in made.sockets:
        made.sockets[name] = [("tcp", "172.20.0.5", 8080)]
    return made.settle()


# --- ports -------------------------------------------------------------------------------------------------------------


def _dns_server(*protocols: str) -> Cluster:
    made = cluster(ports=[port(53, 5353, "dns", "UDP"), port(53, 5353, "dns-tcp", "TCP")])
    for name in made.sockets:
        made.sockets[name] = [(protocol, "0.0.0.0", 5353) for protocol in protocols]
    return made.settle()


@broken("fault", "ports", "SP408", "5353/TCP", "5353/UDP")
def one_of_two_protocols_of_one_number_is_not_served() -> Cluster:
    return _dns_server("udp")


@sound()
def both_protocols_of_one_number_are_served() -> Cluster:
    return _dns_server("udp", "tcp")


# --- a mesh's proxy in the Pod -----------------------------------------------------------------------------------------


def _meshed(*sockets: tuple[str, str, int]) -> Cluster:
    made = cluster()
    for pod in made.of("Pod"):
        pod["spec"]["initContainers"] = [{"name": "istio-proxy", "restartPolicy": "Always", "image": "example/proxy:1"}]
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 15006), ("tcp", "0.0.0.0", 15021), *sockets]
    return made.settle()


@broken("fault", "ports", "SP403", "8080", "istio-proxy")
def nothing_listens_behind_a_meshs_proxy() -> Cluster:
    return _meshed()


@sound()
def an_application_that_listens_behind_a_meshs_proxy() -> Cluster:
    return _meshed(("tcp", "0.0.0.0", 8080))


# --- one family of two -------------------------------------------------------------------------------------------------


@broken("fault", "ports", "SP405", "IPv6 alone", "10.244.1.11:8080", client="pod/client")
def a_wildcard_socket_of_ipv6_alone() -> Cluster:
    return tried_over_both_families("refused", "ok", ("tcp", "::", 8080))
