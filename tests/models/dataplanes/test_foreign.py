"""Rules that are not kube-proxy's: seen when they would take the packet first, silent when they would not."""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import (
    DifferenceKind,
    DriftReport,
    NodeView,
    Packet,
    PacketOutcome,
    PacketVerdict,
    TrafficOrigin,
    drift,
    trace,
)
from tests.models.dataplanes.material import DATA, fullest, recorded, recorded_nodes, recorded_objects

ECHO = ("10.96.28.101", 80)


def _with(rule: str, before: str, *, nft: bool = False) -> str:
    """The recording with one rule put in front of the line that begins so."""
    text = recorded("nftables" if nft else "iptables", "w1.nft-ruleset.txt" if nft else "w1.iptables-save.txt")
    lines = text.split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith(before))
    return "\n".join([*lines[:place], rule, *lines[place:]])


def _ask(
    text: str, origin: TrafficOrigin = TrafficOrigin.POD, source: str = "10.244.1.50", kind: Kind = Kind.IPTABLES_SAVE
) -> PacketOutcome:
    view = recorded_nodes("iptables")["w1"]
    return trace(fullest(kind, text, "w1", view.addresses), Packet(source, origin, "TCP", *ECHO))


def _drift(text: str, kind: Kind = Kind.IPTABLES_SAVE, mode: str = "iptables") -> DriftReport:
    services, slices = recorded_objects(mode)
    view: NodeView = recorded_nodes(mode)["w1"]
    return drift(fullest(kind, text, "w1", view.addresses), services, slices, view)


NAT = "-A PREROUTING -m comment"
FORWARD = '-A FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall"'


@pytest.mark.parametrize(
    ("rule", "before", "effect", "verdict"),
    [
        (
            "-A PREROUTING -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.2:80",
            NAT,
            "dnat",
            PacketVerdict.BACKENDS,
        ),
        (
            "-A PREROUTING -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 15001",
            NAT,
            "redirect",
            PacketVerdict.BACKENDS,
        ),
        ("-A PREROUTING -d 10.96.0.0/16 -j ACCEPT", NAT, "accept", PacketVerdict.NONE),
        ("-A FORWARD -d 10.244.0.0/16 -p tcp -m tcp --dport 8080 -j DROP", FORWARD, "drop", PacketVerdict.DROP),
        (
            "-A FORWARD -s 10.244.1.0/24 -j REJECT --reject-with icmp-port-unreachable",
            FORWARD,
            "reject",
            PacketVerdict.REJECT,
        ),
    ],
)
def test_a_rule_that_takes_the_packet_first_is_named(
    rule: str, before: str, effect: str, verdict: PacketVerdict
) -> None:
    text = _with(rule, before)
    outcome = _ask(text)
    assert outcome.verdict is verdict
    (foreign,) = outcome.foreign
    assert foreign.certain
    assert foreign.effect == effect
    assert foreign.text == rule
    assert text.split("\n")[foreign.line - 1] == rule
    rows = [row for row in _drift(text).rows if row.service == "service-ops/echo-server"]
    assert {row.kind for row in rows} == {DifferenceKind.FOREIGN_RULE}
    assert all(row.rule == foreign.line for row in rows)


@pytest.mark.parametrize(
    ("rule", "before"),
    [
        ("-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER\n-A DOCKER ! -i docker0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.2:80", "-A OUTPUT -m comment"),
        ("-A FORWARD -s 10.244.0.0/16 -j ACCEPT", "-A OUTPUT -j KUBE-FIREWALL"),
        ("-A FORWARD -p tcp -m tcp --dport 9999 -j DROP", FORWARD),
        ("-A INPUT -p tcp -m tcp --dport 22 -j DROP", "-A INPUT -j KUBE-FIREWALL"),
        ("-A POSTROUTING -s 10.244.0.0/16 ! -d 10.244.0.0/16 -j MASQUERADE", "-A POSTROUTING -m comment"),
    ],
)  # fmt: skip
def test_a_rule_that_leaves_services_alone_is_no_difference(rule: str, before: str) -> None:
    text = _with(rule, before)
    if "DOCKER" in rule:
        text = text.replace(":KUBE-MARK-MASQ - [0:0]", ":DOCKER - [0:0]\n:KUBE-MARK-MASQ - [0:0]", 1)
    assert _drift(text).clean


