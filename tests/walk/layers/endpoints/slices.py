"""Slices that do not fit their Pods."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import Obj, endpoint, endpoint_slice, pod
from tests.walk.layers.inputs import broken, sound

# --- slices ------------------------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP306", "10.244.1.99", "web-gone")
def slice_with_a_pod_that_is_gone() -> Cluster:
    made = cluster().settle()
    made.get("EndpointSlice")["endpoints"].append(endpoint("10.244.1.99", "web-gone"))
    return made


@broken("fault", "endpoints", "SP306", "10.244.1.77", "10.244.1.11", "1 of 2")
def slice_with_another_address_than_the_pod_has() -> Cluster:
    made = cluster().settle()
    for entry in made.get("EndpointSlice")["endpoints"]:
        if entry["targetRef"]["name"] == "web-1":
            entry["addresses"] = ["10.244.1.77"]
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


@broken("fault", "endpoints", "SP303", "web-1")
def ready_pods_and_an_empty_slice() -> Cluster:
    made = cluster().settle()
    made.get("EndpointSlice")["endpoints"] = []
    return made


@broken("warning", "endpoints", "SP315", "web-2")
def a_ready_pod_in_no_slice() -> Cluster:
    made = cluster().settle()
    whole = made.get("EndpointSlice")
    whole["endpoints"] = [entry for entry in whole["endpoints"] if entry["targetRef"]["name"] == "web-1"]
    return made


def slice_made_by_hand(name: str = "", label: str = "web") -> Cluster:
    made = cluster(0, selector=None)
    ports = [{"port": 5432, "protocol": "TCP", **({"name": name} if name else {})}]
    made.add(endpoint_slice("web-db", label, [endpoint("192.0.2.10")], ports, managed_by="staff"))
    return made


@sound()
def selectorless_service_with_a_slice_made_by_hand() -> Cluster:
    return slice_made_by_hand()


@broken("fault", "endpoints", "SP302")
def selectorless_service_whose_slice_has_another_label() -> Cluster:
    return slice_made_by_hand(label="wbe")


# --- addresses outside the cluster beside its Pods ---------------------------------------------------------------------


@broken("warning", "endpoints", "SP319", "192.0.2.50", "web-legacy", "outside the cluster")
def a_machine_outside_the_cluster_beside_the_pods() -> Cluster:
    made = cluster().settle()
    ports: list[Obj] = [{"name": "", "port": 8080, "protocol": "TCP"}]
    made.add(endpoint_slice("web-legacy", "web", [endpoint("192.0.2.50")], ports, managed_by="migration"))
    return made


# --- Service -----------------------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP310", "IPv6")
def dual_stack_service_over_single_stack_pods() -> Cluster:
    made = cluster(dual=True)
    for replica in made.of("Pod"):
        replica["status"]["podIPs"] = replica["status"]["podIPs"][:1]
    return made.settle()


# --- slices and Endpoints ----------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP317", "db.example.com", "FQDN")
def a_cluster_ip_over_slices_of_host_names() -> Cluster:
    made = cluster(0, selector=None)
    made.add(endpoint_slice("web-ext", "web", [endpoint("db.example.com")], [{"port": 8080}], managed_by="staff"))
    made.get("EndpointSlice")["addressType"] = "FQDN"
    return made


@broken("warning", "endpoints", "SP309", "web-1", "web-9", "both ready")
def two_ready_pods_claim_one_address() -> Cluster:
    made = cluster(1).settle()
    made.add(pod("web-9", ("10.244.1.11",)))
    made.sockets["web-9"] = made.sockets["web-1"]
    slice_ = made.get("EndpointSlice")
    slice_["endpoints"] = [*slice_["endpoints"], endpoint("10.244.1.11", "web-9")]
    return made
