"""Evidence of two clusters, or of one that was read twice."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.walk.layers.inputs import broken, sound


def _two(first: Cluster, other: Cluster) -> Cluster:
    """The objects of both, each in a folder of its own; the second cluster's Pods have other addresses."""
    made = Cluster()
    for folder, source in (("prod", first), ("staging", other)):
        made.files[f"{folder}/objects.json"] = source.evidence()["objects.json"].decode()
    return made


def _cluster(name: str, network: str, cluster_ip: str = "10.96.10.1") -> Cluster:
    made = cluster(clusterIP=cluster_ip)
    for pod in made.of("Pod"):
        address = pod["status"]["podIP"].replace("10.244", network)
        pod["status"] |= {"podIP": address, "podIPs": [{"ip": address}]}
    made.settle()
    for obj in made.objects:
        if name:
            obj["metadata"]["uid"] = f"{name}-{obj['kind']}-{obj['metadata']['name']}"
        if obj["kind"] == "EndpointSlice":
            obj["metadata"]["name"] += network.replace(".", "")
    return made


@broken("inconclusive", None, "SP002", "two clusters", "prod/objects.json", "staging/objects.json")
def two_clusters_side_by_side() -> Cluster:
    return _two(_cluster("a", "10.244"), _cluster("b", "10.50"))


@broken("inconclusive", None, "SP002", "clusterIP", "10.96.10.1", "172.20.5.5")
def two_clusters_of_whose_objects_the_uids_were_taken_off() -> Cluster:
    return _two(_cluster("", "10.244"), _cluster("", "10.50", "172.20.5.5"))


@sound()
def one_cluster_read_twice() -> Cluster:
    return _two(_cluster("a", "10.244"), _cluster("a", "10.244"))


@sound()
def another_service_that_was_recreated_between_two_readings() -> Cluster:
    before, after = _cluster("a", "10.244"), _cluster("a", "10.244")
    for number, read in enumerate((before, after)):
        other = cluster(0, clusterIP=f"10.96.10.{20 + number}").get("Service")
        other["metadata"] |= {"name": "other", "uid": f"other-{number}", "resourceVersion": str(number + 1)}
        read.add(other)
    return _two(before, after)
