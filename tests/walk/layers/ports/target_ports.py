"""Target ports: named, numbered, asked for, and what a slice makes of them."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import Obj, port
from tests.walk.layers.endpoints.slices import slice_made_by_hand
from tests.walk.layers.inputs import broken, sound

# --- ports -------------------------------------------------------------------------------------------------------------


def named() -> Cluster:
    return cluster(ports=[port(80, "http", "http")])


@broken("warning", "ports", "SP402", "2 of 4 Pods", '"http"')
def half_the_pods_lack_the_named_port() -> Cluster:
    made = cluster(4, ports=[port(80, "http", "http")])
    for pod in made.of("Pod")[:2]:
        pod["spec"]["containers"][0]["ports"][0]["name"] = "web"
    return made.settle()


@broken("fault", "ports", "SP401", '"http"', "UDP")
def named_port_has_the_other_protocol() -> Cluster:
    made = named()
    for pod in made.of("Pod"):
        pod["spec"]["containers"][0]["ports"][0]["protocol"] = "UDP"
    return made.settle()


def three_ports() -> Cluster:
    made = cluster(ports=[port(80, "http", "http"), port(443, 8443, "https"), port(9090, "metrics", "metrics")])
    for pod in made.of("Pod"):
        pod["spec"]["containers"][0]["ports"] = [
            {"name": "http", "containerPort": 8080},
            {"containerPort": 8443},
            {"name": "metrics", "containerPort": 9100},
        ]
        made.sockets[pod["metadata"]["name"]] = [("tcp", "0.0.0.0", number) for number in (8080, 8443, 9100)]
    return made


@broken("fault", "ports", "SP403", "9100", "1 of 2 Pods")
def one_port_of_three_closed_in_one_pod() -> Cluster:
    made = three_ports()
    made.sockets["web-2"] = [("tcp", "0.0.0.0", 8080), ("tcp", "0.0.0.0", 8443)]
    return made.settle()


@sound(port="https")
def another_port_of_three_asked_by_name() -> Cluster:
    return one_port_of_three_closed_in_one_pod()


@broken("fault", "ports", "SP403", "9100", port="metrics")
def the_closed_port_of_three_asked_by_name() -> Cluster:
    return one_port_of_three_closed_in_one_pod()


@sound()
def three_ports_of_which_two_arenamed() -> Cluster:
    return three_ports().settle()


@broken("warning", "ports", "SP409", "8080", "9999")
def slice_carries_another_number_and_both_answer() -> Cluster:
    made = cluster().settle()
    made.get("EndpointSlice")["ports"][0]["port"] = 9999
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 8080), ("tcp", "0.0.0.0", 9999)]
    return made


@broken("inconclusive", None, "SP410", "18080", "8080")
def undeclared_target_port_without_socket_lists() -> Cluster:
    return cluster(sockets=False, ports=[port(80, 18080)]).settle()


@sound()
def undeclared_target_port_that_the_readiness_probe_uses() -> Cluster:
    made = cluster(sockets=False, ports=[port(80, 18080)])
    for pod in made.of("Pod"):
        pod["spec"]["containers"][0]["readinessProbe"] = {"httpGet": {"path": "/", "port": 18080}}
    return made.settle()


@sound()
def pods_that_declare_no_port_at_all() -> Cluster:
    made = cluster()
    for pod in made.of("Pod"):
        del pod["spec"]["containers"][0]["ports"]
    return made.settle()


@sound()
def target_port_left_out_is_the_service_port() -> Cluster:
    made = cluster(ports=[{"port": 8080, "protocol": "TCP"}])
    return made.settle()


# --- slices ------------------------------------------------------------------------------------------------------------


@broken("fault", "ports", "SP407", '"pg"')
def selectorless_service_whose_slice_names_its_port_otherwise() -> Cluster:
    return slice_made_by_hand("pg")


# --- lists, names and publishing ---------------------------------------------------------------------------------------


@broken("fault", "ports", "SP411", "web-2", "80/TCP")
def the_only_pod_with_the_named_port_is_not_ready() -> Cluster:
    made = named()
    made.get("Pod", "web-1")["spec"]["containers"][0]["ports"][0]["name"] = "web"
    sick = made.get("Pod", "web-2")
    sick["status"]["conditions"][0]["status"] = "False"
    sick["status"]["containerStatuses"][0]["ready"] = False
    return made.settle()


# --- ports -------------------------------------------------------------------------------------------------------------


def _proxied(**init: Obj | str) -> Cluster:
    made = cluster(ports=[port(80, "proxy")])
    for pod in made.of("Pod"):
        started = {"name": "proxy", "ports": [{"containerPort": 15006, "name": "proxy", "protocol": "TCP"}], **init}
        pod["spec"]["initContainers"] = [started]
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 15006)]
    made.settle()
    for slice_ in made.of("EndpointSlice"):
        slice_["ports"] = [{"name": "", "port": 15006, "protocol": "TCP"}] if init else None
    return made


@broken("fault", "ports", "SP401", "proxy", "init container")
def a_target_port_name_of_an_init_container_that_ends() -> Cluster:
    return _proxied()


@sound()
def a_target_port_name_of_a_sidecar() -> Cluster:
    return _proxied(restartPolicy="Always")