def test_a_rule_that_lets_pods_through_ahead_of_the_reject_is_named() -> None:
    (row,) = _drift(_with("-A FORWARD -s 10.244.0.0/16 -j ACCEPT", FORWARD)).rows
    assert row.kind is DifferenceKind.FOREIGN_RULE
    assert row.service == "service-ops/empty-service"
    assert row.text == "-A FORWARD -s 10.244.0.0/16 -j ACCEPT"


def test_a_rule_on_an_interface_may_take_the_packet_and_accuses_nobody() -> None:
    text = _with("-A FORWARD -i eth1 -j DROP", FORWARD)
    outcome = _ask(text)
    assert outcome.verdict is PacketVerdict.BACKENDS
    (foreign,) = outcome.foreign
    assert not foreign.certain
    report = _drift(text)
    assert not report.rows
    assert report.decided
    assert report.foreign


def test_a_node_local_cache_s_notrack_is_seen_and_no_fault() -> None:
    raw = "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n-A PREROUTING -d 10.96.0.10/32 -p udp -m udp --dport 53 -j NOTRACK\nCOMMIT\n"
    text = raw + recorded("iptables", "w1.iptables-save.txt")
    view = recorded_nodes("iptables")["w1"]
    table = fullest(Kind.IPTABLES_SAVE, text, "w1", view.addresses)
    outcome = trace(table, Packet("10.244.1.50", TrafficOrigin.POD, "UDP", "10.96.0.10", 53))
    assert [rule.effect for rule in outcome.foreign] == ["notrack"]
    assert outcome.verdict is PacketVerdict.NONE
    report = _drift(text)
    assert report.decided
    assert [(row.service, row.origins) for row in report.rows] == []
    assert [rule.effect for rule in report.foreign] == ["notrack"]


def test_a_policy_of_drop_counts_where_nothing_lets_the_packet_through() -> None:
    mangle, filters = recorded("iptables", "w1.iptables-save.txt").split("*filter")
    text = f"{mangle}*filter{filters.replace(':FORWARD ACCEPT', ':FORWARD DROP', 1)}"
    assert _ask(text).verdict is PacketVerdict.DROP
    assert _ask(text).foreign[0].effect == "policy-drop"
    flannel = text.replace(FORWARD, "-A FORWARD -s 10.244.0.0/16 -j ACCEPT\n" + FORWARD, 1)
    assert _ask(flannel).verdict is PacketVerdict.BACKENDS
    bridge = text.replace(FORWARD, "-A FORWARD -i cni0 -j ACCEPT\n" + FORWARD, 1)
    assert _ask(bridge).verdict is PacketVerdict.BACKENDS


def test_a_hand_made_rule_in_a_table_of_nftables_is_seen() -> None:
    text = recorded("nftables", "w1.nft-ruleset.txt") + (
        "table inet guard {\n\tchain forward {\n\t\ttype filter hook forward priority filter - 5; policy accept;\n"
        "\t\tip daddr 10.244.0.0/16 tcp dport 8080 counter packets 3 bytes 180 drop\n\t}\n}\n"
    )
    view = recorded_nodes("nftables")["w1"]
    outcome = trace(
        fullest(Kind.NFT_LIST, text, "w1", view.addresses), Packet("10.244.1.50", TrafficOrigin.POD, "TCP", *ECHO)
    )
    assert outcome.verdict is PacketVerdict.DROP
    assert outcome.foreign[0].chain == "forward"
    rows = _drift(text, Kind.NFT_LIST, "nftables").rows
    assert {row.kind for row in rows} == {DifferenceKind.FOREIGN_RULE}
    assert {row.service for row in rows} == {"service-ops/echo-server"}


def test_the_kubelet_s_chains_are_no_finding() -> None:
    report = _drift(recorded("iptables", "w1.iptables-save.txt"))
    assert report.clean
    assert not report.foreign


def test_an_older_cluster_with_docker_and_calico_is_read_whole() -> None:
    text = (DATA / "calico" / "iptables-dump.txt").read_text()
    table = fullest(Kind.IPTABLES_SAVE, text)
    assert not table.not_understood
    assert not table.damaged
    assert table.variant == "legacy"
    outcome = trace(table, Packet("192.168.5.5", TrafficOrigin.POD, "TCP", "10.96.0.1", 443))
    assert outcome.addresses[0].address == "10.128.0.183"
    assert (
        trace(table, Packet("192.168.5.5", TrafficOrigin.POD, "UDP", "10.96.0.10", 53)).verdict is PacketVerdict.REJECT
    )


