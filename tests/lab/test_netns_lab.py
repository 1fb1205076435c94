"""The real thing: labs in namespaces come up, work, and leave this machine as it was, also after kill -9.

Needs root, the packages of resources/packages.yaml, and the Kubernetes programs in the cache (or Go to build them).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from svcpath_lab import home as homes
from svcpath_lab import labs
from svcpath_lab.home import Home, LabSpec
from svcpath_lab.netns import cgroups, marks
from svcpath_lab.providers.base import Provider

pytestmark = [pytest.mark.root, pytest.mark.lab, pytest.mark.timeout(900)]

#: Sysctls that count something or change by themselves.
_RESTLESS = ("kernel.random.", "fs.", "kernel.ns_last_pid", "kernel.pty.nr", "net.netfilter.nf_conntrack_count")


def _out(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def _machine(labs_of_this_test: tuple[Home, ...] = ()) -> dict[str, object]:
    """What a lab might leave behind or change outside its own folder; other labs of this machine are let be."""
    sysctls = {
        name: value
        for name, _, value in (line.partition(" = ") for line in _out("sysctl", "-a").splitlines())
        if not name.startswith(_RESTLESS)
    }
    links = [(link["ifname"], link.get("flags")) for link in json.loads(_out("ip", "-j", "link") or "[]")]
    mounts = [line.split(" ", 2)[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return {
        "links": links,
        "addresses": _out("ip", "-o", "address", "show", "scope", "global"),
        "routes": _out("ip", "route", "show", "table", "all") + _out("ip", "-6", "route", "show", "table", "main"),
        "rules": _out("ip", "rule"),
        "nft": _out("nft", "-s", "list", "ruleset"),
        "iptables": [line for line in _out("iptables-save").splitlines() if not line.startswith("#")],
        "sysctls": sysctls,
        "mounts": sorted(mount for mount in mounts if not mount.startswith("/run/netns/")),
        "resolv.conf": Path("/etc/resolv.conf").read_text(),
        "hosts": Path("/etc/hosts").read_text(),
        "namespaces": [name for name in _out("ip", "netns").split() if name.startswith("cni-")],
        "cgroups": [
            str(path)
            for place in labs_of_this_test
            for root in cgroups.hierarchies()
            for path in root.glob(f"{cgroups.branch(place.identity)}*")
        ],
        "folders": [
            path
            for path in (
                "/var/lib/kubelet",
                "/var/lib/containerd",
                "/run/containerd",
                "/var/lib/cni",
                "/opt/cni",
                "/var/log/pods",
            )
            if os.path.exists(path)
        ],
    }


def _quiet(line: str) -> None:
    del line


def _kill(place: Home, names: tuple[str, ...]) -> None:
    for process in list(marks.marked(place.identity)):
        if process.name in names and process.executable != "nsenter":
            os.kill(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def before() -> dict[str, object]:
    return _machine()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def pair(root: Path, before: dict[str, object]) -> Iterator[tuple[Home, Home]]:
    """Two labs side by side: three nodes in nftables mode, and a single dual-stack node in iptables mode."""
    del before
    first_lab, two = homes.home("one", root), homes.home("two", root)
    try:
        labs.bring_up(first_lab, LabSpec(provider="netns", proxy_mode="nftables", nodes=3), _quiet)
        labs.bring_up(two, LabSpec(provider="netns", proxy_mode="iptables", nodes=1, ip_family="dual"), _quiet)
        yield first_lab, two
    finally:
        labs.take_down(first_lab, _quiet)
        labs.take_down(two, _quiet)


def _ready(provider: Provider) -> set[str]:
    return {
        item["metadata"]["name"]
        for item in provider.kubectl().items("nodes")
        if any(
            condition["type"] == "Ready" and condition["status"] == "True" for condition in item["status"]["conditions"]
        )
    }


def test_two_labs_run_side_by_side_each_with_its_own_nodes(pair: tuple[Home, Home]) -> None:
    first, two = (labs.provider(place) for place in pair)
    assert _ready(first) == {"cp", "w1", "w2"}
    assert _ready(two) == {"cp"}
    assert first.nodes() == ("w1", "w2")
    assert two.nodes() == ("cp",)


def test_kube_proxy_says_its_mode_and_the_node_has_that_table(pair: tuple[Home, Home]) -> None:
    first, two = (labs.provider(place) for place in pair)
    for provider, word in ((first, "Using nftables Proxier"), (two, "Using iptables Proxier")):
        log = provider.kubectl().run("-n", "kube-system", "logs", "daemonset/kube-proxy").out
        assert word in log
    assert "table ip kube-proxy" in first.run_on_node("w1", ["nft", "list", "tables"]).out
    assert "KUBE-SVC" in two.run_on_node("cp", ["iptables-save", "-t", "nat"]).out
    assert "KUBE-SERVICES" in two.run_on_node("cp", ["ip6tables-save", "-t", "nat"]).out


def test_a_command_on_a_node_is_given_its_callers_input_and_ends_with_its_own_code(pair: tuple[Home, Home]) -> None:
    provider = labs.provider(pair[0])
    script = ["sh", "-c", "cat; hostname; exit 7"]
    done = subprocess.run(
        provider.on_node("w1", script, terminal=False), input="hi\n", capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("hi\nw1\n", 7)


def test_the_mode_is_switched_by_kube_proxys_config_map(pair: tuple[Home, Home]) -> None:
    place = pair[0]
    labs.set_mode(place, "iptables", _quiet)
    provider = labs.provider(place)
    assert "KUBE-SVC" in provider.run_on_node("w1", ["iptables-save", "-t", "nat"]).out
    assert "kube-proxy" not in provider.run_on_node("w1", ["nft", "list", "tables"]).out
    labs.set_mode(place, "nftables", _quiet)
    assert "KUBE-SVC" not in provider.run_on_node("w1", ["iptables-save", "-t", "nat"]).out


def test_a_second_up_with_another_mode_switches_it(pair: tuple[Home, Home]) -> None:
    place = pair[1]
    spec = place.read_spec()
    labs.bring_up(place, msgspec.structs.replace(spec, proxy_mode="nftables"), _quiet)
    tables = labs.provider(place).run_on_node("cp", ["nft", "list", "tables"]).out
    assert {"table ip kube-proxy", "table ip6 kube-proxy"} <= set(tables.splitlines())


def test_up_mends_what_was_killed(pair: tuple[Home, Home]) -> None:
    place = pair[0]
    _kill(place, ("kubelet", "kube-scheduler", "forwarder", "containerd"))
    labs.bring_up(place, place.read_spec(), _quiet)
    assert _ready(labs.provider(place)) == {"cp", "w1", "w2"}


def test_a_frozen_kube_proxy_is_stopped_on_that_node_alone(pair: tuple[Home, Home]) -> None:
    provider = labs.provider(pair[0])
    state = ["sh", "-c", "ps -o stat= -C kube-proxy"]
    provider.freeze_proxy("w1")
    assert provider.run_on_node("w1", state).out.startswith("T")
    assert not provider.run_on_node("w2", state).out.startswith("T")
    provider.thaw_proxy("w1")
    assert not provider.run_on_node("w1", state).out.startswith("T")


def test_the_machine_is_unchanged_while_labs_run(pair: tuple[Home, Home], before: dict[str, object]) -> None:
    del pair
    assert _machine() == before


def test_down_leaves_nothing_also_after_kill_9_of_anything(
    pair: tuple[Home, Home], before: dict[str, object], root: Path
) -> None:
    first_lab, two = pair
    _kill(first_lab, ("init",))  # every node at once, as a crash would
    _kill(two, ("etcd", "kube-apiserver", "containerd"))
    two.spec_file.unlink()
    labs.take_down(first_lab, _quiet)
    labs.take_down(two, _quiet)
    assert _machine((first_lab, two)) == before
    assert not list(marks.marked(first_lab.identity))
    assert not list(marks.marked(two.identity))
    assert not root.exists() or not list(root.iterdir())
