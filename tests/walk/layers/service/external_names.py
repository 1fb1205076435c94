"""Services of type ExternalName: what they name, and what no resolver makes of it."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import service
from tests.walk.layers.inputs import broken, sound

# --- Service -----------------------------------------------------------------------------------------------------------


@broken("fault", "service", "SP204", "192.0.2.7")
def external_name_that_is_an_address() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="192.0.2.7")])


@broken("fault", "service", "SP204", "2001:db8::7")
def external_name_that_is_an_ipv6_address() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="2001:db8::7")])


@broken("warning", "service", "SP204", "selector")
def external_name_with_a_selector() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="db.example.com", selector={"app": "web"})])


@sound()
def external_name_alone() -> Cluster:
    return Cluster(objects=[service(type="ExternalName", externalName="db.example.com")])


ALIAS = "svc/alias"


# --- ExternalName ------------------------------------------------------------------------------------------------------


def external_name_of(target: str, *, ready: bool = True) -> Cluster:
    made = cluster()
    made.add(service("alias", type="ExternalName", externalName=target))
    for pod in made.of("Pod"):
        if not ready:
            pod["status"]["conditions"][0]["status"] = "False"
            pod["status"]["containerStatuses"][0]["ready"] = False
    return made.settle()


@broken("warning", "service", "SP212", "web.", "search list", target=ALIAS)
def an_external_name_of_one_label() -> Cluster:
    return external_name_of("web")


@broken("warning", "service", "SP212", "web.shop", target=ALIAS)
def an_external_name_with_the_namespace_alone() -> Cluster:
    return external_name_of("web.shop")


@broken("warning", "service", "SP212", "web.shop.svc", target=ALIAS)
def an_external_name_without_the_clusters_domain() -> Cluster:
    return external_name_of("web.shop.svc")


@sound(target=ALIAS)
def an_external_name_of_two_labels_outside_the_cluster() -> Cluster:
    return external_name_of("example.com")


# --- host names of a headless Service ----------------------------------------------------------------------------------


@broken("fault", "service", "SP204", "http://db.example.com", target=ALIAS)
def an_external_name_that_is_a_url() -> Cluster:
    return external_name_of("http://db.example.com/x")
