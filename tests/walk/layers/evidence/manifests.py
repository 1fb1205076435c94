"""Manifests that no cluster has read, and slices without their Service."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import Obj, port
from tests.walk.layers.inputs import broken

# --- the Service itself is not in the evidence -------------------------------------------------------------------------


def _without_service(made: Cluster) -> Cluster:
    made.settle()
    made.drop("Service")
    return made


@broken("fault", "ports", "SP403", "18080")
def slices_without_their_service_whose_port_nothing_opens() -> Cluster:
    return _without_service(cluster(ports=[port(80, 18080)]))


@broken("inconclusive", None, "")
def slices_without_their_service_that_answer() -> Cluster:
    return _without_service(cluster())


# --- manifests that no cluster has read --------------------------------------------------------------------------------


def _chart(selector: str, target: str) -> Cluster:
    labels = {"app": "web"}
    container = {"name": "main", "image": "example/app:1", "ports": [{"containerPort": 8080, "name": "http"}]}
    hook = {"preStop": {"sleep": {"seconds": 10}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{**container, "lifecycle": hook}]}}
    workload: Obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    made: Obj = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": selector}, "ports": [{"port": 80, "targetPort": target}]},
    }
    return Cluster(objects=[workload, made])


@broken("inconclusive", None, "SP301", "app=wbe", "Deployment web has app=web")
def manifests_whose_selector_misses_the_template() -> Cluster:
    return _chart("wbe", "http")


@broken("inconclusive", None, "SP401", "htpp", "http 8080")
def manifests_whose_target_port_the_template_does_not_name() -> Cluster:
    return _chart("web", "htpp")


@broken("inconclusive", None, "")
def manifests_that_fit_and_have_no_cluster_ip_yet() -> Cluster:
    return _chart("web", "http")
