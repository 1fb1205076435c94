"""IPVS, Cilium and Calico: their listings, in text and JSON, as one table."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from svcpath.errors import FormatError
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import (
    Backend,
    DifferenceKind,
    Frontend,
    NodeView,
    Packet,
    PacketVerdict,
    ServiceTable,
    TrafficOrigin,
    cilium,
    drift,
    ipvs,
    parse,
    trace,
)
from tests.models.dataplanes.material import DATA, endpoint, service, slice_of


def _table(kind: Kind, text: str, addresses: frozenset[str] = frozenset()) -> ServiceTable:
    (table,) = parse(kind, text, node_addresses=addresses)
    return table


def test_proc_ip_vs_is_read_in_hex_in_both_families() -> None:
    table = _table(Kind.PROC_IP_VS, (DATA / "procfs" / "ip_vs").read_text())
    assert not table.not_understood
    first = trace(table, Packet("10.0.0.1", TrafficOrigin.POD, "TCP", "192.168.0.22", 3306))
    assert [str(share.backend) for share in first.backends] == [
        "192.168.82.22:3306",
        "192.168.83.24:3306",
        "192.168.83.21:3306",
    ]
    quiet = trace(table, Packet("10.0.0.1", TrafficOrigin.POD, "TCP", "192.168.0.57", 3306))
    assert Backend("192.168.84.22", 3306) not in quiet.addresses
    six = trace(table, Packet("2620::99", TrafficOrigin.POD, "TCP", "2620:0:0::1", 80))
    assert Backend("2620::2", 80) in six.addresses
    assert len(table.frontends) == 4


def test_weights_share_where_the_scheduler_weighs() -> None:
    text = "TCP  10.96.0.5:80 {0}\n  -> 10.0.0.1:8080 Masq 3 0 0\n  -> 10.0.0.2:8080 Masq 1 0 0\n"
    for scheduler, shares in (("wrr", [Fraction(3, 4), Fraction(1, 4)]), ("rr", [Fraction(1, 2), Fraction(1, 2)])):
        outcome = trace(
            _table(Kind.IPVSADM_LN, text.format(scheduler)),
            Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.0.5", 80),
        )
        assert [share.share for share in outcome.backends] == shares


def test_a_virtual_server_without_real_servers_refuses() -> None:
    table = _table(Kind.IPVSADM_LN, "TCP  10.96.0.5:80 rr\n")
    assert trace(table, Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.0.5", 80)).verdict is PacketVerdict.REJECT
    assert drift(table, [service("s", "10.96.0.5")], [slice_of("s", [])], NodeView(name="w1")).clean


def test_ipvs_drift_names_the_stale_the_missing_and_the_lost_affinity() -> None:
    web = service("s", "10.96.0.5", sessionAffinity="ClientIP")
    slices = [slice_of("s", [endpoint("10.0.0.1"), endpoint("10.0.0.2")])]
    text = "TCP  10.96.0.5:80 rr persistent 10800\n  -> 10.0.0.1:80 Masq 1 0 0\n  -> 10.0.0.2:80 Masq 1 0 0\n"
    node = NodeView(name="w1")
    assert drift(_table(Kind.IPVSADM_LN, text), [web], slices, node).clean
    changed = text.replace("10.0.0.2", "10.0.0.3").replace(" persistent 10800", "")
    rows = drift(_table(Kind.IPVSADM_LN, changed), [web], slices, node).rows
    assert {(row.kind, row.backend) for row in rows} == {
        (DifferenceKind.STALE, Backend("10.0.0.3", 80)),
        (DifferenceKind.MISSING, Backend("10.0.0.2", 80)),
        (DifferenceKind.AFFINITY_MISSING, None),
    }
    assert {row.rule for row in rows if row.kind is DifferenceKind.STALE} == {3}


def test_a_node_port_of_ipvs_stands_once_per_address_of_the_node() -> None:
    ports = [{"name": "p80", "port": 80, "protocol": "TCP", "nodePort": 30080}]
    web = service("s", "10.96.0.5", ports, type="NodePort")
    slices = [slice_of("s", [endpoint("10.0.0.1")])]
    text = "".join(
        f"TCP  {address} rr\n  -> 10.0.0.1:80 Masq 1 0 0\n"
        for address in ("10.96.0.5:80", "192.168.0.2:30080", "172.17.0.1:30080")
    )
    addresses = frozenset({"192.168.0.2"})
    report = drift(_table(Kind.IPVSADM_LN, text, addresses), [web], slices, NodeView(name="w1", addresses=addresses))
    assert report.clean


def test_sets_of_ipset_are_read_from_both_of_its_outputs() -> None:
    listed = "Name: KUBE-CLUSTER-IP\nType: hash:ip,port\nMembers:\n10.96.0.10,udp:53\n10.96.0.1,tcp:443\n"
    saved = (
        "create KUBE-CLUSTER-IP hash:ip,port family inet\nadd KUBE-CLUSTER-IP 10.96.0.10,udp:53\n"
        "add KUBE-CLUSTER-IP 10.96.0.1,tcp:443\n"
    )
    assert ipvs.ipsets(listed) == ipvs.ipsets(saved)
    found = list(ipvs.ipset_frontends(ipvs.ipsets(listed), "KUBE-CLUSTER-IP"))
    assert found == [Frontend("10.96.0.1", "TCP", 443), Frontend("10.96.0.10", "UDP", 53)]
    with pytest.raises(FormatError):
        ipvs.ipsets("nothing")


LIST = """ID   Frontend                Service Type   Backend
1    10.96.0.1:443/TCP       ClusterIP      1 => 172.18.0.2:6443/TCP (active)
2    10.96.0.10:53/UDP       ClusterIP      1 => 10.0.0.29:53/UDP (active)
                                            2 => 10.0.0.79:53/UDP (terminating)
