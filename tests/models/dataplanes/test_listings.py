"""The same map in every listing that its tool has: ipvsadm's switches, Calico's JSON and flags, Cilium's maps."""

from __future__ import annotations

import json

import pytest

from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import RawText
from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.recognise import recognise
from svcpath.models.dataplanes import (
    Backend,
    DifferenceKind,
    DriftReport,
    Frontend,
    NodeView,
    Packet,
    PacketOutcome,
    PacketVerdict,
    ServiceTable,
    TrafficOrigin,
    drift,
    ipvs,
    parse,
    trace,
)
from svcpath.models.dataplanes.conntrack import pinned
from tests.models.dataplanes.material import endpoint, service, slice_of

NODE = NodeView(name="w1", addresses=frozenset({"192.168.10.4"}))
BOTH = (Backend("10.244.1.80", 8080), Backend("10.244.2.80", 8080))
PORTS = [{"name": "p80", "port": 80, "protocol": "TCP", "targetPort": 8080}]
SLICE = slice_of(
    "web",
    [endpoint("10.244.1.80"), endpoint("10.244.2.80", node="w2")],
    [{"name": "p80", "port": 8080, "protocol": "TCP"}],
)


def _kinds(text: str) -> list[Kind]:
    return [item.kind for item in recognise(text.encode()) if isinstance(item, Item) and item.kind is not None]


def _recognised(text: str) -> ServiceTable:
    """By the way a file takes: recognised by its words, then parsed."""
    (kind,) = _kinds(text)
    (table,) = parse(kind, text, node="w1", node_addresses=NODE.addresses)
    return table


def _outcome(
    table: ServiceTable,
    origin: TrafficOrigin = TrafficOrigin.POD,
    source: str = "10.244.1.7",
    address: str = "10.96.40.80",
) -> PacketOutcome:
    return trace(table, Packet(source, origin, "TCP", address, 80))


def _drift(table: ServiceTable, web: Service | None = None) -> DriftReport:
    return drift(table, [web or service("web", "10.96.40.80", PORTS)], [SLICE], NODE)


VERSION = "IP Virtual Server version 1.2.1 (size=4096)\n"
STATS = """Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes
  -> RemoteAddress:Port
TCP  10.96.40.80:80                    101      606        0    40097        0
  -> 10.244.1.80:8080                   50       1K        0    19850        0
  -> 10.244.2.80:8080                   51        0        0    20247        0
"""
RATE = STATS.replace("Conns   InPkts  OutPkts  InBytes OutBytes", "CPS    InPPS   OutPPS    InBPS   OutBPS")
THRESHOLDS = """Prot LocalAddress:Port            Uthreshold Lthreshold ActiveConn InActConn
  -> RemoteAddress:Port
TCP  10.96.40.80:80 rr
  -> 10.244.1.80:8080             0          0          3          1
  -> 10.244.2.80:8080             0          0          2          1
"""


@pytest.mark.parametrize(("listing", "switch"), [(STATS, "--stats"), (RATE, "--rate"), (THRESHOLDS, "--thresholds")])
def test_a_listing_without_weights_accuses_nobody_and_says_what_to_give(listing: str, switch: str) -> None:
    table = _recognised(VERSION + listing)
    outcome = _outcome(table)
    assert outcome.addresses == BOTH
    assert outcome.undecided
    report = _drift(table)
    assert not report.rows
    assert [line.line for line in report.undecided] == [2]
    assert switch in report.undecided[0].text


def test_the_listing_of_persistent_connections_has_its_weights_in_another_column() -> None:
    text = VERSION + THRESHOLDS.replace("Uthreshold Lthreshold ", "Weight    PersistConn ")
    table = _recognised(text.replace("80             0 ", "80             1 "))
    assert _drift(table).clean
    assert _outcome(table).addresses == BOTH
    drained = _recognised(text.replace(".1.80:8080             0 ", ".1.80:8080             1 "))
    assert [(row.kind, row.backend) for row in _drift(drained).rows] == [(DifferenceKind.MISSING, BOTH[1])]


