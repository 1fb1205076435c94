"""The shortcuts for big tables say what the long way says."""

from __future__ import annotations

import random
import re
from typing import Any

import msgspec
import pytest

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import NodeView, drift, iptables, nftables, quick
from svcpath.models.dataplanes.iptables.options import read_rule
from svcpath.models.dataplanes.nftables.statements import rules_of
from svcpath.models.dataplanes.ruleset import Ruleset
from tests.differential.kernel import layout
from tests.differential.kernel.services import IPV4, NODE, random_service
from tests.models.dataplanes.material import ORACLE, RECORDED, fullest, recorded, recorded_nodes, recorded_objects

TEXTS = [
    *((kind, recorded(mode, f"{node}.{name}")) for mode, node, name, kind in RECORDED[:4]),
    (Kind.IPTABLES_SAVE, (ORACLE / "iptables-save.nf_tables.txt").read_text()),
    (Kind.NFT_LIST, (ORACLE / "nft-list-table.txt").read_text()),
]


def _rules(rules: Ruleset) -> dict[int, Any]:
    return {
        rule.line: rule for table in rules.tables.values() for chain in table.chains.values() for rule in chain.rules
    }


def _saved(commands: str) -> str:
    """What was written for iptables-restore, with the built-in chains that iptables-save declares."""
    for table, hooks in (("filter", ("INPUT", "FORWARD", "OUTPUT")), ("nat", ("PREROUTING", "OUTPUT", "POSTROUTING"))):
        declared = "\n".join(f":{hook} ACCEPT [0:0]" for hook in hooks)
        commands = commands.replace(f"*{table}\n", f"*{table}\n{declared}\n", 1)
    return commands


def _random_rules(seed: int) -> str:
    """Rules in the shapes of a big table: without comments but on KUBE-SERVICES."""
    chance = random.Random(seed)
    made = [random_service(chance, number, IPV4) for number in range(30)]
    lines = _saved(layout.iptables(made, IPV4)).split("\n")
    bare = re.compile(r' -m comment --comment "[^"]*"')
    return "\n".join(bare.sub("", line) if line.startswith("-A KUBE-SVC-") else line for line in lines)


@pytest.mark.parametrize("seed", range(3))
def test_a_rule_recognised_by_its_shape_is_the_rule_read_option_by_option(seed: int) -> None:
    texts = [text for kind, text in TEXTS if kind is Kind.IPTABLES_SAVE]
    texts.append(_random_rules(seed))
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


@pytest.mark.parametrize("flavour", ["iptables", "nftables"])
@pytest.mark.parametrize("seed", range(4))
def test_with_and_without_the_shortcut_a_damaged_table_has_the_same_differences(
    flavour: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = IPV4
    chance = random.Random(seed)
    made = [random_service(chance, number, plan) for number in range(12)]
    pairs = [one.objects() for one in made]
    services = [msgspec.convert(pair[0], Service) for pair in pairs]
    slices = [msgspec.convert(pair[1], EndpointSlice) for pair in pairs]
    node = NodeView(name=NODE, addresses=frozenset({plan.node}))
    text = _saved(layout.iptables(made, plan)) if flavour == "iptables" else _listed(layout.nftables(made, plan))
    kind = Kind.IPTABLES_SAVE if flavour == "iptables" else Kind.NFT_LIST
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if line.startswith(("-A KUBE-S", "\t\t"))]
    for place in [None, *chance.sample(places, 12)]:
        changed = text if place is None else "\n".join(lines[:place] + lines[place + 1 :])
        table = fullest(kind, changed, NODE, node.addresses)
        with monkeypatch.context() as patch:
            short = drift(table, services, slices, node)
            patch.setattr(quick.QuickCheck, "holds", lambda *_: False)
            long = drift(table, services, slices, node)
        assert place is not None or long.clean, long.undecided or long.rows
        assert short.rows == long.rows
        assert short.undecided == long.undecided
        assert short.backends == long.backends


def _listed(commands: str) -> str:
    """What was written for nft -f, in the layout that nft list prints."""
    listed = []
    for line in commands.split("\n"):
        if line.startswith(("  set ", "  map ")):
            head, _, body = line.strip().partition(" { ")
            listed.append(f"\t{head} {{")
            parts = body.removesuffix(" }").rstrip("; ").split("; ")
            listed += [f"\t\t{part.strip().rstrip(';')}" for part in parts]
            listed.append("\t}")
        elif line.startswith("  chain ") and line.endswith("{ }"):
            continue
        else:
            shown = line.replace("    ", "\t\t").replace("  ", "\t", 1)
            listed.append(shown if not shown.strip().startswith("type ") else shown.rstrip(";") + "; policy accept;")
    return "\n".join(listed)


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
