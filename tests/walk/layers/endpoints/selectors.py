"""Selectors that match no Pod, or the right ones among strangers."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import endpoint_slice, pod
from tests.walk.layers.inputs import broken, sound


def _selected(labels: dict[str, str], selector: dict[str, str]) -> Cluster:
    made = cluster(selector=selector)
    for replica in made.of("Pod"):
        replica["metadata"]["labels"] = dict(labels)
    return made.settle()


# --- selector ----------------------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP301", "app=web", "app=wbe")
def selector_value_with_swapped_letters() -> Cluster:
    return _selected({"app": "web", "tier": "front"}, {"app": "wbe"})


@broken("fault", "endpoints", "SP301", "app=Web", "app=web")
def selector_value_in_another_case() -> Cluster:
    return _selected({"app": "web"}, {"app": "Web"})


@broken("fault", "endpoints", "SP301", "App=web", "app=web")
def selector_key_in_another_case() -> Cluster:
    return _selected({"app": "web"}, {"App": "web"})


@broken("fault", "endpoints", "SP301", "app.kubernetes.io/name=web")
def selector_key_without_its_prefix() -> Cluster:
    return _selected({"app.kubernetes.io/name": "web"}, {"name": "web"})


@broken("fault", "endpoints", "SP301", "version=v3", "version=v2")
def selector_with_one_label_too_many() -> Cluster:
    return _selected({"app": "web", "version": "v2"}, {"app": "web", "version": "v3"})


@broken("fault", "endpoints", "SP304", "app=web")
def no_pod_at_all() -> Cluster:
    made = cluster()
    made.drop("Pod")
    made.sockets.clear()
    return made.settle()


@sound()
def selector_that_matches_among_strangers() -> Cluster:
    made = cluster()
    made.add(pod("webb-1", ("10.244.1.50",), labels={"app": "webb"}, ready=False))
    return made.settle()


@sound()
def finished_pods_of_a_job_with_the_same_labels() -> Cluster:
    made = cluster()
    made.add(pod("web-old", ("10.244.1.50",), phase="Succeeded", ready=False))
    return made.settle()


# --- lists, names and publishing ---------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP301", "namespace other")
def pods_that_match_in_another_namespace() -> Cluster:
    made = cluster()
    for replica in made.of("Pod"):
        replica["metadata"]["namespace"] = "other"
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
