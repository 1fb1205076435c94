"""What a correct node must have: kube-proxy's choice of endpoints, frontends and policies."""

from __future__ import annotations

from typing import Any

import pytest

from svcpath.models.dataplanes import Backend, Frontend, NodeView, PacketVerdict, TrafficOrigin, expected
from tests.models.dataplanes.material import endpoint, service, slice_of

NODE = NodeView(name="w1", zone="a", addresses=frozenset({"192.168.0.2"}))


def _addresses(web: Any, slices: list[Any], node: NodeView = NODE, kind: str = "cluster-ip") -> list[str]:
    (item,) = [item for item in expected(web, slices, node) if item.kind == kind]
    return sorted(backend.address for backend in item.for_packet(TrafficOrigin.POD, "10.0.0.9").backends)


def test_an_unready_endpoint_is_used_only_when_it_terminates_and_none_is_ready() -> None:
    web = service("s", "10.96.0.5")
    both = [endpoint("10.0.0.1"), endpoint("10.0.0.2", ready=False, terminating=True)]
    assert _addresses(web, [slice_of("s", both)]) == ["10.0.0.1"]
    assert _addresses(web, [slice_of("s", both[1:])]) == ["10.0.0.2"]
    old = NodeView(name="w1", release=(1, 25))
    assert _addresses(web, [slice_of("s", both[1:])], old) == []
    starting = [endpoint("10.0.0.3", ready=False, serving=False)]
    assert _addresses(web, [slice_of("s", starting)]) == []


def test_conditions_that_are_not_set_mean_ready() -> None:
    assert _addresses(service("s", "10.96.0.5"), [slice_of("s", [{"addresses": ["10.0.0.1"]}])]) == ["10.0.0.1"]


def test_publish_not_ready_addresses_comes_as_ready_and_terminating() -> None:
    web = service("s", "10.96.0.5", publishNotReadyAddresses=True)
    assert _addresses(web, [slice_of("s", [endpoint("10.0.0.1", terminating=True)])]) == ["10.0.0.1"]


def test_zone_hints_count_only_if_every_ready_endpoint_has_one_and_one_is_here() -> None:
    web = service("s", "10.96.0.5", trafficDistribution="PreferClose")
    near = endpoint("10.0.0.1", hints={"forZones": [{"name": "a"}]})
    far = endpoint("10.0.0.2", hints={"forZones": [{"name": "b"}]})
    assert _addresses(web, [slice_of("s", [near, far])]) == ["10.0.0.1"]
    assert _addresses(web, [slice_of("s", [near, endpoint("10.0.0.3")])]) == ["10.0.0.1", "10.0.0.3"]
    elsewhere = NodeView(name="w1", zone="c")
    assert _addresses(web, [slice_of("s", [near, far])], elsewhere) == ["10.0.0.1", "10.0.0.2"]
    nowhere = NodeView(name="w1")
    assert _addresses(web, [slice_of("s", [near, far])], nowhere) == ["10.0.0.1", "10.0.0.2"]


def test_node_hints_come_before_zone_hints_from_1_34_on() -> None:
    web = service("s", "10.96.0.5", trafficDistribution="PreferSameNode")
    here = endpoint("10.0.0.1", hints={"forNodes": [{"name": "w1"}], "forZones": [{"name": "a"}]})
    near = endpoint("10.0.0.2", "w2", hints={"forNodes": [{"name": "w2"}], "forZones": [{"name": "a"}]})
    assert _addresses(web, [slice_of("s", [here, near])]) == ["10.0.0.1"]
    older = NodeView(name="w1", zone="a", release=(1, 33))
    assert _addresses(web, [slice_of("s", [here, near])], older) == ["10.0.0.1", "10.0.0.2"]


