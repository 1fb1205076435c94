"""A real kube-proxy is the oracle: random Services with hand-made slices go to the real API server, and its rules are
read back. What `expected` wants, what `trace` says and where real packets end must be the same on each node.

The packets go through kube-proxy's own rules in network namespaces of the test, so that backends that no Pod owns can
answer. All 300 Services: SVCPATH_PROXY_SERVICES=300 (a lab of --ip-family dual has both families).
"""

from __future__ import annotations

import functools
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import NodeView, ServiceTable, parse
from svcpath_lab import home as homes
from svcpath_lab import labs
from svcpath_lab.providers.base import Provider
from tests.differential.kernel.agreement import compare, disagreements, senders_of
from tests.differential.kernel.namespaces import Namespaces, missing_tools
from tests.differential.kernel.services import IPV4, IPV6, NODE, Made, random_service
from tests.live.conftest import Lab

pytestmark = [
    pytest.mark.lab,
    pytest.mark.differential,
    pytest.mark.timeout(900, func_only=True),
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]

WHOLE = 300
COUNT = int(os.environ.get("SVCPATH_PROXY_SERVICES", "60"))
SEED = int(os.environ.get("SVCPATH_PROXY_SEED", "20261130"))
SPACE = "ns"
ZONE = "zone-a"
#: Seconds without a change after which kube-proxy is not going to write any more: what failed it tries again in 30 s.
STILL = 40
#: A packet each for this many Services; the tables are compared for all.
PACKETS = 40
#: The Services' part of the lab's ranges, above what the API server hands out by itself (KEP-3070).
LAB4 = replace(IPV4, service_cidr="10.96.0.0/16", first_cluster_ip="10.96.200.10")
LAB6 = replace(IPV6, service_cidr="fd00:96::/112", first_cluster_ip="fd00:96::c800")


@dataclass(frozen=True)
class World:
    """What was applied, as the API shows it now, and the lab that has it."""

    made: dict[int, list[Made]]
    services: list[Service]
    slices: list[EndpointSlice]
    provider: Provider
    home: homes.Home
    zones: dict[str, str]


