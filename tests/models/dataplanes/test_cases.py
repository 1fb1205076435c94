"""Kinds of fault that were reported in public: what the models say of each."""

from __future__ import annotations

import json

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import HairpinModes, KubeProxyConfig, Metrics, Sysctls
from svcpath.evidence.formats.metrics import read_metrics
from svcpath.evidence.formats.text import Text
from svcpath.models.dataplanes import (
    Backend,
    Dialect,
    DifferenceKind,
    Frontend,
    NodeView,
    Packet,
    PacketVerdict,
    StaleCause,
    TrafficOrigin,
    cilium,
    conntrack,
    drift,
    expected,
    health_check,
    ipvs,
    kernel,
    mode,
    parse,
    times_of,
    trace,
)
from svcpath.models.dataplanes.conntrack import FlowKind
from svcpath.models.dataplanes.kernel import Weight
from tests.models.dataplanes.material import case_flows, case_objects, case_text, fullest, service

NODE = NodeView(name="node-a")


def _sysctls(number: str) -> Sysctls:
    parts = [line.partition("=") for line in case_text(number, "sysctl.txt").splitlines()]
    return Sysctls({name.strip(): value.strip() for name, equals, value in parts if equals})


def test_a_pod_that_cannot_reach_itself_has_a_masquerade_rule_and_no_hairpin() -> None:
    services, slices = case_objects("37")
    table = fullest(Kind.IPTABLES_SAVE, case_text("37", "iptables-save.txt"))
    assert drift(table, services, slices, NODE).clean
    outcome = trace(table, Packet("10.244.2.23", TrafficOrigin.POD, "TCP", "10.96.40.13", 80))
    assert outcome.addresses == (Backend("10.244.2.23", 8080),)
    assert outcome.masquerade
    assert outcome.backends[0].hairpin
    assert kernel.without_hairpin([HairpinModes({"veth1a2b3c": False})]) == ("veth1a2b3c",)


def test_udp_entries_to_a_removed_pod_are_stale_while_the_rules_are_right() -> None:
    services, slices = case_objects("38")
    table = fullest(Kind.IPTABLES_SAVE, case_text("38", "iptables-save.txt"))
    assert drift(table, services, slices, NODE).clean
    assert (
        trace(table, Packet("10.244.1.7", TrafficOrigin.POD, "UDP", "10.96.40.25", 8125)).verdict
        is PacketVerdict.REJECT
    )
    judged = conntrack.judge(case_flows("38"), expected(services[0], slices, NODE))
    assert [flow.kind for flow in judged] == [FlowKind.STALE_UDP, FlowKind.STALE_UDP]
    assert {flow.backend.address for flow in judged} == {"10.244.2.9"}
    assert all(flow.flow.unreplied for flow in judged)
    assert conntrack.delete_command(judged[0]) == "conntrack -D -p udp --orig-dst 10.96.40.25 --dport 8125"


def test_one_of_two_dns_entries_is_stale() -> None:
    services, slices = case_objects("40")
    judged = conntrack.judge(case_flows("40"), expected(services[0], slices, NODE))
    kinds = {flow.flow.original.source_port: flow.kind for flow in judged}
    assert kinds == {40000: FlowKind.STALE_UDP, 51111: FlowKind.FINE}


def test_an_established_connection_to_a_removed_endpoint_is_as_designed() -> None:
    services, slices = case_objects("41")
    judged = conntrack.judge(case_flows("41"), expected(services[0], slices, NODE))
    assert [(flow.backend.address, flow.kind) for flow in judged] == [
        ("10.244.1.70", FlowKind.REMOVED_TCP),
        ("10.244.2.71", FlowKind.FINE),
    ]


