"""Settings of a healthy Service that look unusual and break nothing."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod
from tests.walk.layers.inputs import sound


@sound()
def local_internal_traffic_policy_with_a_pod_on_every_node() -> Cluster:
    made = cluster(internalTrafficPolicy="Local")
    return made.settle()


@sound()
def traffic_distribution_prefers_close_endpoints() -> Cluster:
    made = cluster(trafficDistribution="PreferClose").settle()
    for endpoint in made.get("EndpointSlice")["endpoints"]:
        endpoint["hints"] = {"forZones": [{"name": "zone-a"}]}
        endpoint["zone"] = "zone-a"
    return made


@sound()
def dual_stack_that_got_one_family_only() -> Cluster:
    made = cluster(ipFamilyPolicy="PreferDualStack")
    return made.settle()


@sound()
def ipv6_single_stack() -> Cluster:
    made = cluster(0, clusterIP="fd00:96::10", clusterIPs=["fd00:96::10"])
    made.add(pod("web-1", ("fd00:244:1::b",)))
    made.sockets["web-1"] = [("tcp", "::", 8080)]
    made.dumps = True
    return made.settle()
