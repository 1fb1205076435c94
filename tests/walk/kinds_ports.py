"""Kinds of selectors and ports: what the Service picks, and on which port the Pods listen."""

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod, port
from tests.walk.kinds import broken, sound


def _selected(labels: dict[str, str], selector: dict[str, str]) -> Cluster:
    made = cluster(selector=selector)
    for one in made.of("Pod"):
        one["metadata"]["labels"] = dict(labels)
    return made.settle()


# --- selector -----------------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP301", "app=web", "app=wbe")
def selector_value_with_swapped_letters() -> Cluster:
    return _selected({"app": "web", "tier": "front"}, {"app": "wbe"})


@broken("fault", "endpoints", "SP301", "app=Web", "app=web")
def selector_value_in_another_case() -> Cluster:
    return _selected({"app": "web"}, {"app": "Web"})


@broken("fault", "endpoints", "SP301", "App=web", "app=web")
def selector_key_in_another_case() -> Cluster:
    return _selected({"app": "web"}, {"App": "web"})


@broken("fault", "endpoints", "SP301", "app.kubernetes.io/name=web")
def selector_key_without_its_prefix() -> Cluster:
    return _selected({"app.kubernetes.io/name": "web"}, {"name": "web"})


@broken("fault", "endpoints", "SP301", "version=v3", "version=v2")
def selector_with_one_label_too_many() -> Cluster:
    return _selected({"app": "web", "version": "v2"}, {"app": "web", "version": "v3"})


@broken("fault", "endpoints", "SP304", "app=web")
def no_pod_at_all() -> Cluster:
    made = cluster()
    made.drop("Pod")
    made.sockets.clear()
    return made.settle()


@sound()
def selector_that_matches_among_strangers() -> Cluster:
    made = cluster()
    made.add(pod("webb-1", ("10.244.1.50",), labels={"app": "webb"}, ready=False))
    return made.settle()


@sound()
def finished_pods_of_a_job_with_the_same_labels() -> Cluster:
    made = cluster()
    made.add(pod("web-old", ("10.244.1.50",), phase="Succeeded", ready=False))
    return made.settle()


# --- ports --------------------------------------------------------------------------------------------------------


def named() -> Cluster:
    return cluster(ports=[port(80, "http", "http")])


@broken("warning", "ports", "SP402", "2 of 4 Pods", '"http"')
def half_the_pods_lack_the_named_port() -> Cluster:
    made = cluster(4, ports=[port(80, "http", "http")])
    for one in made.of("Pod")[:2]:
        one["spec"]["containers"][0]["ports"][0]["name"] = "web"
    return made.settle()


@broken("fault", "ports", "SP401", '"http"', "UDP")
def named_port_has_the_other_protocol() -> Cluster:
    made = named()
    for one in made.of("Pod"):
        one["spec"]["containers"][0]["ports"][0]["protocol"] = "UDP"
    return made.settle()


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
    for one in made.of("Pod"):
        name = one["metadata"]["name"]
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
    for one in made.of("Pod"):
        made.sockets[one["metadata"]["name"]] = [("tcp", one["status"]["podIP"], 8080)]
    return made.settle()


def _three_ports() -> Cluster:
    made = cluster(ports=[port(80, "http", "http"), port(443, 8443, "https"), port(9090, "metrics", "metrics")])
    for one in made.of("Pod"):
        one["spec"]["containers"][0]["ports"] = [
            {"name": "http", "containerPort": 8080},
            {"containerPort": 8443},
            {"name": "metrics", "containerPort": 9100},
        ]
        made.sockets[one["metadata"]["name"]] = [("tcp", "0.0.0.0", number) for number in (8080, 8443, 9100)]
    return made


@broken("fault", "ports", "SP403", "9100", "1 of 2 Pods")
def one_port_of_three_closed_in_one_pod() -> Cluster:
    made = _three_ports()
    made.sockets["web-2"] = [("tcp", "0.0.0.0", 8080), ("tcp", "0.0.0.0", 8443)]
    return made.settle()


@sound(port="https")
def another_port_of_three_asked_by_name() -> Cluster:
    return one_port_of_three_closed_in_one_pod()


@broken("fault", "ports", "SP403", "9100", port="metrics")
def the_closed_port_of_three_asked_by_name() -> Cluster:
    return one_port_of_three_closed_in_one_pod()


@broken("fault", "service", "SP206", "8443", port="8443")
def the_target_port_is_asked_for_in_place_of_the_service_port() -> Cluster:
    return _three_ports().settle()


@sound()
def three_ports_of_which_two_arenamed() -> Cluster:
    return _three_ports().settle()


@broken("warning", "ports", "SP409", "8080", "9999")
def slice_carries_another_number_and_both_answer() -> Cluster:
    made = cluster().settle()
    made.get("EndpointSlice")["ports"][0]["port"] = 9999
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 8080), ("tcp", "0.0.0.0", 9999)]
    return made


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


@broken("inconclusive", None, "SP410", "18080", "8080")
def undeclared_target_port_without_socket_lists() -> Cluster:
    return cluster(sockets=False, ports=[port(80, 18080)]).settle()


@sound()
def undeclared_target_port_that_the_readiness_probe_uses() -> Cluster:
    made = cluster(sockets=False, ports=[port(80, 18080)])
    for one in made.of("Pod"):
        one["spec"]["containers"][0]["readinessProbe"] = {"httpGet": {"path": "/", "port": 18080}}
    return made.settle()


@sound()
def pods_that_declare_no_port_at_all() -> Cluster:
    made = cluster()
    for one in made.of("Pod"):
        del one["spec"]["containers"][0]["ports"]
    return made.settle()


@sound()
def target_port_left_out_is_the_service_port() -> Cluster:
    made = cluster(ports=[{"port": 8080, "protocol": "TCP"}])
    return made.settle()
