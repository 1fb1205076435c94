"""NetworkPolicies between client and Pod."""

from __future__ import annotations

from tests.fixtures.clients import CLIENT, policy_for, with_client
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import NAMESPACE, Obj, pod, port
from tests.walk.layers.inputs import broken, sound
from tests.walk.layers.pod.connections import FIRST_ANSWERS, two_ports

# --- policies, nodes, rollouts -----------------------------------------------------------------------------------------


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


# --- what policies let out ---------------------------------------------------------------------------------------------


@broken("warning", "pod", "SP503", "80", "8080", "Service's port", client=CLIENT)
def an_ingress_policy_for_the_services_port() -> Cluster:
    made = cluster()
    made.add(policy_for({"app": "web"}, ingress=[{"ports": [{"port": 80}]}]))
    return with_client(made)


@sound(client=CLIENT)
def an_ingress_policy_for_a_sidecars_named_port() -> Cluster:
    made = cluster(ports=[port(80, "proxy")])
    for item in made.of("Pod"):
        sidecar = {"name": "proxy", "restartPolicy": "Always", "ports": [{"containerPort": 15006, "name": "proxy"}]}
        item["spec"]["initContainers"] = [sidecar]
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 15006)]
    made.add(policy_for({"app": "web"}, ingress=[{"ports": [{"port": "proxy"}]}]))
    with_client(made)
    for slice_ in made.of("EndpointSlice"):
        slice_["ports"] = [{"name": "", "port": 15006, "protocol": "TCP"}]
    return made


@sound(client="pod/web-1")
def a_policy_that_closes_a_pod_to_all_but_itself() -> Cluster:
    made = cluster(1)
    made.add(policy_for({"app": "web"}, policyTypes=["Ingress"]))
    return made.settle()


@sound(client=CLIENT)
def a_policy_and_a_client_in_the_network_of_the_backends_node() -> Cluster:
    made = cluster(1)
    made.add(policy_for({"app": "web"}, policyTypes=["Ingress"]))
    return with_client(made, "10.0.0.11", hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")


# --- the port that was asked for ---------------------------------------------------------------------------------------


def _with_policy(*numbers: int) -> Cluster:
    """A policy that lets the client in on these ports of the two alone; no connection was tried."""
    made = two_ports(FIRST_ANSWERS)
    made.files.clear()
    rule = {"ports": [{"port": number, "protocol": "TCP"} for number in numbers]}
    spec = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [rule]}
    meta = {"name": "some", "namespace": "shop"}
    made.add({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta, "spec": spec})
    return made


@sound(client="pod/client", port="http")
def a_policy_against_the_other_port() -> Cluster:
    return _with_policy(8080)


@sound("SP503", client="pod/client", port="http")
def a_policy_against_the_port_that_was_asked_for() -> Cluster:
    return _with_policy(8081)