def test_a_persistence_template_pins_a_client_to_a_server_of_weight_0() -> None:
    services, slices = case_objects("43")
    (table,) = parse(Kind.IPVSADM_LN, case_text("43", "ipvsadm-Ln.txt"))
    assert drift(table, services, slices, NODE).clean
    connections, _ = ipvs.connections(case_text("43", "ipvsadm-Lcn.txt"))
    (pin,) = conntrack.pinned(connections, table)
    assert pin.client == "10.244.3.9"
    assert pin.backend == Backend("10.244.1.80", 8080)
    assert pin.weight == 0
    assert pin.others == (Backend("10.244.2.80", 8080),)
    settings = {item.key: item for item in kernel.judge(_sysctls("43"), Dialect.IPVS, affinity=True)}
    assert settings["net.ipv4.vs.expire_quiescent_template"].weight is Weight.BREAKS
    assert settings["net.ipv4.vs.expire_quiescent_template"].wanted == "1"


def test_conn_reuse_mode_1_delays_on_a_kernel_before_5_9_only() -> None:
    (setting,) = (
        item for item in kernel.judge(_sysctls("45"), Dialect.IPVS) if item.key == "net.ipv4.vs.conn_reuse_mode"
    )
    assert setting.weight is Weight.DELAYS
    assert "1 s" in setting.says
    newer = kernel.judge(_sysctls("45"), Dialect.IPVS, kernel=(5, 15))
    assert all(item.weight is Weight.FINE for item in newer if item.key == "net.ipv4.vs.conn_reuse_mode")
    assert not kernel.judge(Sysctls({"net.ipv4.vs.conn_reuse_mode": "1"}), Dialect.NFTABLES)


def test_a_reject_left_over_from_the_iptables_mode_catches_what_ipvs_would_carry() -> None:
    services, slices = case_objects("47")
    (ipvs_table,) = parse(Kind.IPVSADM_LN, case_text("47", "ipvsadm-Ln.txt"))
    (old,) = parse(Kind.IPTABLES_SAVE, case_text("47", "iptables-save.txt"))
    plane = mode.node_plane([ipvs_table, old], config=KubeProxyConfig(mode="ipvs"))
    assert plane.in_use is ipvs_table
    assert plane.leftovers == (old,)
    report = drift(ipvs_table, services, slices, NODE, leftovers=plane.leftovers)
    (row,) = report.rows
    assert row.kind is DifferenceKind.LEFTOVER
    assert row.verdict is PacketVerdict.REJECT
    assert row.frontend == Frontend("10.96.40.88", "TCP", 80)
    assert row.service == "shop/old:http"
    assert "REJECT" in row.text


def test_external_traffic_is_dropped_on_a_node_without_a_local_endpoint() -> None:
    services, slices = case_objects("49")
    table = fullest(Kind.IPTABLES_SAVE, case_text("49", "iptables-save.node-a.txt"))
    rows = drift(table, services, slices, NODE).rows
    # The reduced dump keeps neither the rule for health checks nor those for Pods and the node itself.
    assert all(
        TrafficOrigin.EXTERNAL not in row.origins or row.kind is DifferenceKind.HEALTH_CHECK_RULE_MISSING
        for row in rows
    )
    for frontend in (Frontend("192.168.64.128", "TCP", 9443), Frontend("0.0.0.0", "TCP", 31443)):
        packet = Packet("203.0.113.9", TrafficOrigin.EXTERNAL, "TCP", frontend.address, frontend.port)
        assert trace(table, packet).verdict is PacketVerdict.DROP
        by_frontend = {item.frontend: item for item in expected(services[0], slices, NODE)}
        assert by_frontend[frontend].for_packet(TrafficOrigin.EXTERNAL, "203.0.113.9").verdict is PacketVerdict.DROP
        there = {item.frontend: item for item in expected(services[0], slices, NodeView(name="node-b"))}
        assert there[frontend].for_packet(TrafficOrigin.EXTERNAL, "203.0.113.9").verdict is PacketVerdict.BACKENDS
    assert (
        trace(table, Packet("10.244.1.2", TrafficOrigin.POD, "TCP", "10.96.40.90", 9443)).verdict
        is PacketVerdict.BACKENDS
    )


