"""Broken inputs by kind, each beside the healthy neighbour on which the same rule must stay silent.

Every builder makes a cluster anew. ``Broken`` says what the verdict must be and which words the sentence must hold;
``Sound`` what it may be at most: healthy, or a warning with one of the named codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.walk.clusters import (
    NAMESPACE,
    Cluster,
    Obj,
    cluster,
    endpoint,
    endpoint_slice,
    iptables,
    node,
    pod,
    port,
    service,
    workload,
)

Build = Callable[[], Cluster]


@dataclass(frozen=True)
class Broken:
    name: str
    build: Build
    status: str
    layer: str | None
    code: str
    says: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    target: str = "svc/web"


@dataclass(frozen=True)
class Sound:
    name: str
    build: Build
    warns: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    target: str = "svc/web"


BROKEN: list[Broken] = []
SOUND: list[Sound] = []


def broken(
    status: str,
    layer: str | None,
    code: str,
    *says: str,
    target: str = "svc/web",
    **options: str,
) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        BROKEN.append(Broken(build.__name__.strip("_"), build, status, layer, code, says, options, target))
        return build

    return register


def sound(*warns: str, target: str = "svc/web", **options: str) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        SOUND.append(Sound(build.__name__.strip("_"), build, warns, options, target))
        return build

    return register


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


def _named() -> Cluster:
    return cluster(ports=[port(80, "http", "http")])


@broken("warning", "ports", "SP402", "2 of 4 Pods", '"http"')
def half_the_pods_lack_the_named_port() -> Cluster:
    made = cluster(4, ports=[port(80, "http", "http")])
    for one in made.of("Pod")[:2]:
        one["spec"]["containers"][0]["ports"][0]["name"] = "web"
    return made.settle()


@broken("fault", "ports", "SP401", '"http"', "UDP")
def named_port_has_the_other_protocol() -> Cluster:
    made = _named()
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
    from tests.walk.clusters import proc_net

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
def three_ports_of_which_two_are_named() -> Cluster:
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


# --- Pods and readiness -------------------------------------------------------------------------------------------


def _all_pods(**change: object) -> Cluster:
    made = Cluster()
    for name in ("w1", "w2"):
        made.add(node(name))
    made.add(service())
    for number in (1, 2):
        ips = () if change.get("phase") == "Pending" and not change.get("waiting") else (f"10.244.{number}.9",)
        made.add(pod(f"web-{number}", ips, node=f"w{number}", ready=False, **change))  # type: ignore[arg-type]
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


# --- Service ------------------------------------------------------------------------------------------------------


@broken("fault", "service", "SP204", "192.0.2.7")
def external_name_that_is_an_address() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="192.0.2.7")])


@broken("fault", "service", "SP204", "2001:db8::7")
def external_name_that_is_an_ipv6_address() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="2001:db8::7")])


@broken("warning", "service", "SP204", "selector")
def external_name_with_a_selector() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="db.example.com", selector={"app": "web"})])


@sound()
def external_name_alone() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="db.example.com")])


@broken("fault", "service", "SP201", "wbe", target="svc/wbe")
def service_missing_with_a_near_name() -> Cluster:
    return cluster().settle()


@sound()
def local_internal_traffic_policy_with_a_pod_on_every_node() -> Cluster:
    made = cluster(internalTrafficPolicy="Local")
    return made.settle()


@sound()
def traffic_distribution_prefers_close_endpoints() -> Cluster:
    made = cluster(trafficDistribution="PreferClose").settle()
    for one in made.get("EndpointSlice")["endpoints"]:
        one["hints"] = {"forZones": [{"name": "zone-a"}]}
        one["zone"] = "zone-a"
    return made


@sound()
def dual_stack_that_got_one_family_only() -> Cluster:
    made = cluster(ipFamilyPolicy="PreferDualStack")
    return made.settle()


@broken("fault", "endpoints", "SP310", "IPv6")
def dual_stack_service_over_single_stack_pods() -> Cluster:
    made = cluster(dual=True)
    for one in made.of("Pod"):
        one["status"]["podIPs"] = one["status"]["podIPs"][:1]
    return made.settle()


@sound()
def ipv6_single_stack() -> Cluster:
    made = cluster(0, clusterIP="fd00:96::10", clusterIPs=["fd00:96::10"])
    made.add(pod("web-1", ("fd00:244:1::b",)))
    made.sockets["web-1"] = [("tcp", "::", 8080)]
    made.dumps = True
    return made.settle()


# --- policies, nodes, rollouts ------------------------------------------------------------------------------------


def _policy(name: str = "guard", **spec: object) -> Obj:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"podSelector": {"matchLabels": {"app": "web"}}, **spec},
    }


def _guarded(**spec: object) -> Cluster:
    made = cluster()
    made.add(pod("client", ("10.244.1.99",), labels={"role": "client"}, ports=()))
    made.add(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE, "labels": {"kubernetes.io/metadata.name": NAMESPACE, "team": "shop"}},
        }
    )
    made.add(_policy(**spec))
    return made.settle()


@broken("warning", "pod", "SP503", "guard", "ingress", client="pod/client")
def policy_denies_all_ingress() -> Cluster:
    return _guarded(policyTypes=["Ingress"])


@broken("warning", "pod", "SP503", "guard", "egress", client="pod/client")
def policy_denies_the_clients_egress() -> Cluster:
    return _guarded(podSelector={"matchLabels": {"role": "client"}}, policyTypes=["Egress"], egress=[])


@broken("warning", "pod", "SP503", "guard", client="pod/client")
def policy_names_another_port() -> Cluster:
    return _guarded(ingress=[{"ports": [{"port": "metrics", "protocol": "TCP"}]}])


@broken("warning", "pod", "SP503", "guard", client="pod/client")
def policy_whose_port_range_ends_too_early() -> Cluster:
    return _guarded(ingress=[{"ports": [{"port": 8000, "endPort": 8079, "protocol": "TCP"}]}])


@broken("warning", "pod", "SP503", "guard", client="pod/client")
def policy_whose_ip_block_excepts_the_client() -> Cluster:
    return _guarded(ingress=[{"from": [{"ipBlock": {"cidr": "10.244.0.0/16", "except": ["10.244.1.0/24"]}}]}])


@sound(client="pod/client")
def policy_allows_by_namespace_selector() -> Cluster:
    return _guarded(ingress=[{"from": [{"namespaceSelector": {"matchLabels": {"team": "shop"}}}]}])


@sound(client="pod/client")
def policy_allows_by_named_port() -> Cluster:
    return _guarded(ingress=[{"ports": [{"port": "http", "protocol": "TCP"}]}])


@sound(client="pod/client")
def policy_allows_by_port_range() -> Cluster:
    return _guarded(ingress=[{"ports": [{"port": 8000, "endPort": 8100, "protocol": "TCP"}]}])


@sound(client="pod/client")
def policy_allows_by_ip_block() -> Cluster:
    return _guarded(ingress=[{"from": [{"ipBlock": {"cidr": "10.244.1.0/24"}}]}])


@sound(client="pod/client")
def policy_of_other_pods() -> Cluster:
    return _guarded(podSelector={"matchLabels": {"app": "db"}}, policyTypes=["Ingress"])


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


@broken("warning", "lifecycle", "SP704", "ProgressDeadlineExceeded")
def rollout_that_is_stuck() -> Cluster:
    made = cluster().settle()
    stuck = workload(updatedReplicas=1, replicas=3)
    stuck["spec"]["replicas"] = 2
    stuck["status"]["conditions"] = [
        {
            "type": "Progressing",
            "status": "False",
            "reason": "ProgressDeadlineExceeded",
            "message": 'ReplicaSet "web-5d" has timed out progressing.',
        }
    ]
    made.add(stuck)
    return made


@broken("warning", "lifecycle", "SP702", "generation")
def deployment_whose_status_lags() -> Cluster:
    made = cluster().settle()
    made.add(workload(observedGeneration=0))
    return made


@sound()
def deployment_that_is_complete() -> Cluster:
    made = cluster().settle()
    made.add(workload())
    return made


@sound()
def stateful_set_behind_a_headless_service() -> Cluster:
    made = cluster(clusterIP="None", clusterIPs=["None"], ports=[port(8080, 8080)])
    for one in made.of("Pod"):
        one["spec"]["hostname"], one["spec"]["subdomain"] = one["metadata"]["name"], "web"
    made.add(workload("StatefulSet"))
    return made.settle()


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


# --- what the first round of these missed -------------------------------------------------------------------------


@broken("fault", "ports", "SP411", "web-2", "80/TCP")
def the_only_pod_with_the_named_port_is_not_ready() -> Cluster:
    made = _named()
    made.get("Pod", "web-1")["spec"]["containers"][0]["ports"][0]["name"] = "web"
    sick = made.get("Pod", "web-2")
    sick["status"]["conditions"][0]["status"] = "False"
    sick["status"]["containerStatuses"][0]["ready"] = False
    return made.settle()


@broken("fault", "ports", "SP404", "172.20.0.5:8080", "10.244.1.11")
def listener_bound_to_another_interface() -> Cluster:
    made = cluster()
    for name in made.sockets:
        made.sockets[name] = [("tcp", "172.20.0.5", 8080)]
    return made.settle()


@broken("warning", "pod", "SP504", "w2", "KubeletNotReady")
def node_that_reports_itself_not_ready() -> Cluster:
    made = cluster().settle()
    made.get("Node", "w2")["status"]["conditions"][0].update(status="False", reason="KubeletNotReady")
    return made


@broken("fault", "endpoints", "SP301", "namespace other")
def pods_that_match_in_another_namespace() -> Cluster:
    made = cluster()
    for one in made.of("Pod"):
        one["metadata"]["namespace"] = "other"
    made.add(pod("db-1", ("10.244.1.60",), labels={"app": "db"}))
    made.sockets.clear()
    service_ = made.get("Service")
    made.add(endpoint_slice("web-ipv40", service_["metadata"]["name"], [], None))
    return made


@broken("fault", "endpoints", "SP301", "no Pod in namespace")
def an_empty_list_of_pods() -> Cluster:
    made = no_pod_at_all()
    made.files["pods.json"] = '{"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": []}'
    return made


@sound("SP316")
def published_before_ready_and_running() -> Cluster:
    return not_ready_pods_that_are_published_and_listen()


# --- traffic policies and mirrored slices ---------------------------------------------------------------------------


def _internal_local() -> Cluster:
    """One Pod, on w1, behind a Service that keeps traffic on the node: on w2 kube-proxy drops it."""
    made = cluster(1, internalTrafficPolicy="Local").settle()
    rules = iptables(made, 4)
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


def _mirrored(address: str) -> Cluster:
    made = cluster(0, selector=None)
    made.add(
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": "web", "namespace": NAMESPACE},
            "subsets": [{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 8080}]}],
        }
    )
    manager = "endpointslicemirroring-controller.k8s.io"
    made.add(endpoint_slice("web-m", "web", [endpoint(address)], [{"port": 8080}], managed_by=manager))
    return made


@broken("fault", "endpoints", "SP312", "192.0.2.7", "192.0.2.8")
def mirrored_slice_that_was_not_updated() -> Cluster:
    return _mirrored("192.0.2.8")


@sound()
def mirrored_slice_that_equals_its_endpoints() -> Cluster:
    return _mirrored("192.0.2.7")
