"""Rules of others in nftables' own words: what they do with a packet is read, and no part of them makes a dump damaged.

The ruleset was loaded into a kernel and listed by nft in both forms.
"""

from __future__ import annotations

from typing import Any

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import (
    Packet,
    PacketOutcome,
    PacketVerdict,
    TrafficOrigin,
    drift,
    own_not_understood,
    parse,
    trace,
)
from svcpath.models.dataplanes.nftables import json_document, listing
from svcpath.models.dataplanes.ruleset import Ruleset
from tests.models.dataplanes.material import DATA, fullest, recorded, recorded_nodes, recorded_objects

OTHERS = DATA / "nft-of-others"
TEXT = (OTHERS / "nft-list-ruleset.txt").read_text()
JSON = (OTHERS / "nft.json").read_text()


def _does(rules: Ruleset) -> dict[tuple[str, str], list[tuple[str, Any]]]:
    return {
        (table.name, chain.name): [
            (rule.target, "" if rule.target == "opaque" else rule.argument) for rule in chain.rules
        ]
        for table in rules.tables.values()
        for chain in table.chains.values()
    }


def test_both_forms_say_the_same_of_what_every_rule_does() -> None:
    assert _does(listing.parse(TEXT)) == _does(json_document.parse(JSON))


def test_only_what_sends_a_packet_to_an_unknown_place_is_not_understood() -> None:
    rules = listing.parse(TEXT)
    assert not rules.damaged
    words = {"synproxy", "dnat", "8088", "10.1.1.1"}
    assert all(words & set(text.replace(":", " ").split()) for _, text, _ in rules.not_understood)
    assert len(rules.not_understood) == 9
    assert not json_document.parse(JSON).damaged


@pytest.mark.parametrize(("kind", "text"), [(Kind.NFT_LIST, TEXT), (Kind.NFT_JSON, JSON)])
def test_a_mixed_machine_is_decided_by_kube_proxys_rules_alone(kind: Kind, text: str) -> None:
    name = "w1.nft-ruleset.txt" if kind is Kind.NFT_LIST else "w1.nft.json"
    ours = recorded("nftables", name)
    both = ours + text if kind is Kind.NFT_LIST else ours.rstrip()[:-2] + ", " + text.split("[", 1)[1]
    services, slices = recorded_objects("nftables")
    view = recorded_nodes("nftables")["w1"]
    table = fullest(kind, both, "w1", view.addresses)
    assert not own_not_understood(table)
    report = drift(table, services, slices, view)
    assert not report.rows
    # A packet that kube-proxy does not translate meets the translations by map behind it.
    assert all(" map " in line.text or '"map"' in line.text for line in report.undecided)


def _asked(
    rule: str, *, chain: str = "type filter hook forward priority filter; policy accept;", port: int = 80
) -> PacketOutcome:
    text = f"table inet others {{\n\tset seen {{\n\t\ttype ipv4_addr\n\t}}\n\tchain c {{\n\t\t{chain}\n\t\t{rule}\n\t}}\n}}\n"
    (table,) = parse(Kind.NFT_LIST, text)
    return trace(table, Packet("192.0.2.7", TrafficOrigin.EXTERNAL, "TCP", "10.244.1.9", port))


@pytest.mark.parametrize(
    "rule",
    [
        'quota name "q1" drop',
        "ct count over 10 drop",
        "add @seen { ip saddr limit rate over 10/minute } drop",
        "tcp flags ! fin,rst drop",
        'meta hour "08:00"-"18:00" drop',
        "ct original ip daddr 10.96.0.10 drop",
        "numgen inc mod 3 0 drop",
        "meter flood size 65535 { ip saddr timeout 1m limit rate 10/second } drop",
    ],
)
def test_a_condition_that_addresses_do_not_decide_drops_nobody_for_certain(rule: str) -> None:
    outcome = _asked(rule)
    assert outcome.verdict is PacketVerdict.NONE
    assert [(rule.effect, rule.certain) for rule in outcome.foreign] == [("drop", False)]


@pytest.mark.parametrize(
    "before",
    [
        'ct helper set "ftp"',
        "ct mark set meta mark",
        "meta mark set ct mark",
        "ip dscp set cs1",
        "meta priority set 1:2",
        "flow add @ft",
        "tcp option maxseg size set rt mtu",
    ],
)
def test_a_statement_that_changes_something_lets_the_verdict_behind_it_stand(before: str) -> None:
    outcome = _asked(f"{before} drop")
    assert outcome.verdict is PacketVerdict.DROP
    assert {rule.effect for rule in outcome.foreign if rule.certain} == {"drop"}


def test_a_translation_to_a_place_that_a_map_names_is_undecided_where_it_is_met() -> None:
    nat = "type nat hook prerouting priority dstnat; policy accept;"
    rule = "tcp dport 82 dnat ip to numgen random mod 2 map { 0 : 172.17.0.2, 1 : 172.17.0.3 }"
    assert _asked(rule, chain=nat, port=82).undecided
    assert not _asked(rule, chain=nat, port=80).undecided


def test_a_set_whose_elements_count_is_whole() -> None:
    text = (
        "table inet fw {\n\tset bl {\n\t\ttypeof ip saddr . tcp dport\n\t\tflags interval\n\t\tcounter\n"
        "\t\telements = { 10.1.0.0/16 . 22 counter packets 0 bytes 0,\n"
        "\t\t\t     10.2.0.0/16 . 80-90 counter packets 3 bytes 9 }\n\t}\n"
        "\tchain fwd {\n\t\ttype filter hook forward priority filter - 1; policy accept;\n\t\tct state new counter\n\t}\n}\n"
    )
    (table,) = parse(Kind.NFT_LIST, text)
    assert not table.damaged
    assert not table.not_understood


@pytest.mark.parametrize(
    "change",
    [
        "ip ttl set 63",
        'ct helper set "ftp"',
        "meta mark set ct mark",
        "ct mark set 0x1",
        "tcp option maxseg size set rt mtu",
    ],
)
@pytest.mark.parametrize(
    ("source", "verdict"), [("192.0.2.0/24", PacketVerdict.DROP), ("198.51.100.0/24", PacketVerdict.NONE)]
)
def test_a_condition_behind_a_change_is_kept(change: str, source: str, verdict: PacketVerdict) -> None:
    assert _asked(f"{change} ip saddr {source} drop").verdict is verdict


def test_an_expression_that_goes_on_behind_a_change_drops_nobody_for_certain() -> None:
    outcome = _asked("ip dscp set ip dscp map @marks ip saddr 192.0.2.0/24 drop")
    assert outcome.verdict is PacketVerdict.NONE
    assert not any(rule.certain for rule in outcome.foreign)