def _several(rules: list[str], before: str = FORWARD) -> str:
    """The recording with several rules, and the chains that they stand in, put before the line that begins so."""
    text = _with("\n".join(rules), before)
    chains = {rule.split()[1] for rule in rules} - {"FORWARD", "PREROUTING"}
    table = "*filter" if before == FORWARD else "*nat"
    return text.replace(f"{table}\n", "\n".join([table, *(f":{name} - [0:0]" for name in sorted(chains))]) + "\n")


SET = "-m set --match-set PEERS src"
DROP = "-A FORWARD -d 10.244.0.0/16 -j DROP"
REJECT = "-A POD-FW -m mark ! --mark 0x10000/0x10000 -j REJECT --reject-with icmp-port-unreachable"


@pytest.mark.parametrize(
    "rules",
    [
        [f"-A FORWARD {SET} -j ACCEPT", DROP],
        ["-A FORWARD -j POLICY", f"-A POLICY {SET} -j ACCEPT", DROP],
        [f"-A FORWARD {SET} -j POLICY", "-A POLICY -j ACCEPT", DROP],
        ["-A FORWARD -j POLICY", f"-A POLICY {SET} -j RETURN", "-A POLICY -d 10.244.0.0/16 -j DROP"],
        ["-A FORWARD -j POD-FW", "-A POD-FW -j NWPLCY", f"-A NWPLCY {SET} -j MARK --set-xmark 0x10000/0x10000", REJECT],
        [
            f"-A FORWARD {SET} -j NWPLCY",
            "-A NWPLCY -j MARK --set-xmark 0x10000/0x10000",
            "-A FORWARD -j POD-FW",
            REJECT,
        ],
    ],
)
def test_a_rule_behind_one_that_may_have_let_the_packet_out_accuses_nobody(rules: list[str]) -> None:
    text = _several(rules)
    outcome = _ask(text)
    assert outcome.verdict is PacketVerdict.BACKENDS
    assert outcome.foreign
    assert not any(rule.certain for rule in outcome.foreign)
    assert not _drift(text).rows


@pytest.mark.parametrize(
    "rules",
    [
        [DROP],
        ["-A FORWARD -j POLICY", f"-A POLICY {SET} -j RETURN", DROP],
        [f"-A FORWARD {SET} -j DROP", DROP],
        [f"-A FORWARD {SET} -j POLICY", "-A POLICY -d 192.0.2.0/24 -j MARK --set-xmark 0x2/0x2", DROP],
        ["-A FORWARD -j POD-FW", "-A POD-FW -j NWPLCY", f"-A NWPLCY {SET} -j MARK --set-xmark 0x2/0x2", REJECT],
        [
            "-A FORWARD -j POD-FW",
            f"-A POD-FW {SET} -j MARK --set-xmark 0x10000/0x10000",
            "-A POD-FW -j MARK --set-xmark 0x0/0x10000",
            REJECT,
        ],
    ],
)
def test_a_rule_that_nothing_before_it_could_have_kept_the_packet_from_is_certain(rules: list[str]) -> None:
    outcome = _ask(_several(rules))
    assert outcome.verdict in (PacketVerdict.DROP, PacketVerdict.REJECT)
    assert any(rule.certain for rule in outcome.foreign)


@pytest.mark.parametrize(("rule", "certain"), [(f"-A POLICY {SET} -j ACCEPT", False), ("-A POLICY -j RETURN", True)])
def test_a_policy_drop_is_certain_only_if_no_chain_before_it_may_accept(rule: str, certain: bool) -> None:
    before, filters, after = _several(["-A FORWARD -j POLICY", rule]).partition("*filter\n")
    text = before + filters + after.replace(":FORWARD ACCEPT", ":FORWARD DROP", 1)
    found = [rule for rule in _ask(text).foreign if rule.effect == "policy-drop"]
    assert [rule.certain for rule in found] == [certain]


def test_a_translation_behind_one_that_may_have_let_the_packet_out_is_possible() -> None:
    rule = "-A PREROUTING -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.2:80"
    text = _several([f"-A PREROUTING {SET} -j RETURN", rule], NAT)
    assert [(rule.effect, rule.certain) for rule in _ask(text).foreign] == [("dnat", False)]
    assert [(found.effect, found.certain) for found in _ask(_with(rule, NAT)).foreign] == [("dnat", True)]