def _hinted(item: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The slice with topology hints on all endpoints, or on all but one: then they don't count."""
    for endpoint in item["endpoints"]:
        hints: dict[str, Any] = {"forZones": [{"name": chance.choice([ZONE, "zone-b"])}]}
        if chance.random() < 0.3:
            hints["forNodes"] = [{"name": chance.choice([NODE, "w2"])}]
        endpoint["hints"] = hints
    if item["endpoints"] and chance.random() < 0.2:
        del item["endpoints"][0]["hints"]
    return item


def _split(item: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    """One slice as one, or as two of the same Service."""
    if len(item["endpoints"]) < 2 or chance.random() < 0.6:
        return [item]
    half = len(item["endpoints"]) // 2
    first = {**item, "endpoints": item["endpoints"][:half]}
    second = {**item, "endpoints": item["endpoints"][half:]}
    return [first, {**second, "metadata": {**item["metadata"], "name": item["metadata"]["name"] + "2"}}]


def _manifests(
    families: tuple[int, ...], chance: random.Random
) -> tuple[dict[int, list[Made]], list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    made: dict[int, list[Made]] = {}
    services, statuses, slices = [], [], []
    share = max(1, COUNT // len(families))
    for turn, family in enumerate(families):
        plan = LAB4 if family == 4 else LAB6
        made[family] = [random_service(chance, turn * share + number, plan) for number in range(share)]
        for packet in made[family]:
            service, item = packet.objects()
            status = service.pop("status")
            service["apiVersion"] = "v1"
            service["spec"] |= {"ipFamilies": [f"IPv{family}"], "ipFamilyPolicy": "SingleStack"}
            services.append(service)
            if status["loadBalancer"]["ingress"]:
                statuses.append({**service, "status": status})
            item["apiVersion"] = "discovery.k8s.io/v1"
            hinted = _hinted(item, chance) if chance.random() < 0.3 else item
            slices += _split(hinted, chance)
    return made, services, statuses, slices


@pytest.fixture(scope="module")
def world(lab: Lab) -> Iterator[World]:
    home = homes.home(os.environ["SVCPATH_TEST_LAB"])
    spec = home.read_spec()
    if spec.provider != "netns" or spec.nodes < 3:
        pytest.skip("needs a netns lab with two workers")
    families = {"ipv4": (4,), "ipv6": (6,), "dual": (4, 6)}[spec.ip_family]
    kubectl = lab.kubectl
    made, services, statuses, slices = _manifests(families, random.Random(SEED))
    nodes = {"w1": ZONE, "w2": "zone-b"}
    try:
        kubectl.run("create", "namespace", SPACE)
        for node, zone in nodes.items():
            kubectl.run("label", "node", node, f"topology.kubernetes.io/zone={zone}", "--overwrite")
        kubectl.run("create", "-f", "-", stdin=_list(services), timeout=300)
        if statuses:
            kubectl.run("replace", "--subresource=status", "-f", "-", stdin=_list(statuses), timeout=300)
        kubectl.run("create", "-f", "-", stdin=_list(slices), timeout=300)
        yield World(
            made,
            msgspec.convert(kubectl.items("services", "-A"), list[Service]),
            msgspec.convert(kubectl.items("endpointslices", "-A"), list[EndpointSlice]),
            labs.provider(home),
            home,
            nodes,
        )
    finally:
        kubectl.run("delete", "namespace", SPACE, "--wait=true", check=False, timeout=300)
        for node in nodes:
            kubectl.run("label", "node", node, "topology.kubernetes.io/zone-", check=False)
        if home.read_spec().proxy_mode != spec.proxy_mode:
            labs.set_mode(home, spec.proxy_mode, lambda _: None)


def _list(items: list[dict[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def _is(family: int, address: str) -> bool:
    return (":" in address) is (family == 6)


def _dumps(provider: Provider, node: str, mode: str, family: int) -> list[tuple[Kind, str]]:
    """The node's rules in every form its tools print; the first is what the packets meet."""
    if mode == "nftables":
        asked = [
            (Kind.NFT_LIST, ["nft", "list", "ruleset"]),
            (Kind.NFT_LIST, ["nft", "-a", "list", "ruleset"]),
            (Kind.NFT_JSON, ["nft", "-j", "list", "ruleset"]),
        ]
    else:
        tool = "ip6tables-save" if family == 6 else "iptables-save"
        asked = [(Kind.IPTABLES_SAVE, [tool]), (Kind.IPTABLES_SAVE, [tool, "-c"])]
    return [(kind, provider.run_on_node(node, argv).out) for kind, argv in asked]


def _table(kind: Kind, text: str, node: NodeView, family: int) -> ServiceTable:
    tables = parse(kind, text, node=node.name, node_addresses=node.addresses)
    return max(tables, key=lambda table: sum(_is(family, frontend.address) for frontend in table.frontends))


def _settled(world: World, mode: str, node: NodeView, family: int) -> tuple[list[tuple[Kind, str]], list[str]]:
    """Until kube-proxy has written what it is going to: its rules agree, or differ in the same way for a while.

    Objects are read again each time, since what earlier tests made may still be going away.
    """
    before, since = [""], time.monotonic()
    kubectl = world.provider.kubectl()
    while True:
        services = msgspec.convert(kubectl.items("services", "-A"), list[Service])
        slices = msgspec.convert(kubectl.items("endpointslices", "-A"), list[EndpointSlice])
        dumps = _dumps(world.provider, node.name, mode, family)
        lines = [
            f"{node.name} {kind.value}: {line}"
            for kind, text in dumps
            for line in disagreements(_table(kind, text, node, family), services, slices, node)
        ]
        if lines != before:
            before, since = lines, time.monotonic()
        if not lines or time.monotonic() - since > STILL:
            return dumps, lines
        time.sleep(1)


def _view(world: World, name: str) -> NodeView:
    found = world.provider.kubectl().get("node", name)
    addresses = {address["address"] for address in found["status"]["addresses"] if address["type"] == "InternalIP"}
    return NodeView(name=name, zone=world.zones.get(name, ""), addresses=frozenset(addresses))


@pytest.mark.parametrize("mode", ["nftables", "iptables"])
def test_kube_proxys_own_rules_are_the_expected_ones_and_packets_go_where_trace_says(
    world: World, mode: str, say_in_summary: Callable[[str], None]
) -> None:
    if world.home.read_spec().proxy_mode != mode:
        labs.set_mode(world.home, mode, lambda _: None)
    lines: list[str] = []
    for family, made in world.made.items():
        asked, frontends = 0, 0
        found: list[str] = []
        for name in (NODE, "w2", "cp"):
            node = _view(world, name)
            dumps, differences = _settled(world, mode, node, family)
            found += differences
            frontends += len(_table(*dumps[0], node, family).frontends)
            if name == NODE:
                questions, wrong = _packets(world, mode, node, family, dumps[0])
                asked += questions
                found += wrong
        say_in_summary(
            f"kube-proxy {mode} IPv{family}: {len(made)} of {WHOLE // 2} Services on 3 nodes, "
            f"{frontends} frontends, {asked} questions to packets, seed {SEED}, {len(found)} differences"
        )
        lines += found
    assert not lines, "\n".join(lines)


def _packets(world: World, mode: str, node: NodeView, family: int, dump: tuple[Kind, str]) -> tuple[int, list[str]]:
    plan = LAB4 if family == 4 else LAB6
    address = next(address for address in node.addresses if _is(family, address))
    lived = replace(plan, node=address)
    chosen = {
        f"s{packet.number}"
        for packet in random.Random(SEED).sample(world.made[family], min(PACKETS, len(world.made[family])))
    }
    services = [
        service for service in world.services if service.metadata.namespace == SPACE and service.metadata.name in chosen
    ]
    table = _table(*dump, node, family)
    with Namespaces() as namespaces:
        bits = "128" if family == 6 else "32"
        namespaces.run("node", "ip", "addr", "add", f"{address}/{bits}", "dev", "lo")
        if mode == "nftables":
            namespaces.run("node", "nft", "-f", "-", text=dump[1])
        else:
            # The counters of dropped packets (nfacct) are the node's own objects, and count only.
            text = re.sub(r" -m nfacct --nfacct-name +\S+", "", dump[1])
            namespaces.run("node", "ip6tables-nft-restore" if family == 6 else "iptables-nft-restore", text=text)
        senders = functools.partial(senders_of, lived)
        questions, differences = compare(table, services, world.slices, node, senders, namespaces.probe, address)
    return questions, [f"{node.name} packets: {difference}" for difference in differences]
