"""Kinds of Services, policies, nodes, rollouts and mirrored slices."""

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.controllers import iptables
from tests.fixtures.objects import NAMESPACE, Obj, endpoint, endpoint_slice, node, pod, port, service, workload
from tests.walk.kinds import broken, sound
from tests.walk.kinds_endpoints import not_ready_pods_that_are_published_and_listen
from tests.walk.kinds_ports import named, no_pod_at_all

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


def _policy(name: str = "guard", /, **spec: object) -> Obj:
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


# --- lists, names and publishing -------------------------------------------------------------------------


@broken("fault", "ports", "SP411", "web-2", "80/TCP")
def the_only_pod_with_the_named_port_is_not_ready() -> Cluster:
    made = named()
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
