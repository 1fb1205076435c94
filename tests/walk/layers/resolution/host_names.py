"""Host names of a headless Service's Pods."""

from __future__ import annotations

from typing import Any

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod, port
from tests.walk.layers.inputs import broken, sound


def _members(*, ready: int = 3, subdomain: str = "web", **spec: Any) -> Cluster:
    settings: dict[str, Any] = {"clusterIP": "None", "clusterIPs": ["None"], "ports": [port(5432, 5432)], **spec}
    made = cluster(0, **settings)
    for number in range(3):
        name = f"web-{number}"
        replica = made.add(pod(name, (f"10.244.1.{20 + number}",), ports=(("", 5432, "TCP"),), ready=number < ready))
        replica["spec"] |= {"hostname": name, "subdomain": subdomain}
        made.sockets[name] = [("tcp", "0.0.0.0", 5432)]
    made.settle()
    for slice_ in made.of("EndpointSlice"):
        for endpoint in slice_["endpoints"]:
            if subdomain == "web":
                endpoint["hostname"] = endpoint["targetRef"]["name"]
    return made


@broken("fault", "resolution", "SP124", "web-2.web", "10.244.1.22", "not ready", lookup="web-2.web")
def the_host_name_of_a_member_that_is_not_ready() -> Cluster:
    return _members(ready=2)


@sound("SP314", lookup="web-0.web")
def the_host_name_of_a_member_that_is_ready_beside_one_that_is_not() -> Cluster:
    return _members(ready=2)


@sound("SP316", lookup="web-2.web.shop")
def the_host_name_of_a_member_that_is_published_before_it_is_ready() -> Cluster:
    return _members(ready=2, publishNotReadyAddresses=True)


@broken("fault", "resolution", "SP124", "web-7", lookup="web-7.web.shop.svc.cluster.local")
def the_host_name_of_a_member_that_does_not_exist() -> Cluster:
    return _members()


@broken("fault", "resolution", "SP124", "db-0", lookup="db-0.web")
def the_host_name_of_members_whose_subdomain_is_another_service() -> Cluster:
    made = _members(subdomain="other")
    for replica in made.of("Pod"):
        replica["spec"]["hostname"] = replica["metadata"]["name"].replace("web", "db")
    return made


@broken("fault", "resolution", "SP124", "web-0", "cluster IP", lookup="web-0.web")
def the_host_name_of_a_member_behind_a_cluster_ip() -> Cluster:
    return _members(clusterIP="10.96.10.1", clusterIPs=["10.96.10.1"])


@sound(lookup="10-244-1-20.web")
def the_address_of_a_pod_without_a_host_name_as_a_name() -> Cluster:
    return _members(subdomain="other")


@sound(lookup="web-0.web")
def the_name_of_a_pod_where_a_corefile_may_say_endpoint_pod_names() -> Cluster:
    return _members(subdomain="other")


@sound(lookup="web.shop")
def a_name_with_its_namespace_that_looks_like_a_host_of_a_service() -> Cluster:
    return cluster().settle()
