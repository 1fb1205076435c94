"""Endpoints objects, and slices that mirror them."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import NAMESPACE, Obj, endpoint, endpoint_slice
from tests.walk.layers.inputs import broken, sound

# --- slices ------------------------------------------------------------------------------------------------------------


@broken("warning", "endpoints", "SP312", "192.0.2.7")
def endpoints_edited_by_hand() -> Cluster:
    made = cluster().settle()
    made.add(_endpoints(["10.244.1.11", "10.244.2.12", "192.0.2.7"]))
    return made


def _endpoints(addresses: list[str], **meta: object) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "web", "namespace": NAMESPACE, **meta},
        "subsets": [{"addresses": [{"ip": ip} for ip in addresses], "ports": [{"port": 8080, "protocol": "TCP"}]}],
    }


@sound()
def endpoints_as_their_controller_writes_them() -> Cluster:
    made = cluster().settle()
    made.add(_endpoints(["10.244.1.11", "10.244.2.12"]))
    return made


@broken("warning", "endpoints", "SP313", "1000")
def endpoints_over_capacity() -> Cluster:
    made = cluster().settle()
    made.add(
        _endpoints(["10.244.1.11", "10.244.2.12"], annotations={"endpoints.kubernetes.io/over-capacity": "truncated"})
    )
    return made


# --- traffic policies and mirrored slices ------------------------------------------------------------------------------


def _mirrored(address: str) -> Cluster:
    made = cluster(0, selector=None)
    made.add(
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": "web", "namespace": NAMESPACE},
            "subsets": [{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 8080}]}],
        }
    )
    manager = "endpointslicemirroring-controller.k8s.io"
    made.add(endpoint_slice("web-m", "web", [endpoint(address)], [{"port": 8080}], managed_by=manager))
    return made


@broken("fault", "endpoints", "SP312", "192.0.2.7", "192.0.2.8")
def mirrored_slice_that_was_not_updated() -> Cluster:
    return _mirrored("192.0.2.8")


@sound()
def mirrored_slice_that_equals_its_endpoints() -> Cluster:
    return _mirrored("192.0.2.7")


# --- slices and Endpoints ----------------------------------------------------------------------------------------------


@broken("fault", "endpoints", "SP302", "192.0.2.7", "notReadyAddresses")
def endpoints_made_by_hand_with_nothing_ready() -> Cluster:
    made = cluster(0, selector=None)
    subset = {"notReadyAddresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 8080}]}
    meta = {"name": "web", "namespace": NAMESPACE}
    made.add({"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": [subset]})
    return made
