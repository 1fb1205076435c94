"""The shortcuts for big tables on recorded ones, and rules that single one backend out; see test_shortcuts.py for any table."""

from __future__ import annotations

from typing import Any

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import drift, iptables, nftables
from svcpath.models.dataplanes.iptables.options import read_rule
from svcpath.models.dataplanes.nftables.statements import rules_of
from svcpath.models.dataplanes.ruleset import Ruleset
from tests.models.dataplanes.material import ORACLE, RECORDED, fullest, recorded, recorded_nodes, recorded_objects
from tests.models.dataplanes.written import written

TEXTS = [
    *((kind, recorded(mode, f"{node}.{name}")) for mode, node, name, kind in RECORDED[:4]),
    (Kind.IPTABLES_SAVE, (ORACLE / "iptables-save.nf_tables.txt").read_text()),
    (Kind.NFT_LIST, (ORACLE / "nft-list-table.txt").read_text()),
]


def _rules(rules: Ruleset) -> dict[int, Any]:
    return {
        rule.line: rule for table in rules.tables.values() for chain in table.chains.values() for rule in chain.rules
    }


@pytest.mark.parametrize("seed", range(3))
def test_a_rule_recognised_by_its_shape_is_the_rule_read_option_by_option(seed: int) -> None:
    texts = [text for kind, text in TEXTS if kind is Kind.IPTABLES_SAVE]
    texts.append(written(Kind.IPTABLES_SAVE, seed, 30, big=True).text)
    for text in texts:
        lines = text.split("\n")
        for number, rule in _rules(iptables.parse(text)).items():
            read = read_rule(number, lines[number - 1].removeprefix("[0:0] "))
            assert (rule.target, rule.argument, rule.comment) == (read.target, read.argument, read.comment)
            assert sorted(map(str, rule.matches)) == sorted(map(str, read.matches)), lines[number - 1]


def test_a_rule_of_nftables_recognised_by_its_shape_is_the_rule_read_in_full() -> None:
    for kind, text in TEXTS:
        if kind is not Kind.NFT_LIST:
            continue
        lines = text.split("\n")
        for number, rule in _rules(nftables.parse(text)).items():
            if rule.target != "opaque":
                read = rules_of(number, lines[number - 1].strip())[-1]
                assert (rule.matches, rule.target, rule.argument) == (read.matches, read.target, read.argument)


@pytest.mark.parametrize(
    ("rule", "before"),
    [
        ("-A KUBE-SERVICES -d 10.244.2.0/24 -p tcp -j DROP", "-A KUBE-SERVICES -d 10.96.78.144/32"),
        (
            "-A KUBE-SERVICES -d 10.244.2.4/32 -p tcp -m tcp --dport 18080 -j DROP",
            "-A KUBE-SERVICES -d 10.96.78.144/32",
        ),
        ("-A KUBE-SVC-GHO6WQYEUHKY7UBY -s 10.244.1.0/24 -j RETURN", "-A KUBE-SVC-GHO6WQYEUHKY7UBY"),
        ("-A KUBE-MARK-MASQ -d 10.96.0.1/32 -j RETURN", "-A KUBE-MARK-MASQ -j MARK"),
    ],
)
def test_a_rule_that_singles_out_one_backend_is_not_missed_by_the_shortcut(rule: str, before: str) -> None:
    services, slices = recorded_objects("iptables")
    view = recorded_nodes("iptables")["w1"]
    lines = recorded("iptables", "w1.iptables-save.txt").split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith(before))
    table = fullest(Kind.IPTABLES_SAVE, "\n".join([*lines[:place], rule, *lines[place:]]), "w1", view.addresses)
    assert not drift(table, services, slices, view).clean


def test_a_rule_in_the_check_of_cluster_ips_that_takes_backends_is_not_missed() -> None:
    services, slices = recorded_objects("nftables")
    view = recorded_nodes("nftables")["w1"]
    text = recorded("nftables", "w1.nft-ruleset.txt").replace(
        "\t\tip daddr @cluster-ips reject", "\t\tip daddr 10.244.2.0/24 drop\n\t\tip daddr @cluster-ips reject", 1
    )
    assert not drift(fullest(Kind.NFT_LIST, text, "w1", view.addresses), services, slices, view).clean