def test_what_ipvsadm_saves_is_the_table_it_lists() -> None:
    text = (
        "-A -t 10.96.40.80:80 -s wrr -p 600\n-a -t 10.96.40.80:80 -r 10.244.1.80:8080 -m -w 3\n"
        "-a -t 10.96.40.80:80 -r 10.244.2.80:8080 -m -w 1\n-A -f 7 -s rr\n-a -f 7 -r 10.9.9.9:0 -g -w 1\n"
        "-A -u [fd00::a]:53 -s rr\n"
    )
    table = _recognised(text)
    assert not table.not_understood
    assert [(str(backend.backend), backend.share.as_integer_ratio()) for backend in _outcome(table).backends] == [
        ("10.244.1.80:8080", (3, 4)),
        ("10.244.2.80:8080", (1, 4)),
    ]
    assert _outcome(table).affinity == 600
    assert set(table.frontends) == {Frontend("10.96.40.80", "TCP", 80), Frontend("fd00::a", "UDP", 53)}


def test_ipvs_lists_both_families_so_that_a_missing_one_is_missing() -> None:
    text = VERSION + "TCP  10.96.40.80:80 rr\n  -> 10.244.1.80:8080 Masq 1 0 0\n  -> 10.244.2.80:8080 Masq 1 0 0\n"
    both = service("web", "10.96.40.80", PORTS, clusterIPs=["10.96.40.80", "fd00:10:96::80"])
    six = slice_of(
        "web",
        [endpoint("fd00:244::80")],
        [{"name": "p80", "port": 8080, "protocol": "TCP"}],
        name="web-6",
        address_type="IPv6",
    )
    missing = drift(_recognised(text), [both], [SLICE, six], NODE)
    assert [(row.kind, str(row.frontend)) for row in missing.rows] == [
        (DifferenceKind.FRONTEND_MISSING, "[fd00:10:96::80]:80/tcp")
    ]
    whole = text + "TCP  [fd00:10:96::80]:80 rr\n  -> [fd00:244::80]:8080 Masq 1 0 0\n"
    assert drift(_recognised(whole), [both], [SLICE, six], NODE).clean


def test_a_server_whose_weight_is_not_told_pins_nobody() -> None:
    text = "TCP 179:12 ASSURED 10.244.3.9:0 10.96.40.80:80 10.244.2.80:8080\n"
    templates, _ = ipvs.connections("IPVS connection entries\n" + text)
    assert pinned(templates, _recognised(VERSION + STATS)) == ()
    drained = "TCP  10.96.40.80:80 rr persistent 10800\n  -> 10.244.2.80:8080 Masq 0 1 0\n"
    assert [connection.weight for connection in pinned(templates, _recognised(VERSION + drained))] == [0]


def test_a_line_that_was_not_understood_leaves_its_frontend_alone_undecided() -> None:
    text = VERSION + (
        "TCP  10.96.40.80:80 rr\n  -> 10.244.1.80:8080 Masq 1 0 0\n  -> 10.244.2.80 broken\n"
        "TCP  10.96.40.81:80 rr\n  -> 10.244.1.80:8080 Masq 1 0 0\n"
    )
    table = _recognised(text)
    services = [service("web", "10.96.40.80", PORTS), service("other", "10.96.40.81", PORTS)]
    other = slice_of("other", [endpoint("10.244.9.9")], [{"name": "p80", "port": 8080, "protocol": "TCP"}])
    report = drift(table, services, [SLICE, other], NODE)
    assert {row.service for row in report.rows} == {"ns/other:p80"}
    assert [line.line for line in report.undecided] == [4]


FRONT = {"addr": "10.96.40.80", "port": 80, "proto": 6, "id": 29, "count": 2, "local": 1}
BACKENDS = [{"addr": "10.244.1.80", "port": 8080}, {"addr": "10.244.2.80", "port": 8080}]


@pytest.mark.parametrize(
    "document",
    [
        [{"frontend": FRONT, "backends": BACKENDS}],
        [{"id": 29, "frontends": [FRONT, {**FRONT, "addr": "255.255.255.255", "port": 30080}], "backends": BACKENDS}],
    ],
)
def test_calico_s_own_json_is_read_flat_and_by_service(document: list[object]) -> None:
    table = _recognised(json.dumps(document))
    assert not table.not_understood
    assert _outcome(table).addresses == BOTH


