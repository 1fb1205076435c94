"""An ExternalName of another Service of the cluster: whether that one has endpoints."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster
from tests.walk.layers.inputs import broken, sound
from tests.walk.layers.service.external_names import ALIAS, external_name_of


@broken("fault", "endpoints", "SP318", "web", "shop", "0 of 2", target=ALIAS)
def an_external_name_of_a_service_without_a_ready_endpoint() -> Cluster:
    return external_name_of("web.shop.svc.cluster.local", ready=False)


@sound(target=ALIAS)
def an_external_name_of_a_service_with_ready_endpoints() -> Cluster:
    return external_name_of("web.shop.svc.cluster.local")


@sound(target=ALIAS)
def an_external_name_of_a_service_that_another_cluster_exports() -> Cluster:
    return external_name_of("web.shop.svc.clusterset.local", ready=False)


@sound(target=ALIAS)
def an_external_name_of_a_service_in_a_namespace_that_was_not_read() -> Cluster:
    return external_name_of("web.other.svc.cluster.local")