3    [fd00:10:96::a]:80      ClusterIP      1 => [fd00::1]:8080 (active)
4    0.0.0.0:30080/TCP       NodePort       1 => 10.0.0.1:8080/TCP (active)
5    10.96.0.77:80/TCP       ClusterIP
"""


def test_cilium_s_list_in_text() -> None:
    table = _table(Kind.CILIUM_SERVICE_LIST, LIST)
    assert not table.not_understood
    assert {str(frontend) for frontend in table.frontends} == {
        "10.96.0.1:443/tcp",
        "10.96.0.10:53/udp",
        "[fd00:10:96::a]:80/tcp",
        "0.0.0.0:30080/tcp",
        "10.96.0.77:80/tcp",
    }
    dns = trace(table, Packet("10.0.0.9", TrafficOrigin.POD, "UDP", "10.96.0.10", 53))
    assert dns.addresses == (Backend("10.0.0.29", 53),)
    assert trace(table, Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.0.77", 80)).verdict is PacketVerdict.REJECT


def test_cilium_s_list_in_json_is_the_same_table() -> None:
    def address(text: str, protocol: str = "TCP") -> dict[str, object]:
        host, _, port = text.rpartition(":")
        return {"ip": host.strip("[]"), "port": int(port), "protocol": protocol}

    def entry(front: dict[str, object], backends: list[tuple[str, str]], **flags: str) -> dict[str, object]:
        addresses = [{**address(text, str(front["protocol"])), "state": state} for text, state in backends]
        return {
            "spec": {},
            "status": {"realized": {"frontend-address": front, "backend-addresses": addresses, "flags": flags}},
        }

    document = [
        entry(address("10.96.0.1:443"), [("172.18.0.2:6443", "active")], name="kubernetes", namespace="default"),
        entry(address("10.96.0.10:53", "UDP"), [("10.0.0.29:53", "active"), ("10.0.0.79:53", "terminating")]),
        entry(address("[fd00:10:96::a]:80"), [("[fd00::1]:8080", "active")]),
        entry(address("0.0.0.0:30080"), [("10.0.0.1:8080", "active")]),
        entry(address("10.96.0.77:80"), []),
    ]
    text, from_json = _table(Kind.CILIUM_SERVICE_LIST, LIST), _table(Kind.CILIUM_SERVICE_LIST, json.dumps(document))
    assert set(text.frontends) == set(from_json.frontends)
    for frontend in text.frontends:
        packet = Packet("10.0.0.9", TrafficOrigin.POD, frontend.protocol, frontend.address, frontend.port)
        assert trace(text, packet).addresses == trace(from_json, packet).addresses
    assert from_json.frontends[Frontend("10.96.0.1", "TCP", 443)].service == "default/kubernetes"


MAPS = (
    """SERVICE ADDRESS          BACKEND ADDRESS (REVNAT_ID) (SLOT)
10.96.184.22:80/TCP      0.0.0.0:0 (9) (0) [ClusterIP, non-routable]
                         10.244.1.201:8080/TCP (9) (1)
                         10.244.2.31:8080/TCP (9) (2)
""",
    """SERVICE ADDRESS               BACKEND ADDRESS (REVNAT_ID) (SLOT)
