"""Kinds of clients: their addresses, their dnsPolicy, what their NetworkPolicies let out, and Pods that have ended."""

from __future__ import annotations

from typing import Any

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import NAMESPACE, Obj, endpoint, endpoint_slice, pod, port, service
from tests.walk.kinds import broken, sound

CLIENT = "pod/client"
APP = {"podSelector": {"matchLabels": {"app": "web"}}}
UDP_53: Obj = {"port": 53, "protocol": "UDP"}
TCP_53: Obj = {"port": 53, "protocol": "TCP"}


def _client(made: Cluster, *ips: str, **spec: Any) -> Cluster:
    made.add(pod("client", ips or ("10.244.1.99",), labels={"role": "client"}, ports=(), **spec))
    return made.settle()


# --- addresses --------------------------------------------------------------------------------------------------------


def _over_ipv6(*client: str, **spec: Any) -> Cluster:
    made = cluster(0, clusterIP="fd00:96::10", clusterIPs=["fd00:96::10"])
    made.add(pod("web-1", ("fd00:244:1::b",)))
    made.sockets["web-1"] = [("tcp", "::", 8080)]
    return _client(made, *client, **spec)


@broken("fault", "service", "SP211", "10.244.1.99", "fd00:96::10", "IPv6", client=CLIENT)
def an_ipv4_client_of_an_ipv6_service() -> Cluster:
    return _over_ipv6("10.244.1.99")


@sound(client=CLIENT)
def a_dual_stack_client_of_an_ipv6_service() -> Cluster:
    return _over_ipv6("10.244.1.99", "fd00:244:1::99")


@broken("fault", "service", "SP211", "fd00:244:1::99", "10.96.10.1", client=CLIENT)
def an_ipv6_client_of_an_ipv4_service() -> Cluster:
    return _client(cluster(), "fd00:244:1::99")


@sound(client=CLIENT)
def a_client_in_its_nodes_network_whose_other_addresses_are_not_listed() -> Cluster:
    return _over_ipv6("10.0.0.11", hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")


# --- dnsPolicy --------------------------------------------------------------------------------------------------------


@broken("warning", "resolution", "SP109", "dnsPolicy Default", client=CLIENT)
def a_client_with_its_nodes_resolv_conf() -> Cluster:
    return _client(cluster(), dnsPolicy="Default")


@broken("warning", "resolution", "SP109", "hostNetwork", client=CLIENT)
def a_client_in_its_nodes_network_with_cluster_first() -> Cluster:
    return _client(cluster(), "10.0.0.11", dnsPolicy="ClusterFirst", hostNetwork=True)


@sound(client=CLIENT)
def a_client_in_its_nodes_network_with_the_policy_for_it() -> Cluster:
    return _client(cluster(), "10.0.0.11", dnsPolicy="ClusterFirstWithHostNet", hostNetwork=True)


@sound(client=CLIENT)
def a_client_with_its_nodes_resolv_conf_and_the_name_in_its_host_aliases() -> Cluster:
    return _client(cluster(), dnsPolicy="Default", hostAliases=[{"ip": "10.96.10.1", "hostnames": ["web"]}])


@broken("warning", "resolution", "SP122", "web", client=CLIENT, as_name="web")
def a_short_name_and_a_dns_config_without_a_search_list() -> Cluster:
    return _client(cluster(), dnsPolicy="None", dnsConfig={"nameservers": ["10.96.0.10"]})


@sound(client=CLIENT, as_name="web")
def a_short_name_and_a_dns_config_with_the_search_list() -> Cluster:
    config = {"nameservers": ["10.96.0.10"], "searches": ["shop.svc.cluster.local", "svc.cluster.local"]}
    return _client(cluster(), dnsPolicy="None", dnsConfig=config)


# --- what policies let out --------------------------------------------------------------------------------------------


def _policy(selects: Obj, **spec: Any) -> Obj:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "guard", "namespace": NAMESPACE},
        "spec": {"podSelector": {"matchLabels": selects}, **spec},
    }


def let_out(*rules: Obj, made: Cluster | None = None) -> Cluster:
    made = made or cluster()
    made.add(_policy({"role": "client"}, policyTypes=["Egress"], egress=list(rules)))
    return _client(made)


def _with_dns(made: Cluster, **spec: Any) -> Cluster:
    """The cluster DNS beside it: one Pod that listens on 5353 behind port 53, as OpenShift's does."""
    dns = service("kube-dns", clusterIP="10.96.0.10", selector=None, ports=[port(53, 5353, "dns", "UDP")])
    server = pod("dns-1", ("10.244.2.53",), node="w2", labels={"k8s-app": "kube-dns"}, ports=(), **spec)
    held = endpoint_slice(
        "kube-dns-1",
        "kube-dns",
        [endpoint("10.244.2.53", node="w2")],
        [{"name": "dns", "port": 5353, "protocol": "UDP"}],
        managed_by="dns-operator",
    )
    for one in (dns, server, held):
        one["metadata"]["namespace"] = "kube-system"
        made.add(one)
    return made


@broken("warning", "resolution", "SP125", "guard", "53/UDP", client=CLIENT)
def an_egress_policy_that_forgets_the_dns() -> Cluster:
    return let_out({"to": [APP]})


@broken("warning", "resolution", "SP125", "guard", client=CLIENT)
def an_egress_policy_that_allows_the_services_port_alone() -> Cluster:
    return let_out({"ports": [{"port": 8080}]})