def test_a_backend_that_calico_s_json_calls_missing_loses_its_part() -> None:
    document = [{"frontend": FRONT, "backends": [BACKENDS[0], {"addr": "missing", "port": 0}]}]
    (row,) = _drift(_recognised(json.dumps(document))).rows
    assert (row.kind, row.backend) == (DifferenceKind.MISSING, BOTH[1])


HEAD = "10.96.40.80 port 80 proto 6 id 29 count 2 local 1"
SLOTS = "\t29:0\t 10.244.1.80:8080\n\t29:1\t 10.244.2.80:8080\n"


@pytest.mark.parametrize("flags", [", internal-local", "external-local, internal-local", "internal-local"])
def test_calico_puts_a_comma_for_every_bit_that_it_passes(flags: str) -> None:
    table = _recognised(f"{HEAD} flags {flags}\n{SLOTS}")
    assert _outcome(table).addresses == BOTH[:1]
    assert _drift(table, service("web", "10.96.40.80", PORTS, internalTrafficPolicy="Local")).clean


def test_a_flag_of_calico_that_is_not_known_leaves_the_frontend_undecided() -> None:
    report = _drift(_recognised(f"{HEAD} flags mirrored\n{SLOTS}"))
    assert not report.rows
    assert "mirrored" in report.undecided[0].text


def test_what_kubectl_and_calico_log_before_a_dump_is_no_part_of_it() -> None:
    text = (
        'Defaulted container "calico-node" out of: calico-node, install-cni (init)\n'
        "2021-05-10 11:05:45.649 [INFO][3708] confd/maps.go 313: Loaded map file descriptor. fd=0x7\n"
        f"{HEAD}\n{SLOTS}"
    )
    (item,) = recognise(text.encode())
    assert isinstance(item, Item)
    assert item.kind is Kind.CALICO_NAT_DUMP
    assert isinstance(item.value, RawText)
    (table,) = parse(Kind.CALICO_NAT_DUMP, item.value.text)
    assert not table.not_understood
    assert table.frontends[Frontend("10.96.40.80", "TCP", 80)].lines == (3, 4, 5)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_calico_admits_source_ranges_by_entries_of_their_own_in_any_order(order: tuple[int, ...]) -> None:
    entries = [
        "192.0.2.50 port 80 proto 6 id 29 count -1 local 0\n",
        f"192.0.2.50 port 80 proto 6 id 29 count 2 local 1 src 203.0.113.0/24\n{SLOTS}",
        f"192.0.2.50 port 80 proto 6 id 29 count 2 local 1 src 198.18.0.0/15\n{SLOTS}",
    ]
    web = service(
        "web",
        "10.96.40.80",
        PORTS,
        type="LoadBalancer",
        ingress=[{"ip": "192.0.2.50"}],
        loadBalancerSourceRanges=["203.0.113.0/24", "198.18.0.0/15"],
    )
    table = _recognised("".join(entries[place] for place in order) + f"{HEAD}\n{SLOTS}")
    assert _outcome(table, TrafficOrigin.EXTERNAL, "203.0.113.9", "192.0.2.50").addresses == BOTH
    assert _outcome(table, TrafficOrigin.EXTERNAL, "198.51.100.9", "192.0.2.50").verdict is PacketVerdict.DROP
    assert _drift(table, web).clean
    opened = _recognised(f"{HEAD}\n{SLOTS}{HEAD.replace('10.96.40.80', '192.0.2.50')}\n")
    assert {row.kind for row in _drift(opened, web).rows} == {DifferenceKind.SOURCE_RANGE_OPEN}