def test_before_1_31_hints_need_the_service_s_word() -> None:
    hinted = [
        endpoint("10.0.0.1", hints={"forZones": [{"name": "a"}]}),
        endpoint("10.0.0.2", hints={"forZones": [{"name": "b"}]}),
    ]
    node = NodeView(name="w1", zone="a", release=(1, 28))
    assert len(_addresses(service("s", "10.96.0.5"), [slice_of("s", hinted)], node)) == 2
    asked = service("s", "10.96.0.5", annotations={"service.kubernetes.io/topology-mode": "Auto"})
    assert _addresses(asked, [slice_of("s", hinted)], node) == ["10.0.0.1"]


def test_the_terminating_fallback_takes_no_heed_of_hints() -> None:
    web = service("s", "10.96.0.5")
    leaving = [
        endpoint("10.0.0.1", ready=False, terminating=True, hints={"forZones": [{"name": "a"}]}),
        endpoint("10.0.0.2", ready=False, terminating=True, hints={"forZones": [{"name": "b"}]}),
    ]
    assert _addresses(web, [slice_of("s", leaving)]) == ["10.0.0.1", "10.0.0.2"]


def test_slice_ports_are_joined_by_name_and_protocol() -> None:
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
    ]
    web = service("s", "10.96.0.5", ports)
    slices = [
        slice_of("s", [endpoint("10.0.0.1")], [{"name": "dns", "port": 5353, "protocol": "UDP"}], name="s-a"),
        slice_of("s", [endpoint("10.0.0.2")], [{"name": "dns-tcp", "port": 5354, "protocol": "TCP"}], name="s-b"),
    ]
    found = {item.frontend: item.cluster for item in expected(web, slices, NODE)}
    assert found == {
        Frontend("10.96.0.5", "UDP", 53): (Backend("10.0.0.1", 5353),),
        Frontend("10.96.0.5", "TCP", 53): (Backend("10.0.0.2", 5354),),
    }


def test_a_slice_without_a_port_number_serves_nobody() -> None:
    web = service("s", "10.96.0.5")
    (item,) = expected(web, [slice_of("s", [endpoint("10.0.0.1")], [{"name": "p80", "protocol": "TCP"}])], NODE)
    assert not item.any
    (item,) = expected(web, [slice_of("s", [endpoint("10.0.0.1")], [])], NODE)
    assert not item.any


def test_an_address_listed_twice_counts_once_and_the_ready_one_wins() -> None:
    web = service("s", "10.96.0.5")
    gone = endpoint("10.0.0.1", ready=False, serving=False, terminating=True, targetRef={"kind": "Pod", "name": "old"})
    new = endpoint("10.0.0.1", targetRef={"kind": "Pod", "name": "new"})
    for order in ([gone, new], [new, gone]):
        (item,) = expected(web, [slice_of("s", order)], NODE)
        assert [view.pod for view in item.endpoints] == ["new"]
        assert item.cluster == (Backend("10.0.0.1", 80),)


def test_the_same_address_with_two_ports_is_two_backends() -> None:
    slices = [
        slice_of("s", [endpoint("10.0.0.1")], [{"name": "p80", "port": 8080, "protocol": "TCP"}], name="s-a"),
        slice_of("s", [endpoint("10.0.0.1")], [{"name": "p80", "port": 8081, "protocol": "TCP"}], name="s-b"),
    ]
    (item,) = expected(service("s", "10.96.0.5"), slices, NODE)
    assert item.cluster == (Backend("10.0.0.1", 8080), Backend("10.0.0.1", 8081))


@pytest.mark.parametrize(
    "web",
    [
        service("s", "None"),
        service("s", "", type="ExternalName", externalName="example.org"),
        service("s", "10.96.0.5", labels={"service.kubernetes.io/service-proxy-name": "other"}),
        service("s", "10.96.0.5", labels={"service.kubernetes.io/headless": ""}),
    ],
)
def test_some_services_are_not_for_kube_proxy(web: Any) -> None:
    assert expected(web, [slice_of("s", [endpoint("10.0.0.1")])], NODE) == ()


def test_slices_of_a_headless_service_are_not_watched() -> None:
    headless = slice_of("s", [endpoint("10.0.0.1")], labels={"service.kubernetes.io/headless": ""})
    (item,) = expected(service("s", "10.96.0.5"), [headless], NODE)
    assert not item.any


