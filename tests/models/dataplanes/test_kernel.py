"""Kernel settings: what each means, and only for the data plane it concerns."""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.node import HairpinModes, Sysctls
from svcpath.models.dataplanes import Dialect, kernel
from svcpath.models.dataplanes.kernel import Weight


def _weights(values: dict[str, str], dialect: Dialect = Dialect.IPVS, bridged: bool = False) -> dict[str, Weight]:
    return {item.key: item.weight for item in kernel.judge(Sysctls(values), dialect, bridged=bridged)}


@pytest.mark.parametrize(
    ("values", "weight"),
    [
        ({"net.ipv4.vs.conn_reuse_mode": "1", "kernel.osrelease": "4.19.0-26-amd64"}, Weight.DELAYS),
        ({"net.ipv4.vs.conn_reuse_mode": "1", "kernel.osrelease": "5.9.0"}, Weight.FINE),
        ({"net.ipv4.vs.conn_reuse_mode": "1", "kernel.osrelease": "5.10.0"}, Weight.FINE),
        ({"net.ipv4.vs.conn_reuse_mode": "1"}, Weight.RISK),
        ({"net.ipv4.vs.conn_reuse_mode": "0", "kernel.osrelease": "4.19.0"}, Weight.FINE),
        ({"net.ipv4.vs.conn_reuse_mode": "0", "kernel.osrelease": "6.1.0"}, Weight.RISK),
        (
            {
                "net.ipv4.vs.conn_reuse_mode": "1",
                "kernel.osrelease": "4.19.0",
                "net.ipv4.vs.conntrack": "0",
            },
            Weight.FINE,
        ),
    ],
)
def test_reuse_of_connections_depends_on_the_kernel(values: dict[str, str], weight: Weight) -> None:
    assert _weights(values)["net.ipv4.vs.conn_reuse_mode"] is weight
    assert "net.ipv4.vs.conn_reuse_mode" not in _weights(values, Dialect.IPTABLES)


def test_a_node_that_does_not_forward_breaks_services_of_any_mode() -> None:
    for dialect in Dialect:
        assert _weights({"net.ipv4.ip_forward": "0"}, dialect)["net.ipv4.ip_forward"] is Weight.BREAKS
        assert _weights({"net.ipv4.ip_forward": "1"}, dialect)["net.ipv4.ip_forward"] is Weight.FINE


def test_the_stricter_of_two_reverse_path_filters_counts() -> None:
    found = _weights({"net.ipv4.conf.all.rp_filter": "1", "net.ipv4.conf.eth0.rp_filter": "2"}, Dialect.NFTABLES)
    assert found["net.ipv4.conf.eth0.rp_filter"] is Weight.FINE
    found = _weights({"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.eth0.rp_filter": "1"}, Dialect.NFTABLES)
    assert found["net.ipv4.conf.eth0.rp_filter"] is Weight.RISK
    assert found["net.ipv4.conf.all.rp_filter"] is Weight.FINE


@pytest.mark.parametrize(
    ("count", "weight"),
    [
        ("100", Weight.FINE),
        ("96000", Weight.RISK),
        ("99800", Weight.RISK),
        ("99950", Weight.BREAKS),
        ("100000", Weight.BREAKS),
    ],
)
def test_a_full_conntrack_table_drops(count: str, weight: Weight) -> None:
    values = {"net.netfilter.nf_conntrack_max": "100000", "net.netfilter.nf_conntrack_count": count}
    assert _weights(values)["net.netfilter.nf_conntrack_count"] is weight


def test_bridged_packets_must_pass_netfilter_where_there_is_a_bridge() -> None:
    values = {"net.bridge.bridge-nf-call-iptables": "0"}
    assert not _weights(values)
    assert _weights(values, bridged=True)["net.bridge.bridge-nf-call-iptables"] is Weight.BREAKS


def test_settings_that_are_not_given_are_not_judged() -> None:
    assert not kernel.judge(Sysctls({}), Dialect.IPVS)
    assert not kernel.judge(Sysctls({"net.netfilter.nf_conntrack_max": "many"}), Dialect.IPVS)


def test_hairpin_is_asked_of_each_port() -> None:
    modes = [HairpinModes({"veth1": True, "veth2": False}), HairpinModes({"veth3": True})]
    assert kernel.without_hairpin(modes) == ("veth2",)
    assert kernel.kernel_release(["", "6.1.0-18-amd64"]) == (6, 1)
