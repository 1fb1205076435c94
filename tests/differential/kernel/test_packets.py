"""Real packets through real rules end where ``trace`` says, for Pods, the node and outside, in both families."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Callable, Iterator

import msgspec
import pytest

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import NodeView, ServiceTable, parse
from tests.differential.kernel.agreement import compare, disagreements, senders_of
from tests.differential.kernel.layout import iptables, nftables
from tests.differential.kernel.namespaces import Namespaces, missing_tools
from tests.differential.kernel.services import IPV4, IPV6, NODE, Made, Plan, random_service

pytestmark = [
    pytest.mark.root,
    pytest.mark.differential,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make network namespaces"),
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]

#: Services in all; more with SVCPATH_KERNEL_SERVICES=N, another draw with SVCPATH_KERNEL_SEED=N.
WHOLE = 300
COUNT = int(os.environ.get("SVCPATH_KERNEL_SERVICES", "36"))
SEED = int(os.environ.get("SVCPATH_KERNEL_SEED", "20261130"))
BATCH = 8
FLAVOURS = [(flavour, plan) for plan in (IPV4, IPV6) for flavour in ("iptables-legacy", "iptables-nft", "nftables")]


@pytest.fixture(scope="module")
def namespaces() -> Iterator[Namespaces]:
    with Namespaces() as made:
        yield made


def _objects(services: list[Made]) -> tuple[list[Service], list[EndpointSlice]]:
    pairs = [service.objects() for service in services]
    return (
        [msgspec.convert(pair[0], Service) for pair in pairs],
        [msgspec.convert(pair[1], EndpointSlice) for pair in pairs],
    )


def _written(flavour: str, plan: Plan, services: list[Made]) -> str:
    return nftables(services, plan) if flavour == "nftables" else iptables(services, plan)


def _damaged(text: str, chance: random.Random) -> str:
    """Some rules of Services taken out, as a careless hand would."""
    lines = text.split("\n")
    inside = [
        number
        for number, line in enumerate(lines)
        if line.startswith(("-A KUBE-SVC", "-A KUBE-SEP", "-A KUBE-EXT", "-A KUBE-FW", "-A KUBE-SERVICES -m comment"))
        or (line.startswith("    ") and not line.strip().startswith("type "))
    ]
    lost = set(chance.sample(inside, min(6, len(inside))))
    return "\n".join(line for number, line in enumerate(lines) if number not in lost)


def _load(namespaces: Namespaces, flavour: str, plan: Plan, text: str) -> list[ServiceTable]:
    """Load the rules, and read them back in every form the tools print."""
    namespaces.clear()
    addresses = frozenset({plan.node})
    if flavour == "nftables":
        namespaces.run("node", "nft", "-f", "-", text=text)
        dumps = [
            (Kind.NFT_LIST, namespaces.run("node", "nft", "list", "ruleset")),
            (Kind.NFT_LIST, namespaces.run("node", "nft", "-a", "list", "ruleset")),
            (Kind.NFT_JSON, namespaces.run("node", "nft", "-j", "list", "ruleset")),
        ]
    else:
        six = "6" if plan.family == 6 else ""
        tool = flavour.replace("iptables", f"ip{six}tables")
        namespaces.run("node", f"{tool}-restore", text=text)
        dumps = [
            (Kind.IPTABLES_SAVE, namespaces.run("node", f"{tool}-save")),
            (Kind.IPTABLES_SAVE, namespaces.run("node", f"{tool}-save", "-c")),
        ]
        if flavour == "iptables-nft":
            dumps.append((Kind.NFT_LIST, namespaces.run("node", "nft", "list", "ruleset")))
    return [
        max(parse(kind, text, node=NODE, node_addresses=addresses), key=lambda table: len(table.frontends))
        for kind, text in dumps
    ]


@pytest.mark.parametrize(("flavour", "plan"), FLAVOURS, ids=[f"{name}-ipv{plan.family}" for name, plan in FLAVOURS])
def test_packets_go_where_trace_says(
    namespaces: Namespaces, flavour: str, plan: Plan, say_in_summary: Callable[[str], None]
) -> None:
    share = max(1, COUNT // len(FLAVOURS))
    chance = random.Random(f"{SEED} {flavour} {plan.family}")
    node = NodeView(name=NODE, addresses=frozenset({plan.node}))
    asked, lines = 0, []
    for start in range(0, share, BATCH):
        made = [random_service(chance, number, plan) for number in range(start, min(start + BATCH, share))]
        services, slices = _objects(made)
        tables = _load(namespaces, flavour, plan, _written(flavour, plan, made))
        for table in tables:
            lines += [
                f"expected differs ({table.source}): {text}" for text in disagreements(table, services, slices, node)
            ]
        senders = functools.partial(senders_of, plan)
        questions, differences = compare(tables[0], services, slices, node, senders, namespaces.probe, plan.node)
        asked += questions
        lines += [str(difference) for difference in differences]
    report = f"{flavour} IPv{plan.family}: {share} of {WHOLE // len(FLAVOURS)} Services, {asked} questions, seed {SEED}"
    say_in_summary(f"packets, {report}, {len(lines)} differences")
    assert asked
    assert not lines, "\n".join([report, *lines])


@pytest.mark.parametrize(("flavour", "plan"), FLAVOURS[:3], ids=[name for name, _ in FLAVOURS[:3]])
def test_packets_go_where_trace_says_also_through_rules_that_were_tampered_with(
    namespaces: Namespaces, flavour: str, plan: Plan
) -> None:
    chance = random.Random(f"{SEED} {flavour} damaged")
    node = NodeView(name=NODE, addresses=frozenset({plan.node}))
    made = [random_service(chance, number, plan) for number in range(max(4, COUNT // 8))]
    services, slices = _objects(made)
    tables = _load(namespaces, flavour, plan, _damaged(_written(flavour, plan, made), chance))
    senders = functools.partial(senders_of, plan)
    _, differences = compare(tables[0], services, slices, node, senders, namespaces.probe, plan.node)
    assert not differences, "\n".join(str(difference) for difference in differences)
    assert all(disagreements(table, services, slices, node) for table in tables)
