"""NetworkPolicies that let a client ask the DNS, or forget it."""

from __future__ import annotations

from typing import Any

from tests.fixtures.clients import CLIENT, policy_for, with_client
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import Obj, endpoint, endpoint_slice, pod, port, service
from tests.walk.layers.inputs import broken, sound

APP = {"podSelector": {"matchLabels": {"app": "web"}}}


UDP_53: Obj = {"port": 53, "protocol": "UDP"}


TCP_53: Obj = {"port": 53, "protocol": "TCP"}


# --- what policies let out ---------------------------------------------------------------------------------------------


def let_out(*rules: Obj, made: Cluster | None = None) -> Cluster:
    made = made or cluster()
    made.add(policy_for({"role": "client"}, policyTypes=["Egress"], egress=list(rules)))
    return with_client(made)


def _with_dns(made: Cluster, **spec: Any) -> Cluster:
    """The cluster DNS beside it: one Pod that listens on 5353 behind port 53, as OpenShift's does."""
    dns = service("kube-dns", clusterIP="10.96.0.10", selector=None, ports=[port(53, 5353, "dns", "UDP")])
    server = pod("dns-1", ("10.244.2.53",), node="w2", labels={"k8s-app": "kube-dns"}, ports=(), **spec)
    dns_slice = endpoint_slice(
        "kube-dns-1",
        "kube-dns",
        [endpoint("10.244.2.53", node="w2")],
        [{"name": "dns", "port": 5353, "protocol": "UDP"}],
        managed_by="dns-operator",
    )
    for obj in (dns, server, dns_slice):
        obj["metadata"]["namespace"] = "kube-system"
        made.add(obj)
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
    made = cluster(30, clusterIP="None", clusterIPs=["None"], ports=[port(8080, 8080)])
    return let_out({"to": [APP]}, {"ports": [UDP_53]}, made=made)
