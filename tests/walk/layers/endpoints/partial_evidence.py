"""Pods and slices that were read one by one, at different times, or not at all."""

from __future__ import annotations

import json

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod
from tests.walk.layers.inputs import broken, sound

# --- Pods that were read one by one ------------------------------------------------------------------------------------


def _one_by_one(made: Cluster) -> Cluster:
    made.settle()
    made.drop("Node")
    made.listed = False
    return made


@sound()
def one_pod_of_two_read_by_its_name() -> Cluster:
    made = _one_by_one(cluster(2))
    made.drop("Pod", "web-2")
    return made


def _one_of_two(labels: dict[str, str] | None = None) -> Cluster:
    """One Pod of two read by its name; the endpoint of the other says nothing of a Pod."""
    made = one_pod_of_two_read_by_its_name()
    if labels is not None:
        made.get("Pod", "web-1")["metadata"]["labels"] = labels
    for endpoint in made.get("EndpointSlice")["endpoints"]:
        if endpoint["targetRef"]["name"] == "web-2":
            del endpoint["targetRef"]
    return made


@broken("inconclusive", None, "SP306", "10.244.2.12", "no Pod has this address")
def an_address_of_no_pod_beside_one_pod_read_by_its_name() -> Cluster:
    return _one_of_two()


@broken("inconclusive", None, "SP306", "10.244.2.12", "no Pod has this address")
def an_address_of_no_pod_beside_one_pod_of_other_labels() -> Cluster:
    return _one_of_two(labels={"app": "other"})


@broken("fault", "endpoints", "SP306", "10.244.2.12", "no Pod has this address", "1 of 2")
def an_address_of_no_pod_where_all_pods_were_listed() -> Cluster:
    made = cluster(2).settle()
    made.drop("Pod", "web-2")
    for endpoint in made.get("EndpointSlice")["endpoints"]:
        if endpoint["targetRef"]["name"] == "web-2":
            del endpoint["targetRef"]
    return made


@broken("fault", "endpoints", "SP306", "web-2", "10.244.2.12")
def a_listed_slice_names_a_pod_that_is_not_in_the_list() -> Cluster:
    made = cluster(2).settle()
    made.drop("Pod", "web-2")
    return made


@broken("fault", "endpoints", "SP306", "web-2", "10.244.2.12")
def a_pod_whose_deletion_was_watched_is_still_in_the_slice() -> Cluster:
    made = cluster(2).settle()
    events = [json.dumps({"type": "ADDED", "object": obj}) for obj in made.objects]
    events.append(json.dumps({"type": "DELETED", "object": made.get("Pod", "web-2")}))
    made.objects = []
    made.files["watch.json"] = "\n".join(events) + "\n"
    return made


def _strangers(labels: dict[str, str], selector: dict[str, str]) -> Cluster:
    made = cluster(0, selector=selector)
    made.add(pod("client", ("10.244.1.50",), labels=labels))
    made = _one_by_one(made)
    made.drop("EndpointSlice")
    return made


@broken("inconclusive", None, "SP301", "app=web")
def only_the_clients_own_pod_was_read() -> Cluster:
    return _strangers({"app": "client"}, {"app": "web"})


@broken("inconclusive", None, "SP301", "app=web")
def only_the_clients_own_pod_was_read_and_it_shares_a_label() -> Cluster:
    return _strangers({"app": "client", "env": "prod"}, {"app": "web", "env": "prod"})


# --- one cluster at two times ------------------------------------------------------------------------------------------


def _rolled(slices: int, pods: int) -> Cluster:
    """Slices in a file of their own, and Pods of a rollout; both with the version of their last write."""
    before, after = cluster(1).settle(), cluster(0)
    for number in (1, 2):
        replica = after.add(pod(f"web-new-{number}", (f"10.244.{number}.5{number}",), node=f"w{number}"))
        replica["metadata"]["resourceVersion"] = str(pods + number)
    listed = before.of("EndpointSlice")
    for slice_ in listed:
        slice_["metadata"]["resourceVersion"] = str(slices)
    after.files["slices.json"] = json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": listed})
    return after


@broken("inconclusive", None, "SP306", "web-1", "read before")
def slices_that_were_read_before_a_rollout_and_pods_behind_it() -> Cluster:
    return _rolled(5000, 9000)


@broken("fault", "endpoints", "SP306", "web-1")
def slices_that_were_written_after_the_pods_they_miss() -> Cluster:
    return _rolled(9900, 9000)
