from __future__ import annotations

import json
from typing import Any

import pytest

from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import State
from svcpath.evidence.sources.memory import BytesSource
from tests.evidence.samples import SAMPLES

RULES = SAMPLES["iptables-save__case38"]
RESOLV = SAMPLES["resolv.conf__case01"]
FLOWS = SAMPLES["conntrack__case38"]
HOST_RESOLV = SAMPLES["resolv.conf__case11-node"]


def pod(
    name: str, node: str = "w1", ip: str = "10.244.1.9", host: bool = False, namespace: str = "shop"
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"nodeName": node, "hostNetwork": host, "containers": [{"name": "app"}, {"name": "side-car"}]},
        "status": {"phase": "Running", "podIP": ip},
    }


def node(name: str, address: str = "172.30.0.12") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"addresses": [{"type": "InternalIP", "address": address}]},
    }


def listing(*objects: dict[str, Any]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()


CLUSTER = listing(
    pod("client", "w2", "10.244.2.42"),
    pod("web-1"),
    pod("web-1-canary", "w2", "10.244.2.7"),
    pod("kube-proxy-abc", "w1", "172.30.0.12", host=True, namespace="kube-system"),
    node("w1"),
    node("w1-gpu", "172.30.0.13"),
    node("ip-10-0-0-1.ec2.internal", "10.0.0.1"),
)


def owner(path: str, data: bytes, **others: bytes) -> tuple[str, str, str]:
    source = BytesSource({path: data, "objects.json": CLUSTER, **others})
    (found,) = [entry for entry in source.inventory() if entry.provenance.path == path]
    return found.provenance.node, found.provenance.pod, found.provenance.container


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("w1.iptables-save.txt", RULES, ("w1", "", "")),
        ("iptables-save.w1.txt", RULES, ("w1", "", "")),
        ("w1/iptables-save.txt", RULES, ("w1", "", "")),
        ("nodes/W1/rules", RULES, ("w1", "", "")),
        ("w1-gpu-iptables.txt", RULES, ("w1-gpu", "", "")),
        ("w10.iptables-save.txt", RULES, ("", "", "")),
        ("iptables_ip-10-0-0-1.ec2.internal.txt", RULES, ("ip-10-0-0-1.ec2.internal", "", "")),
        ("kube-proxy-abc/iptables-save", RULES, ("w1", "", "")),
        ("web-1.iptables-save", RULES, ("", "shop/web-1", "")),
        ("client.resolv.conf", RESOLV, ("", "shop/client", "")),
        ("web-1.resolv.conf", RESOLV, ("", "shop/web-1", "")),
        ("web-1-canary.resolv.conf", RESOLV, ("", "shop/web-1-canary", "")),
        ("shop/web-1/side-car/resolv.conf", RESOLV, ("", "shop/web-1", "side-car")),
        ("w1.resolv.conf", RESOLV, ("w1", "", "")),
        ("w1/client.resolv.conf", RESOLV, ("", "shop/client", "")),
        ("node-resolv.conf", HOST_RESOLV, ("?", "", "")),
        ("resolv.conf", RESOLV, ("", "", "")),
        ("kube-system/kube-proxy-abc/logs.txt", SAMPLES["log__kube-proxy"], ("w1", "kube-system/kube-proxy-abc", "")),
    ],
)
def test_the_path_names_the_owner(path: str, data: bytes, expected: tuple[str, str, str]) -> None:
    assert owner(path, data) == expected


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        ("10.244.1.9:8080", ("", "shop/web-1", "")),
        ("172.30.0.13:22", ("w1-gpu", "", "")),
        ("127.0.0.1:8080", ("", "", "")),
        ("192.0.2.1:80", ("", "", "")),
    ],
)
def test_a_nameless_socket_list_belongs_to_the_address_it_shows(local: str, expected: tuple[str, str, str]) -> None:
    table = f"State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 0 {local} 10.0.0.9:4000\n"
    assert owner("sockets.txt", table.encode()) == expected


def test_a_hosts_file_belongs_to_the_pod_of_its_last_entry() -> None:
    assert owner("hosts", SAMPLES["hosts__client"]) == ("", "shop/client", "")


def test_names_that_set_files_apart_are_owners_when_nothing_is_known() -> None:
    source = BytesSource(
        {
            "a7.iptables-save.txt": RULES,
            "b7.iptables-save.txt": RULES,
            "x.resolv.conf": RESOLV,
            "x.hosts": b"10.0.0.1 x\n",
        }
    )
    owners = {entry.provenance.path: (entry.provenance.node, entry.provenance.pod) for entry in source.inventory()}
    assert owners == {
        "a7.iptables-save.txt": ("a7", ""),
        "b7.iptables-save.txt": ("b7", ""),
        "x.hosts": ("", "x"),
        "x.resolv.conf": ("", "x"),
    }


def test_folders_that_hold_the_same_files_are_owners_when_nothing_is_known() -> None:
    source = BytesSource({"a7/rules": RULES, "a7/flows": FLOWS, "b7/rules": RULES, "c/README": b"hello there"})
    owners = {entry.provenance.path: entry.provenance.node for entry in source.inventory()}
    assert owners == {"a7/flows": "a7", "a7/rules": "a7", "b7/rules": "b7", "c/README": ""}


def test_files_of_two_nodes_keep_apart() -> None:
    source = BytesSource({"w1.iptables-save": RULES, "w1-gpu.conntrack": FLOWS, "objects.json": CLUSTER})
    (rules,), (none,) = source.observe([Need(Kind.IPTABLES_SAVE, node="w1"), Need(Kind.IPTABLES_SAVE, node="w1-gpu")])
    assert rules.state is State.PRESENT
    assert none.state is State.UNREADABLE
    assert "only of node w1" in none.why


def test_attempts_are_the_pods_whose_file_it_is() -> None:
    source = BytesSource({"client.attempts.txt": SAMPLES["attempts__curl"], "objects.json": CLUSTER})
    ((found,),) = source.observe([Need(Kind.ATTEMPTS, pod="client")])
    assert {attempt.client for attempt in found.fact.attempts} == {"shop/client"}