def test_the_terminating_fallback_depends_on_the_release_and_on_the_policy_s_scope() -> None:
    services, slices = case_objects("51")
    for release in json.loads(case_text("51", "versions.json")):
        major, minor = (int(part) for part in release["kubeProxy"].split("."))
        node = NodeView(name=release["node"], release=(major, minor))
        by_kind = {item.kind: item for item in expected(services[0], slices, node)}
        outside = by_kind["load-balancer"].for_packet(TrafficOrigin.EXTERNAL, "203.0.113.9")
        assert ([str(backend) for backend in outside.backends] or outside.verdict.value.upper()) == release["external"]
        inside = by_kind["cluster-ip"].for_packet(TrafficOrigin.POD, "10.244.1.2")
        assert [str(backend) for backend in inside.backends] == release["clusterIP"]
        assert health_check(services[0], slices, node) == (31001, 0)


def test_each_node_s_health_check_must_count_its_own_endpoints() -> None:
    services, slices = case_objects("52")
    assert health_check(services[0], slices, NodeView(name="node-a")) == (31002, 1)
    assert health_check(services[0], slices, NodeView(name="node-b")) == (31002, 0)


def test_a_connection_tracking_entry_names_a_backend_that_is_gone() -> None:
    (table,) = parse(Kind.CILIUM_BPF_LB_LIST, case_text("54", "bpf-lb-list.txt"))
    backends, _ = cilium.backends(case_text("54", "bpf-lb-backends.txt"))
    entries, _ = cilium.ct_entries(case_text("54", "ct-list.txt"))
    (lost,) = conntrack.lost_backends(entries, backends, table)
    assert lost.backend_id == 412
    assert lost.entry.source_port == 45318
    assert len(lost.remaining) == 2


def test_a_terminating_backend_in_cilium_s_list_is_no_drift() -> None:
    _, slices = case_objects("56")
    mqtt = service("mqtt", "10.96.60.31", [{"name": "mqtt", "port": 1883, "protocol": "TCP"}], namespace="shop")
    (table,) = parse(Kind.CILIUM_SERVICE_LIST, case_text("56", "service-list.txt"))
    assert drift(table, [mqtt], slices, NODE).clean
    entry = table.frontends[Frontend("10.96.60.31", "TCP", 1883)]
    assert {target.state for target in entry.facts["targets"]} == {"active", "terminating"}
    outcome = trace(table, Packet("10.244.1.2", TrafficOrigin.POD, "TCP", "10.96.60.31", 1883))
    assert outcome.addresses == (Backend("10.244.0.11", 1883),)


def test_calico_s_map_follows_the_slice_also_to_a_dead_node() -> None:
    services, slices = case_objects("57")
    for name in ("nat-dump.txt", "nat-dump-new-format.txt"):
        (table,) = parse(Kind.CALICO_NAT_DUMP, case_text("57", name))
        rows = drift(table, services, slices, NODE, complete=False).rows
        assert not rows
        outcome = trace(table, Packet("10.244.1.2", TrafficOrigin.POD, "TCP", "10.96.77.14", 80))
        assert outcome.addresses == (Backend("10.244.1.71", 80), Backend("10.244.9.62", 80))


def test_a_change_newer_than_the_last_sync_is_late_and_not_wrong() -> None:
    services, slices = case_objects("59")
    table = fullest(Kind.IPTABLES_SAVE, case_text("59", "iptables-save.txt"))
    metrics: Metrics = read_metrics(Text(case_text("59", "kube-proxy-metrics.txt")))[0].value
    rows = drift(table, services, slices, NODE, times=times_of([metrics])).rows
    kinds = {row.kind: row for row in rows}
    assert set(kinds) == {DifferenceKind.STALE, DifferenceKind.MISSING}
    assert kinds[DifferenceKind.STALE].backend == Backend("10.244.1.96", 8080)
    assert kinds[DifferenceKind.MISSING].backend == Backend("10.244.2.96", 8080)
    assert {row.cause for row in rows} == {StaleCause.LATE}


def test_long_lived_connections_gather_on_one_of_four_endpoints() -> None:
    services, slices = case_objects("67")
    expectations = expected(services[0], slices, NODE)
    judged = conntrack.judge(case_flows("67"), expectations)
    assert {flow.kind for flow in judged} == {FlowKind.FINE}
    (found,) = conntrack.imbalances(judged, expectations)
    assert found.connections == ((Backend("10.244.1.97", 9090), 2),)
    assert len(found.idle) == 3
