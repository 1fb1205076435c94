"""What the interfaces on the way take, as a hypothesis of a path that loses large packets."""

from __future__ import annotations

import pytest

from svcpath.reports import records
from tests.fixtures.cluster import Cluster
from tests.walk.layers.pod import routes


def rival(made: Cluster) -> records.Hypothesis:
    report = made.diagnose("svc/web", client="pod/client")
    (found,) = [found for found in report.findings if found.code == "SP508"]
    return found.hypotheses[1]


def test_a_narrow_interface_is_supported_by_both_nodes_mtus_and_a_ping_refutes_it() -> None:
    found = rival(routes.large_packets_are_lost_where_an_interface_is_narrow())
    assert found.confidence == "supported"
    assert [shown.sentence for shown in found.supports] == [
        "MTU: cni0 of node w1 1500, eth0 of node w1 1500",
        "MTU: eth0 of node w2 1400, cni0 of node w2 1500",
    ]
    assert found.disproof == "kubectl -n shop exec client -- ping -c 3 -W 2 -M do -s 1472 10.244.2.12"


def test_interfaces_that_take_what_the_pod_sends_refute_it() -> None:
    found = rival(routes.large_packets_are_lost_and_no_interface_is_narrow())
    assert found.confidence == "refuted"
    assert found.against[0].sentence == "MTU: cni0 of node w1 1500, eth0 of node w1 9000"


def test_what_one_node_does_not_show_leaves_it_possible() -> None:
    found = rival(routes.large_packets_are_lost_and_one_nodes_interfaces_are_not_shown())
    assert (found.confidence, found.supports, found.against) == ("possible", (), ())
    assert found.disproof


@pytest.mark.parametrize(
    "route", ["10.244.2.0/24 via 10.0.0.12 dev eth0 mtu 1380", "10.244.2.12 dev eth0 mtu lock 1380"]
)
def test_a_routes_own_mtu_counts_before_its_interfaces(route: str) -> None:
    made = routes._made(routes.FINE, routes.SMALL, *routes._large(routes.BACKEND_ADDRESS, 3090), w1=(route,))
    if "via" in route:
        made.files["w1.routes.txt"] = made.files["w1.routes.txt"].replace("10.244.2.0/24 via 10.0.0.12 dev eth0\n", "")
    found = rival(routes._wide(made, {"eth0": 1500, "cni0": 1500}, {"eth0": 1500, "cni0": 1500}))
    assert found.confidence == "supported"
    assert "eth0 on node w1 takes 1380 bytes" in found.cause
