"""resolve and dataplane on a running cluster: the same answers as from the recording of that cluster."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from svcpath.evidence.sources.recordings import recording_files
from tests.cli.running import Ran, svcpath
from tests.evidence.live.conftest import api
from tests.fixtures.recorded_api import Api, serving


class Live:
    def __init__(self, server: Api, kubeconfig: str) -> None:
        self.server = server
        self.kubeconfig = kubeconfig

    def run(self, *words: str) -> Ran:
        return svcpath(*words, "--kubeconfig", self.kubeconfig, "--timeout", "20s")


@pytest.fixture(params=["iptables", "nftables"])
def live(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Live]:
    server = api(request.param)
    with serving(server):
        yield Live(server, server.kubeconfig(tmp_path))


@pytest.fixture
def recorded(live: Live, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / "evidence"
    folder.mkdir()
    for name, raw in recording_files(request.node.callspec.params["live"]).items():
        (folder / name.removesuffix(".gz")).write_bytes(gzip.decompress(raw))
    return folder


def test_show_lists_what_the_nodes_hold(live: Live, recorded: Path) -> None:
    asked = live.run("dataplane", "show", "-o", "json")
    kept = svcpath("dataplane", "show", "--evidence", recorded, "-o", "json")
    assert (asked.code, kept.code) == (0, 0), asked.err
    assert json.loads(asked.out)["frontends"] == json.loads(kept.out)["frontends"]


def test_drift_sees_a_healthy_cluster_and_a_changed_one(live: Live) -> None:
    found = json.loads(live.run("dataplane", "drift", "-o", "json").out)
    assert {node["node"] for node in found["nodes"]} >= {"w1", "w2"}
    assert found["rows"] == []
    for obj in live.server.objects:
        if obj["kind"] == "EndpointSlice" and obj["metadata"]["name"].startswith("echo-server"):
            obj["endpoints"] = obj["endpoints"][:1]
    ran = live.run("dataplane", "drift", "--node", "w1", "-o", "json")
    rows = json.loads(ran.out)["rows"]
    assert ran.code == 1
    assert {(row["node"], row["kind"]) for row in rows} == {("w1", "stale")}


def test_trace_starts_on_the_clients_node(live: Live) -> None:
    service = next(
        obj for obj in live.server.objects if obj["kind"] == "Service" and obj["metadata"]["name"] == "echo-server"
    )
    to = f"{service['spec']['clusterIP']}:80"
    ran = live.run("dataplane", "trace", "--from", "pod/client", "-n", "service-ops", "--to", to, "-o", "json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    client = next(obj for obj in live.server.objects if obj["kind"] == "Pod" and obj["metadata"]["name"] == "client")
    assert (found["node"], found["outcome"]) == (client["spec"]["nodeName"], "backends")
    assert found["source"] == client["status"]["podIP"]


def test_resolve_reads_the_pods_own_files_and_the_cluster(live: Live, recorded: Path) -> None:
    words = ["echo-server", "empty-service.service-ops", "nope.service-ops", "--resolver", "all", "-o", "json"]
    asked = live.run("resolve", *words, "--from", "pod/client")
    kept = svcpath("resolve", *words, "--from", "pod/client", "-n", "service-ops", "--evidence", recorded)
    assert asked.code == kept.code, asked.err
    assert json.loads(asked.out)["names"] == json.loads(kept.out)["names"]
    assert sum("/exec" in path for _, path in live.server.seen) == 1


def test_resolve_lists_no_more_namespaces_than_the_names_lead_to(live: Live) -> None:
    live.run("resolve", "echo-server", "db.prod", "--resolver", "glibc", "--from", "pod/client")
    listed = {path for _, path in live.server.seen if path.endswith("/services")}
    assert listed == {
        f"/api/v1/namespaces/{name}/services" for name in ("service-ops", "prod", "default", "kube-system")
    }


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["dataplane", "trace", "--from", "pod/nope", "--to", "10.96.0.10:53/udp"], 2, "no Pod nope"),
        (["resolve", "web", "--from", "pod/nope"], 2, "no Pod nope"),
        (["dataplane", "show", "--node", "w9"], 2, "no node w9"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(live: Live, words: list[str], code: int, text: str) -> None:
    ran = live.run(*words)
    assert (ran.code, text in ran.both) == (code, True), ran.both


@pytest.mark.parametrize("command", ["show", "drift"])
def test_nodes_that_can_not_be_read_are_an_unreadable_cluster_with_the_reason(live: Live, command: str) -> None:
    live.server.exec_trouble = "forbidden"
    ran = live.run("dataplane", command)
    assert ran.code == 4
    assert "no right to exec in Pods of namespace kube-system" in ran.err