10.96.184.22:80/TCP (0)    0.0.0.0:0 (9) (0) [ClusterIP, non-routable]
10.96.184.22:80/TCP (1)    10.244.1.201:8080/TCP (9) (1)
10.96.184.22:80/TCP (2)    10.244.2.31:8080/TCP (9) (2)
""",
    json.dumps(
        {
            "10.96.184.22:80/TCP (0)": ["0.0.0.0:0 (9) (0) [ClusterIP, non-routable]"],
            "10.96.184.22:80/TCP (1)": ["10.244.1.201:8080/TCP (9) (1)"],
            "10.96.184.22:80/TCP (2)": ["10.244.2.31:8080/TCP (9) (2)"],
        }
    ),
    json.dumps(
        {
            "10.96.184.22:80": [
                "10.244.1.201:8080 (9) (1)",
                "0.0.0.0:0 (9) (0) [ClusterIP, non-routable]",
                "10.244.2.31:8080 (9) (2)",
            ]
        }
    ),
)


@pytest.mark.parametrize("text", MAPS)
def test_cilium_s_map_in_each_of_its_layouts(text: str) -> None:
    table = _table(Kind.CILIUM_BPF_LB_LIST, text)
    assert not table.not_understood
    outcome = trace(table, Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.184.22", 80))
    assert outcome.addresses == (Backend("10.244.1.201", 8080), Backend("10.244.2.31", 8080))
    entry = table.frontends[Frontend("10.96.184.22", "TCP", 80)]
    assert entry.kind == "ClusterIP"
    assert entry.facts["rev_nat"] == 9


def test_a_slot_beyond_the_count_takes_no_new_connection_and_a_lost_backend_drops() -> None:
    text = MAPS[1] + "10.96.184.22:80/TCP (0)    0 1[1] (9) [0x0 0x0]\n"
    outcome = trace(
        _table(Kind.CILIUM_BPF_LB_LIST, text), Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.184.22", 80)
    )
    assert outcome.addresses == (Backend("10.244.1.201", 8080),)
    lost = MAPS[0].replace("10.244.2.31:8080/TCP (9) (2)", "backend 412 not found")
    outcome = trace(
        _table(Kind.CILIUM_BPF_LB_LIST, lost), Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.184.22", 80)
    )
    assert outcome.other == ((PacketVerdict.DROP, Fraction(1, 2)),)


def test_backend_ids_in_text_and_json() -> None:
    text = "ID    BACKEND ADDRESS\n501   tcp://10.196.158.2:8443\n502   ANY://[fd00::1]:80\n"
    backends, bad = cilium.backends(text)
    assert backends == {501: Backend("10.196.158.2", 8443), 502: Backend("fd00::1", 80)}
    assert not bad
    assert (
        cilium.backends(json.dumps({"501": ["tcp://10.196.158.2:8443"], "502": ["ANY://[fd00::1]:80"]}))[0] == backends
    )


GROUPED = """10.96.77.14 port 80 proto 6 id 29 count 2 local 1
255.255.255.255 port 30080 proto 6 id 29 count 2 local 1 flags external-local
192.0.2.9 port 80 proto 6 id 29 count 2 local 1 src 203.0.113.0/24
\t29:0\t 10.244.1.71:80
\t29:1\t 10.244.9.62:80
10.96.77.15 port 53 proto 17 id 30 count 0 local 0
10.96.77.16 port 80 proto 6 id 31 count -1 local 0
10.96.77.17 port 80 proto 6 id 32 count 2 local 0
\t32:0\t [fd00::5]:80
\t32:1\t is missing
"""


def test_calico_s_grouped_layout_black_holes_and_missing_backends() -> None:
    table = _table(Kind.CALICO_NAT_DUMP, GROUPED, frozenset({"192.168.0.2"}))
    assert not table.not_understood

    def verdict(
        address: str, port: int, origin: TrafficOrigin = TrafficOrigin.POD, protocol: str = "TCP"
    ) -> tuple[PacketVerdict, int]:
        outcome = trace(table, Packet("10.0.0.9", origin, protocol, address, port))
        return outcome.verdict, len(outcome.backends)

    assert verdict("10.96.77.14", 80) == (PacketVerdict.BACKENDS, 2)
    assert verdict("192.168.0.2", 30080) == (PacketVerdict.BACKENDS, 2)
    assert verdict("192.168.0.2", 30080, TrafficOrigin.EXTERNAL) == (PacketVerdict.BACKENDS, 1)
    assert verdict("10.96.77.15", 53, protocol="UDP") == (PacketVerdict.REJECT, 0)
    assert verdict("10.96.77.16", 80) == (PacketVerdict.DROP, 0)
    assert table.frontends[Frontend("192.0.2.9", "TCP", 80)].facts["sources"] == ("203.0.113.0/24",)
    half = trace(table, Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.77.17", 80))
    assert half.other == ((PacketVerdict.DROP, Fraction(1, 2)),)


def test_calico_s_dump_as_json_is_the_same_table() -> None:
    document = [
        {
            "addr": "10.96.77.14",
            "port": 80,
            "proto": 6,
            "id": 29,
            "count": 2,
            "local": 1,
            "backends": [{"addr": "10.244.1.71", "port": 80}, "10.244.9.62:80"],
        }
    ]
    table = _table(Kind.CALICO_NAT_DUMP, json.dumps(document))
    outcome = trace(table, Packet("10.0.0.9", TrafficOrigin.POD, "TCP", "10.96.77.14", 80))
    assert outcome.addresses == (Backend("10.244.1.71", 80), Backend("10.244.9.62", 80))


def test_a_line_that_is_not_understood_keeps_drift_undecided() -> None:
    slices = [slice_of("s", [endpoint("10.0.0.1")])]
    text = "TCP  10.96.0.5:80 rr\n  -> 10.0.0.1:80 Masq 1 0 0\n  -> 10.0.0.2 broken\n"
    table = _table(Kind.IPVSADM_LN, text)
    (item,) = table.not_understood
    assert item.line == 3
    assert not drift(table, [service("s", "10.96.0.5")], slices, NodeView(name="w1")).decided