def test_both_families_have_their_own_frontends_and_endpoints() -> None:
    web = service(
        "s",
        "10.96.0.5",
        [{"name": "p80", "port": 80, "protocol": "TCP", "nodePort": 30080}],
        type="LoadBalancer",
        clusterIPs=["10.96.0.5", "fd00:10:96:0::5"],
        ingress=[{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}],
        loadBalancerSourceRanges=["203.0.113.0/24"],
    )
    slices = [
        slice_of("s", [endpoint("10.0.0.1")]),
        slice_of("s", [endpoint("fd00::0001")], name="s-6", address_type="IPv6"),
    ]
    found = {str(item.frontend): item for item in expected(web, slices, NODE)}
    assert set(found) == {
        "10.96.0.5:80/tcp",
        "192.0.2.1:80/tcp",
        "0.0.0.0:30080/tcp",
        "[fd00:10:96::5]:80/tcp",
        "[2001:db8::1]:80/tcp",
        "[::]:30080/tcp",
    }
    assert found["[fd00:10:96::5]:80/tcp"].cluster == (Backend("fd00::1", 80),)
    assert found["192.0.2.1:80/tcp"].source_ranges == ("203.0.113.0/24",)
    assert found["[2001:db8::1]:80/tcp"].source_ranges == ()
    assert found["0.0.0.0:30080/tcp"].source_ranges == ()


def test_ip_mode_proxy_leaves_the_load_balancer_s_address_alone() -> None:
    web = service("s", "10.96.0.5", type="LoadBalancer", ingress=[{"ip": "192.0.2.1", "ipMode": "Proxy"}])
    assert {item.kind for item in expected(web, [slice_of("s", [endpoint("10.0.0.1")])], NODE)} == {"cluster-ip"}
    vip = service("s", "10.96.0.5", type="LoadBalancer", ingress=[{"ip": "192.0.2.1", "ipMode": "VIP"}])
    kinds = {item.kind for item in expected(vip, [slice_of("s", [endpoint("10.0.0.1")])], NODE)}
    assert kinds == {"cluster-ip", "load-balancer"}


def test_policy_local_short_circuits_pods_and_the_node() -> None:
    web = service(
        "s",
        "10.96.0.5",
        [{"name": "p80", "port": 80, "protocol": "TCP", "nodePort": 30080}],
        type="NodePort",
        externalTrafficPolicy="Local",
    )
    slices = [slice_of("s", [endpoint("10.0.0.1", "w2")])]
    (item,) = [item for item in expected(web, slices, NODE) if item.kind == "node-port"]
    assert item.for_packet(TrafficOrigin.EXTERNAL, "203.0.113.1").verdict is PacketVerdict.DROP
    assert item.for_packet(TrafficOrigin.POD, "10.0.0.9").backends == (Backend("10.0.0.1", 80),)
    assert item.for_packet(TrafficOrigin.NODE, "192.168.0.2").masquerade is True
    assert item.for_packet(TrafficOrigin.POD, "10.0.0.9", pods_told=False).verdict is PacketVerdict.DROP


def test_source_ranges_admit_by_address_whoever_sends() -> None:
    web = service(
        "s",
        "10.96.0.5",
        type="LoadBalancer",
        ingress=[{"ip": "192.0.2.1"}],
        loadBalancerSourceRanges=["203.0.113.0/25", " 198.51.100.0/24"],
    )
    (item,) = [
        item for item in expected(web, [slice_of("s", [endpoint("10.0.0.1")])], NODE) if item.kind == "load-balancer"
    ]
    verdicts = [
        item.for_packet(TrafficOrigin.EXTERNAL, source).verdict
        for source in ("203.0.113.1", "203.0.113.200", "198.51.100.7")
    ]
    assert verdicts == [PacketVerdict.BACKENDS, PacketVerdict.DROP, PacketVerdict.BACKENDS]
    assert item.for_packet(TrafficOrigin.POD, "10.0.0.9").verdict is PacketVerdict.DROP
