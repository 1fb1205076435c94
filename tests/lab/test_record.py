"""A recording holds what commands printed, and leaves out, by name, what could not be had."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, cast

from svcpath_lab.command import Completed
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers.base import NotOffered, Provider
from svcpath_lab.record import RecordingScope, record

KUBECTL = """#!/bin/sh
shift 2
case "$*" in
*"pods -l k8s-app=kube-proxy"*) echo '{"items": [{"metadata": {"name": "kube-proxy-1"}, "spec": {"nodeName": "w1"}}]}';;
*"shop services -o json") echo '{"items": [{"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}]}';;
*"shop endpointslices -o json")
    echo '{"items": [{"ports": [{"port": 8080}], "endpoints": [{"addresses": ["10.0.0.1"]}]}, {"endpoints": []},
    {"ports": [{"port": 53, "protocol": "UDP"}], "endpoints": [{"addresses": ["10.0.0.9"]}]}]}';;
*"shop pods -o json")
    echo '{"items": [{"metadata": {"name": "web-1"}, "status": {"phase": "Running"}},
    {"metadata": {"name": "web-2"}, "status": {"phase": "Pending"}}]}';;
*"exec web-1 -- cat /proc/net/tcp") echo sockets;;
*"exec web-1 -- cat /proc/net/tcp6") exit 1;;
*"exec web-1 -- cat"*) exit 0;;
*"exec client -- cat /etc/resolv.conf") echo nameserver 10.0.0.10;;
*"exec client -- cat /etc/hosts") echo 127.0.0.1 localhost;;
*"exec client -- sh -c"*resolve*) echo "$*" | tail -c 90;;
*"exec client -- sh -c"*request*) echo "$*" | tail -c 90; exit 1;;
*"exec client -- test"*) exit 0;;
*"exec kube-proxy-1 -- iptables-save") echo rules-from-the-proxy-pod;;
*"get namespaces -o json") echo '{"items": [{"metadata": {"name": "shop"}}, {"metadata": {"name": "other"}}]}';;
*"get nodes -o json") echo '{"items": []}';;
*"-o json") echo '{"items": []}';;
*logs*kube-proxy-1*) echo a log line;;
esac
"""


class _Cluster:
    """A provider of which nothing is known but the API and, unless said otherwise, commands on its node."""

    images: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: Path, *, on_nodes: bool) -> None:
        self.on_nodes = on_nodes
        self.program = folder / "kubectl"
        self.program.write_text(KUBECTL)
        self.program.chmod(0o755)

    def kubectl(self) -> Kubectl:
        return Kubectl(self.program, self.program.with_name("kubeconfig"))

    def nodes(self) -> tuple[str, ...]:
        return ("w1",)

    def run_on_node(self, node: str, argv: Sequence[str], *, check: bool = True) -> Completed:
        if not self.on_nodes:
            raise NotOffered("no")
        done = {"iptables-save": ("rules", 0), "nft": ("", 0), "conntrack": ("", 127)}.get(argv[0], ("text", 0))
        return Completed(tuple(argv), done[1], done[0], "not found" if done[1] else "")


def _record(folder: Path, *, on_nodes: bool = True) -> tuple[dict[str, str], list[str]]:
    asked = RecordingScope(("shop",), ("shop/client",), names=("web", "wbe"))
    cluster = cast(Provider, _Cluster(folder, on_nodes=on_nodes))
    missing = record(cluster, folder / "out", asked, lambda line: None)
    return {path.name: path.read_text() for path in (folder / "out").iterdir()}, missing


def test_what_commands_printed_is_kept_under_the_owners_name(tmp_path: Path) -> None:
    files, _ = _record(tmp_path)
    assert files["web-1.proc-net-tcp.txt"] == "sockets\n"
    assert files["client.resolv.conf"] == "nameserver 10.0.0.10\n"
    assert files["w1.iptables-save.txt"] == "rules"
    assert files["w1.kube-proxy.log"] == "a log line\n"
    names = {item["metadata"]["name"] for item in json.loads(files["objects.json"])["items"] if "metadata" in item}
    assert "shop" in names
    assert "other" not in names


def test_names_in_every_form_and_backends_directly_are_tried_from_the_client(tmp_path: Path) -> None:
    files, _ = _record(tmp_path)
    assert "web web.shop web.shop.svc.cluster.local web.shop.svc.cluster.local. wbe" in files["client.names.txt"]
    assert "http://web:80/hostname http://10.0.0.1:8080/hostname" in files["client.attempts.txt"]
    assert "10.0.0.9" not in files["client.attempts.txt"], "datagrams are not tried with HTTP"


def test_what_failed_is_named_and_not_written_and_empty_output_is_no_file(tmp_path: Path) -> None:
    files, missing = _record(tmp_path)
    assert "web-1.proc-net-tcp6.txt" not in files
    assert "w1.conntrack.txt" not in files
    assert "w1.nft-ruleset.txt" not in files
    assert [line.split(":")[0] for line in sorted(missing)] == [
        "w1.conntrack-stats.txt",
        "w1.conntrack.txt",
        "web-1.proc-net-tcp6.txt",
    ]
    assert not [name for name in files if name.startswith("web-2.")], "a Pod that does not run has no sockets to read"


def test_without_access_to_nodes_the_rules_come_from_the_kube_proxy_pod(tmp_path: Path) -> None:
    files, _ = _record(tmp_path, on_nodes=False)
    assert files["w1.iptables-save.txt"] == "rules-from-the-proxy-pod\n"
