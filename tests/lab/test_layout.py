"""Addresses of a lab: computed, distinct, in the family's order."""

from __future__ import annotations

import ipaddress

import pytest
import yaml

from svcpath.errors import UsageError
from svcpath_lab.netns import configs
from svcpath_lab.netns.layout import FAMILIES, MAX_NODES, layout, url_host


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("count", [1, 3, MAX_NODES])
def test_every_node_has_its_own_address_and_pod_range_in_each_family(family: str, count: int) -> None:
    plan = layout(count, family)
    for index, version in enumerate(FAMILIES[family]):
        addresses = [node.addresses[index] for node in plan.nodes]
        ranges = [node.pod_ranges[index] for node in plan.nodes]
        assert {address.version for address in addresses} == {version}
        assert len({*addresses, plan.gateway[index]}) == count + 1
        assert len(set(ranges)) == count
        for network in ranges:
            whole = plan.pod_ranges[index]
            assert network.supernet(new_prefix=whole.prefixlen) == whole
        assert plan.service_ranges[index].version == version


def test_the_first_node_is_the_control_plane_and_takes_pods_only_when_alone() -> None:
    assert [node.name for node in layout(3, "ipv4").workers] == ["w1", "w2"]
    assert [node.name for node in layout(1, "ipv4").workers] == ["cp"]


def test_dns_is_the_tenth_service_address_of_the_first_family() -> None:
    assert layout(3, "ipv4").dns_address == ipaddress.ip_address("10.96.0.10")
    assert layout(3, "ipv6").dns_address == ipaddress.ip_address("fd00:96::a")
    assert layout(3, "dual").dns_address == ipaddress.ip_address("10.96.0.10")


@pytest.mark.parametrize(("count", "family"), [(0, "ipv4"), (MAX_NODES + 1, "ipv4"), (3, "ipv5")])
def test_a_layout_that_can_not_be_is_a_usage_error(count: int, family: str) -> None:
    with pytest.raises(UsageError):
        layout(count, family)


def test_an_unknown_node_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="cp, w1, w2"):
        layout(3, "ipv4").node("w3")


def test_ipv6_is_in_brackets_in_a_url() -> None:
    assert url_host(ipaddress.ip_address("fd00:30::b")) == "[fd00:30::b]"
    assert url_host(ipaddress.ip_address("172.30.0.11")) == "172.30.0.11"


def test_kube_proxys_configuration_names_the_mode_and_leaves_conntrack_alone() -> None:
    config = yaml.safe_load(configs.kube_proxy(layout(3, "dual"), "nftables"))
    assert config["mode"] == "nftables"
    assert config["clusterCIDR"] == "10.244.0.0/16,fd00:244::/56"
    assert config["conntrack"] == {"maxPerCore": 0, "tcpCloseWaitTimeout": "0s", "tcpEstablishedTimeout": "0s"}
