"""Kinds of evidence as it is copied together in haste: of two clusters, with what a terminal printed beside it."""

from __future__ import annotations

import json

import yaml

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import Obj, pod, port
from tests.walk.kinds import broken, sound

# --- two clusters -----------------------------------------------------------------------------------------------------


def _two(one: Cluster, other: Cluster) -> Cluster:
    """The objects of both, each in a folder of its own; the second cluster's Pods have other addresses."""
    made = Cluster()
    for folder, held in (("prod", one), ("staging", other)):
        made.files[f"{folder}/objects.json"] = held.evidence()["objects.json"].decode()
    return made


def _cluster(name: str, network: str, cluster_ip: str = "10.96.10.1") -> Cluster:
    made = cluster(clusterIP=cluster_ip)
    for one in made.of("Pod"):
        address = one["status"]["podIP"].replace("10.244", network)
        one["status"] |= {"podIP": address, "podIPs": [{"ip": address}]}
    made.settle()
    for one in made.objects:
        if name:
            one["metadata"]["uid"] = f"{name}-{one['kind']}-{one['metadata']['name']}"
        if one["kind"] == "EndpointSlice":
            one["metadata"]["name"] += network.replace(".", "")
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
def another_service_that_was_made_anew_between_two_readings() -> Cluster:
    before, after = _cluster("a", "10.244"), _cluster("a", "10.244")
    for number, held in enumerate((before, after)):
        other = cluster(0, clusterIP=f"10.96.10.{20 + number}").get("Service")
        other["metadata"] |= {"name": "other", "uid": f"other-{number}", "resourceVersion": str(number + 1)}
        held.add(other)
    return _two(before, after)


# --- one cluster at two times -------------------------------------------------------------------------------------------


def _rolled(slices: int, pods: int) -> Cluster:
    """Slices in a file of their own, and Pods of a rollout; both with the version of their last write."""
    before, after = cluster(1).settle(), cluster(0)
    for number in (1, 2):
        one = after.add(pod(f"web-new-{number}", (f"10.244.{number}.5{number}",), node=f"w{number}"))
        one["metadata"]["resourceVersion"] = str(pods + number)
    held = before.of("EndpointSlice")
    for one in held:
        one["metadata"]["resourceVersion"] = str(slices)
    after.files["slices.json"] = json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": held})
    return after


@broken("inconclusive", None, "SP306", "web-1", "read before")
def slices_that_were_read_before_a_rollout_and_pods_behind_it() -> Cluster:
    return _rolled(5000, 9000)


@broken("fault", "endpoints", "SP306", "web-1")
def slices_that_were_written_after_the_pods_they_lack() -> Cluster:
    return _rolled(9900, 9000)


# --- what a terminal printed beside it ----------------------------------------------------------------------------------

WARNINGS = (
    "W1130 12:00:00.000000   12345 warnings.go:70] v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1\n"
    "Warning: v1 ComponentStatus is deprecated in v1.19+\n"
)


def _closed(objects: str = "", sockets: str = "") -> Cluster:
    """Nothing listens on 8080; ``objects`` and ``sockets`` are templates around what kubectl printed."""
    made = cluster().settle()
    made.sockets = {name: [("tcp", "0.0.0.0", 9000)] for name in made.sockets}
    held = {path: text.decode() for path, text in made.evidence().items()}
    return Cluster(
        files={
            path: (objects if path == "objects.json" else sockets or "{}").replace("{}", text)
            for path, text in held.items()
        }
    )


@broken("fault", "ports", "SP403", "8080", "9000")
def warnings_of_kubectl_before_its_output() -> Cluster:
    return _closed(WARNINGS + "{}")


@broken("fault", "ports", "SP403", "8080", "9000")
def the_container_that_kubectl_chose_before_what_it_printed() -> Cluster:
    return _closed("{}", 'Defaulted container "main" out of: main, proxy\n{}command terminated with exit code 1\n')


@broken("fault", "ports", "SP403", "8080", "9000")
def a_prompt_behind_documents_of_yaml() -> Cluster:
    made = _closed("{}")
    listing = json.loads(made.files.pop("objects.json"))
    made.files["objects.yaml"] = yaml.safe_dump_all(listing["items"]) + "ops@bastion:~/incident$ exit\n"
    return made


@sound()
def warnings_of_kubectl_before_a_healthy_output() -> Cluster:
    made = cluster().settle()
    held = {path: text.decode() for path, text in made.evidence().items()}
    return Cluster(files={path: WARNINGS + text if path == "objects.json" else text for path, text in held.items()})


# --- ports ------------------------------------------------------------------------------------------------------------


def _proxied(**init: Obj | str) -> Cluster:
    made = cluster(ports=[port(80, "proxy")])
    for one in made.of("Pod"):
        started = {"name": "proxy", "ports": [{"containerPort": 15006, "name": "proxy", "protocol": "TCP"}], **init}
        one["spec"]["initContainers"] = [started]
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 15006)]
    made.settle()
    for one in made.of("EndpointSlice"):
        one["ports"] = [{"name": "", "port": 15006, "protocol": "TCP"}] if init else None
    return made


@broken("fault", "ports", "SP401", "proxy", "init container")
def a_target_port_name_of_an_init_container_that_ends() -> Cluster:
    return _proxied()


@sound()
def a_target_port_name_of_a_sidecar() -> Cluster:
    return _proxied(restartPolicy="Always")


def _dns_server(*protocols: str) -> Cluster:
    made = cluster(ports=[port(53, 5353, "dns", "UDP"), port(53, 5353, "dns-tcp", "TCP")])
    for name in made.sockets:
        made.sockets[name] = [(protocol, "0.0.0.0", 5353) for protocol in protocols]
    return made.settle()


@broken("fault", "ports", "SP408", "5353/TCP", "5353/UDP")
def one_of_two_protocols_of_one_number_is_not_served() -> Cluster:
    return _dns_server("udp")


@sound()
def both_protocols_of_one_number_are_served() -> Cluster:
    return _dns_server("udp", "tcp")


# --- manifests that no cluster has read ---------------------------------------------------------------------------------


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


# --- a mesh's proxy in the Pod ------------------------------------------------------------------------------------------


def _meshed(*sockets: tuple[str, str, int]) -> Cluster:
    made = cluster()
    for one in made.of("Pod"):
        one["spec"]["initContainers"] = [{"name": "istio-proxy", "restartPolicy": "Always", "image": "example/proxy:1"}]
    for name in made.sockets:
        made.sockets[name] = [("tcp", "0.0.0.0", 15006), ("tcp", "0.0.0.0", 15021), *sockets]
    return made.settle()


@broken("fault", "ports", "SP403", "8080", "istio-proxy")
def nothing_listens_behind_a_meshs_proxy() -> Cluster:
    return _meshed()


@sound()
def an_application_that_listens_behind_a_meshs_proxy() -> Cluster:
    return _meshed(("tcp", "0.0.0.0", 8080))
