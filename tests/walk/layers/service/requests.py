"""What was asked for: a Service, one of its ports, an address of the client's family."""

from __future__ import annotations

from typing import Any

from tests.fixtures.clients import CLIENT, with_client
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod
from tests.walk.layers.inputs import broken, sound
from tests.walk.layers.ports.target_ports import three_ports

# --- ports -------------------------------------------------------------------------------------------------------------


@broken("fault", "service", "SP206", "8443", port="8443")
def the_target_port_is_asked_for_in_place_of_the_service_port() -> Cluster:
    return three_ports().settle()


# --- Service -----------------------------------------------------------------------------------------------------------


@broken("fault", "service", "SP201", "wbe", target="svc/wbe")
def service_missing_with_a_near_name() -> Cluster:
    return cluster().settle()


# --- addresses ---------------------------------------------------------------------------------------------------------


def _over_ipv6(*client: str, **spec: Any) -> Cluster:
    made = cluster(0, clusterIP="fd00:96::10", clusterIPs=["fd00:96::10"])
    made.add(pod("web-1", ("fd00:244:1::b",)))
    made.sockets["web-1"] = [("tcp", "::", 8080)]
    return with_client(made, *client, **spec)


@broken("fault", "service", "SP211", "10.244.1.99", "fd00:96::10", "IPv6", client=CLIENT)
def an_ipv4_client_of_an_ipv6_service() -> Cluster:
    return _over_ipv6("10.244.1.99")


@sound(client=CLIENT)
def a_dual_stack_client_of_an_ipv6_service() -> Cluster:
    return _over_ipv6("10.244.1.99", "fd00:244:1::99")


@broken("fault", "service", "SP211", "fd00:244:1::99", "10.96.10.1", client=CLIENT)
def an_ipv6_client_of_an_ipv4_service() -> Cluster:
    return with_client(cluster(), "fd00:244:1::99")


@sound(client=CLIENT)
def a_client_in_its_nodes_network_whose_other_addresses_are_not_listed() -> Cluster:
    return _over_ipv6("10.0.0.11", hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")
