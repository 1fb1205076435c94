"""Tables that are older than the slices."""

from __future__ import annotations

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import endpoint, endpoint_slice, service
from tests.fixtures.rule_tables import iptables
from tests.walk.layers.inputs import broken, sound


def _twin(made: Cluster, address: str) -> Cluster:
    """Another Service that sends to ``address`` all the while: its rules name the same Pod and port."""
    six = ":" in address
    ip = "fd00:96::99" if six else "10.96.10.99"
    made.add(service("other", clusterIP=ip, selector=None))
    made.add(endpoint_slice("other-1", "other", [endpoint(address)], [{"port": 8080}], managed_by="staff"))
    return made


def _older(now: int, before: int, *, dual: bool = False) -> Cluster:
    """w1's rules as they were with ``before`` Pods; the slices as they are with ``now``."""
    made = _twin(cluster(max(now, before), dual=dual), "fd00:244:1::d" if dual else "10.244.1.13").settle()
    every = list(made.objects)

    def only(count: int) -> None:
        gone = {f"web-{number}" for number in range(count + 1, 9)}
        made.objects = [item for item in every if item["kind"] != "Pod" or item["metadata"]["name"] not in gone]
        made.settle()

    only(before)
    made.files["w1.iptables-save.txt"] = iptables(made.objects, 4)
    if dual:
        made.files["w1.ip6tables-save.txt"] = iptables(made.objects, 6)
    only(now)
    made.sockets = {name: tables for name, tables in made.sockets.items() if any(name == pod for pod in _pods(made))}
    return made


def _pods(made: Cluster) -> list[str]:
    return [pod["metadata"]["name"] for pod in made.of("Pod")]


@broken("fault", "dataplane", "SP603", "STALE", "10.244.1.13:8080", "33.3 %")
def a_node_that_still_sends_to_a_removed_pod() -> Cluster:
    return _older(2, 3)


@broken("fault", "dataplane", "SP603", "STALE", "fd00:244:1::d")
def a_node_that_still_sends_to_a_removed_pod_over_ipv6() -> Cluster:
    return _older(2, 3, dual=True)


@broken("fault", "dataplane", "SP604", "MISSING", "10.244.1.13:8080")
def a_node_that_does_not_send_to_a_new_pod() -> Cluster:
    return _older(3, 2)


@sound()
def a_node_whose_table_is_as_old_as_the_slices() -> Cluster:
    return _older(3, 3)