def test_cilium_s_frontend_map_names_ids_and_not_addresses_so_nothing_is_accused() -> None:
    text = (
        "SERVICE ADDRESS          BACKEND ID\n10.96.40.80:80/TCP (0)   0 2[0] (4) [ClusterIP, non-routable]\n"
        "10.96.40.80:80/TCP (1)   501 0[0] (4) [ClusterIP, non-routable]\n"
        "10.96.40.81:80/TCP (0)   0 0[0] (5) [ClusterIP, non-routable]\n"
    )
    table = _recognised(text)
    report = _drift(table)
    assert {row.kind for row in report.rows} == {DifferenceKind.SERVICE_UNKNOWN}
    assert [line.line for line in report.undecided] == [3]
    assert _outcome(table, address="10.96.40.81").verdict is PacketVerdict.REJECT
    assert not _outcome(table, address="10.96.40.81").undecided


def test_cilium_s_reverse_map_is_no_list_of_backends_though_its_title_is_the_same() -> None:
    title = "ID   BACKEND ADDRESS (REVNAT_ID) (SLOT)\n"
    assert Kind.CILIUM_BPF_LB_BACKENDS not in _kinds(f"{title}4    10.96.40.80:80\n")
    assert _kinds(f"{title}501  ANY://10.244.1.80:8080\n") == [Kind.CILIUM_BPF_LB_BACKENDS]


LIST = """ID   Frontend               Service Type   Backend
1    10.96.40.80:80/TCP     ClusterIP      1 => 10.244.1.80:8080/TCP (active)
                                           2 => 10.244.2.80:8080/TCP (active)
"""


def test_cilium_s_wildcard_of_a_cluster_ip_is_no_frontend() -> None:
    text = LIST + "2    10.96.40.80:0/ANY      ClusterIP\n"
    assert _drift(_recognised(text)).clean


def test_only_a_global_service_may_have_backends_of_other_clusters() -> None:
    text = LIST + "                                           3 => 10.8.0.5:8080/TCP (active)\n"
    (row,) = _drift(_recognised(text)).rows
    assert (row.kind, row.backend) == (DifferenceKind.STALE, Backend("10.8.0.5", 8080))
    everywhere = service("web", "10.96.40.80", PORTS, annotations={"service.cilium.io/global": "true"})
    assert _drift(_recognised(text), everywhere).clean
    missing = text.replace("2 => 10.244.2.80:8080/TCP (active)", "2 => 10.8.0.6:8080/TCP (active)")
    assert DifferenceKind.MISSING in {row.kind for row in _drift(_recognised(missing), everywhere).rows}
    remote = service(
        "web",
        "10.96.40.80",
        PORTS,
        annotations={"service.cilium.io/global": "true", "service.cilium.io/affinity": "remote"},
    )
    preferred = text.replace("10.8.0.5:8080/TCP (active)", "10.8.0.5:8080/TCP (active) (preferred)")
    assert _outcome(_recognised(preferred)).addresses == (Backend("10.8.0.5", 8080),)
    assert _drift(_recognised(preferred), remote).clean


def test_a_local_redirect_policy_is_said_and_not_taken_for_drift() -> None:
    text = "ID   Frontend   Service Type   Backend\n1    10.96.40.80:80/TCP   LocalRedirect   1 => 10.244.1.99:53/TCP (active)\n"
    report = _drift(_recognised(text))
    assert report.clean
    assert [rule.line for rule in report.foreign] == [2]
    assert tuple(gap.text for gap in report.not_covered) == (
        "10.96.40.80:80/tcp goes to 10.244.1.99:53 by a CiliumLocalRedirectPolicy",
    )
    assert [row.kind for row in _drift(_recognised(text.replace("LocalRedirect", "ClusterIP    "))).rows]


def test_calico_gives_the_outside_every_backend_under_an_internal_policy_local() -> None:
    text = "10.96.40.80 port 80 proto 6 id 29 count 1 local 0 flags , internal-local\n\t29:0\t 10.244.2.80:8080\n"
    elsewhere = slice_of(
        "web", [endpoint("10.244.2.80", node="w2")], [{"name": "p80", "port": 8080, "protocol": "TCP"}]
    )
    web = service("web", "10.96.40.80", PORTS, internalTrafficPolicy="Local")
    assert drift(_recognised(text), [web], [elsewhere], NODE).clean
    stale = text.replace("10.244.2.80", "10.244.2.81")
    assert {row.kind for row in drift(_recognised(stale), [web], [elsewhere], NODE).rows} == {DifferenceKind.STALE}
