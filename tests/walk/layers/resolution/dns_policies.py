"""Clients whose dnsPolicy, dnsConfig or hostAliases decide which names they reach."""

from __future__ import annotations

from tests.fixtures.clients import CLIENT, with_client
from tests.fixtures.cluster import Cluster, cluster
from tests.walk.layers.inputs import broken, sound


@broken("warning", "resolution", "SP109", "dnsPolicy Default", client=CLIENT)
def a_client_with_its_nodes_resolv_conf() -> Cluster:
    return with_client(cluster(), dnsPolicy="Default")


@broken("warning", "resolution", "SP109", "hostNetwork", client=CLIENT)
def a_client_in_its_nodes_network_with_cluster_first() -> Cluster:
    return with_client(cluster(), "10.0.0.11", dnsPolicy="ClusterFirst", hostNetwork=True)


@sound(client=CLIENT)
def a_client_in_its_nodes_network_with_the_policy_for_it() -> Cluster:
    return with_client(cluster(), "10.0.0.11", dnsPolicy="ClusterFirstWithHostNet", hostNetwork=True)


@sound(client=CLIENT)
def a_client_with_its_nodes_resolv_conf_and_the_name_in_its_host_aliases() -> Cluster:
    return with_client(cluster(), dnsPolicy="Default", hostAliases=[{"ip": "10.96.10.1", "hostnames": ["web"]}])


@broken("warning", "resolution", "SP122", "web", client=CLIENT, lookup="web")
def a_short_name_and_a_dns_config_without_a_search_list() -> Cluster:
    return with_client(cluster(), dnsPolicy="None", dnsConfig={"nameservers": ["10.96.0.10"]})


@sound(client=CLIENT, lookup="web")
def a_short_name_and_a_dns_config_with_the_search_list() -> Cluster:
    config = {"nameservers": ["10.96.0.10"], "searches": ["shop.svc.cluster.local", "svc.cluster.local"]}
    return with_client(cluster(), dnsPolicy="None", dnsConfig=config)
