"""The way a node's tables send a packet: rules in order, longest prefix, and the running kernel as the oracle."""

from __future__ import annotations

import os
import random
import shutil
import subprocess

import pytest

from svcpath.evidence.formats import routes
from svcpath.models.dataplanes.routing import way

RULES = ["0:\tfrom all lookup local", "32766:\tfrom all lookup main", "32767:\tfrom all lookup default"]


def _way(lines: list[str], target: str, source: str = "", rules: list[str] = RULES) -> str:
    tables, bad = routes.read([*rules, *lines])
    assert bad == []
    found = way(tables, target, source)
    return "open" if found.open else "dead" if found.dead else found.route.device if found.route else "none"


MAIN = ["default via 10.0.0.1 dev eth0", "10.244.1.0/24 via 10.0.0.11 dev eth0", "10.244.2.0/24 dev cni0"]


@pytest.mark.parametrize(
    ("lines", "target", "expected"),
    [
        (MAIN, "10.244.2.7", "cni0"),
        (MAIN, "192.0.2.1", "eth0"),
        ([*MAIN, "blackhole 10.244.2.7"], "10.244.2.7", "dead"),
        ([*MAIN, "blackhole 10.244.2.0/25 metric 5"], "10.244.2.200", "cni0"),
        ([*MAIN, "unreachable 10.244.2.0/24 metric 900"], "10.244.2.7", "cni0"),
        (["10.244.2.0/24 dev a metric 20", "10.244.2.0/24 dev b metric 10"], "10.244.2.1", "b"),
        (["10.244.2.0/24 dev cni0"], "10.9.0.1", "dead"),
        (
            ["fd00::/8 dev eth0 metric 1024 pref medium", "blackhole fd00:1::/32 dev lo metric 1024"],
            "fd00:1::9",
            "dead",
        ),
    ],
)
def test_the_longest_prefix_then_the_least_metric_decides(lines: list[str], target: str, expected: str) -> None:
    assert _way(lines, target) == expected


def test_a_rule_by_source_sends_only_that_source_elsewhere() -> None:
    rules = [RULES[0], "100:\tfrom 10.244.2.7 lookup 7", *RULES[1:]]
    lines = [*MAIN, "blackhole default table 7"]
    assert _way(lines, "192.0.2.1", "10.244.2.7", rules) == "dead"
    assert _way(lines, "192.0.2.1", "10.244.2.8", rules) == "eth0"
    assert _way(lines, "192.0.2.1", "", rules) == "open"


@pytest.mark.parametrize("selector", ["fwmark 0x200/0xf00", "iif eth0", "ipproto tcp dport 80"])
def test_a_rule_that_asks_for_more_than_addresses_leaves_its_tables_outcome_open(selector: str) -> None:
    rules = [RULES[0], f"9:\tfrom all {selector} lookup 2004", *RULES[1:]]
    assert _way([*MAIN, "local default dev lo table 2004"], "10.244.2.7", "", rules) == "open"
    assert _way([*MAIN, "10.9.0.0/16 dev lo table 2004"], "10.244.2.7", "", rules) == "cni0"


def test_throw_goes_on_with_the_next_table() -> None:
    rules = [RULES[0], "50:\tfrom all lookup 5", *RULES[1:]]
    assert _way([*MAIN, "throw 10.244.0.0/16 table 5", "default dev tun0 table 5"], "10.244.2.7", "", rules) == "cni0"
    assert _way([*MAIN, "throw 10.244.0.0/16 table 5", "default dev tun0 table 5"], "10.9.0.1", "", rules) == "tun0"


KINDS = ("unicast", "blackhole", "unreachable", "prohibit")
usable = os.geteuid() == 0 and shutil.which("ip") and shutil.which("unshare")


@pytest.mark.skipif(not usable, reason="needs root, ip and unshare")
@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_takes_the_same_way(seed: int) -> None:
    chance = random.Random(seed)
    setup = ["ip link set lo up"]
    for number in (0, 1, 2):
        setup += [f"ip link add d{number} type dummy", f"ip addr add 10.9.{number}.1/24 dev d{number}"]
        setup += [f"ip addr add fd00:9:{number}::1/64 dev d{number} nodad", f"ip link set d{number} up"]
    for number in range(40):
        family = chance.choice((4, 6))
        length = chance.choice((8, 16, 24, 32) if family == 4 else (32, 64, 96, 128))
        address = f"10.{chance.randrange(100, 103)}.{chance.randrange(3)}.{chance.randrange(4)}"
        if family == 6:
            address = f"fd00:{chance.randrange(100, 103)}:{chance.randrange(3)}::{chance.randrange(4)}"
        kind = chance.choice(KINDS)
        device = f" dev d{chance.randrange(3)}" if kind == "unicast" else ""
        table = chance.choice(("main", "main", "17"))
        metric = f" metric {number + 10}"
        setup.append(f"ip -{family} route add {kind} {_network(address, length)}{device}{metric} table {table}")
    setup += [
        "ip rule add from 10.9.1.1 lookup 17 priority 50",
        "ip -6 rule add from fd00:9:1::1 lookup 17 priority 50",
    ]
    asks = []
    for _ in range(60):
        family = chance.choice((4, 6))
        host = chance.randrange(3), chance.randrange(3), chance.randrange(4)
        address = (
            f"10.{100 + host[0]}.{host[1]}.{host[2]}" if family == 4 else f"fd00:{100 + host[0]}:{host[1]}::{host[2]}"
        )
        number = chance.randrange(2)
        source = f"10.9.{number}.1" if family == 4 else f"fd00:9:{number}::1"
        asks.append((address, source))
    lines = [f"echo '? {a} {s}'; ip route get {a} from {s} 2>&1" for a, s in asks]
    shown = "echo '# tables'; ip -4 rule; ip -4 route show table all; ip -6 rule; ip -6 route show table all"
    script = "\n".join([*(f"{command} 2>/dev/null" for command in setup), *lines, shown])
    done = subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, check=True, timeout=60)
    answers, _, tables = done.stdout.partition("# tables\n")
    parsed, bad = routes.read(tables.splitlines())
    assert bad == []
    for answer in answers.split("? ")[1:]:
        head, _, rest = answer.partition("\n")
        address, source = head.split()
        found = way(parsed, address, source)
        assert not found.open
        devices = [f"d{number}" for number in range(3) if f"dev d{number} " in rest]
        expected = devices[0] if devices and "Error" not in rest and "unreachable" not in rest else "dead"
        got = "dead" if found.dead else found.route.device if found.route else ""
        assert got == expected, (head, rest, found)


def _network(address: str, length: int) -> str:
    import ipaddress

    return str(ipaddress.ip_network(f"{address}/{length}", strict=False))