@broken("fault", "resolution", "SP125", "guard", "unanswered", client=CLIENT)
def an_egress_policy_that_forgets_the_dns_and_a_lookup_that_timeslet_out() -> Cluster:
    made = let_out({"to": [APP]})
    made.files["client.names.txt"] = "glibc-2.36 web -> -3 Temporary failure in name resolution\n"
    return made


@broken("warning", "resolution", "SP125", "guard", client=CLIENT)
def an_egress_policy_for_port_53_of_a_dns_that_listens_on_5353() -> Cluster:
    return let_out({"to": [APP]}, {"ports": [UDP_53, TCP_53]}, made=_with_dns(cluster()))


@sound(client=CLIENT)
def an_egress_policy_for_the_port_on_which_the_dns_listens() -> Cluster:
    return let_out({"to": [APP]}, {"ports": [{"port": 5353, "protocol": "UDP"}]}, made=_with_dns(cluster()))


@sound(client=CLIENT)
def an_egress_policy_beside_a_dns_in_its_nodes_network() -> Cluster:
    return let_out({"to": [APP]}, made=_with_dns(cluster(), hostNetwork=True))


@sound(client=CLIENT)
def an_egress_policy_that_allows_the_dns() -> Cluster:
    return let_out({"to": [APP]}, {"ports": [UDP_53, TCP_53]})


@sound(client=CLIENT)
def an_egress_policy_that_allows_another_namespace_whose_labels_are_not_known() -> Cluster:
    return let_out({"to": [APP]}, {"to": [{"namespaceSelector": {"matchLabels": {"purpose": "platform"}}}]})


@sound(client=CLIENT)
def an_egress_policy_that_allows_udp_for_a_small_answer() -> Cluster:
    return let_out({"to": [APP]}, {"ports": [UDP_53]})


@broken("warning", "resolution", "SP125", "53/TCP", "512", client=CLIENT)
def an_egress_policy_that_allows_udp_for_an_answer_that_is_truncated() -> Cluster:
    made = cluster(40, clusterIP="None", clusterIPs=["None"], ports=[port(8080, 8080)])
    return let_out({"to": [APP]}, {"ports": [UDP_53]}, made=made)


@broken("warning", "pod", "SP503", "80", "8080", "Service's port", client=CLIENT)
def an_ingress_policy_for_the_services_port() -> Cluster:
    made = cluster()
    made.add(_policy({"app": "web"}, ingress=[{"ports": [{"port": 80}]}]))
    return _client(made)


@sound(client=CLIENT)
def an_ingress_policy_for_a_sidecars_named_port() -> Cluster:
    made = cluster(ports=[port(80, "proxy")])
    for one in made.of("Pod"):
        sidecar = {"name": "proxy", "restartPolicy": "Always", "ports": [{"containerPort": 15006, "name": "proxy"}]}
        one["spec"]["initContainers"] = [sidecar]
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 15006)]
    made.add(_policy({"app": "web"}, ingress=[{"ports": [{"port": "proxy"}]}]))
    _client(made)
    for one in made.of("EndpointSlice"):
        one["ports"] = [{"name": "", "port": 15006, "protocol": "TCP"}]
    return made


@sound(client="pod/web-1")
def a_policy_that_closes_a_pod_to_all_but_itself() -> Cluster:
    made = cluster(1)
    made.add(_policy({"app": "web"}, policyTypes=["Ingress"]))
    return made.settle()


@sound(client=CLIENT)
def a_policy_and_a_client_in_the_network_of_the_backends_node() -> Cluster:
    made = cluster(1)
    made.add(_policy({"app": "web"}, policyTypes=["Ingress"]))
    return _client(made, "10.0.0.11", hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")


# --- internalTrafficPolicy Local --------------------------------------------------------------------------------------


def _local(node: str) -> Cluster:
    return _client(cluster(1, internalTrafficPolicy="Local"), node=node)


@broken("fault", "dataplane", "SP622", "w2", "10.96.10.1", "w1", client=CLIENT)
def a_client_on_a_node_without_an_endpoint_of_its_own_and_no_table() -> Cluster:
    return _local("w2")


@sound(client=CLIENT)
def a_client_on_the_node_of_the_only_endpoint() -> Cluster:
    return _local("w1")


# --- Pods that have ended ---------------------------------------------------------------------------------------------


def _ended(phase: str, **more: Obj) -> Cluster:
    made = cluster(0)
    for number in (1, 2):
        one = made.add(pod(f"web-job-{number}", (f"10.244.1.{40 + number}",), phase=phase, ready=False))
        one["status"]["containerStatuses"][0]["state"] = {"terminated": {"exitCode": 0, "reason": "Completed"}}
        one["status"] |= more
    return made.settle()


@broken("fault", "endpoints", "SP301", "finished", "web-job-1", "Succeeded")
def a_jobs_pods_that_have_completed_behind_a_service() -> Cluster:
    return _ended("Succeeded")


@broken("fault", "endpoints", "SP301", "finished", "Evicted")
def pods_that_were_evicted_and_not_replaced() -> Cluster:
    made = _ended("Failed")
    for one in made.of("Pod"):
        one["status"]["reason"] = "Evicted"
    return made


@sound()
def evicted_pods_beside_those_that_replaced_them() -> Cluster:
    made = cluster()
    made.objects.extend(one for one in _ended("Failed").of("Pod"))
    return made.settle()
