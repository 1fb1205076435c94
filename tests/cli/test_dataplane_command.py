"""`svcpath dataplane` on the shipped recordings: silent when healthy, exact when one thing is changed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run
from svcpath.evidence.sources.recordings import NAMES, recording_files


@pytest.fixture
def evidence(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A recording, unpacked into a folder that a test may change."""
    for name, raw in recording_files(request.param).items():
        (tmp_path / name.removesuffix(".gz")).write_bytes(gzip.decompress(raw))
    return tmp_path


modes = pytest.mark.parametrize("evidence", NAMES, indirect=True)


def _drift(folder: Path, capfd: pytest.CaptureFixture[str], *extra: str) -> tuple[int, dict[str, Any]]:
    code = run(["dataplane", "drift", "--evidence", str(folder), "-o", "json", *extra])
    return code, json.loads(capfd.readouterr().out)


@modes
def test_a_healthy_recording_has_no_drift(evidence: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, found = _drift(evidence, capfd)
    assert (code, found["rows"], found["undecided"]) == (0, [], [])
    assert {node["node"] for node in found["nodes"]} == {"w1", "w2"}


@modes
def test_an_endpoint_removed_from_the_slices_is_one_stale_backend_on_each_node(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    objects = json.loads((evidence / "objects.json").read_text())
    for obj in objects["items"]:
        if obj["kind"] == "EndpointSlice" and obj["metadata"]["name"].startswith("echo-server"):
            obj["endpoints"] = [endpoint for endpoint in obj["endpoints"] if endpoint["addresses"] != ["10.244.1.9"]]
    (evidence / "objects.json").write_text(json.dumps(objects))
    code, found = _drift(evidence, capfd)
    assert code == 1
    assert [(row["node"], row["kind"], row["backend"], row["share"]) for row in found["rows"]] == [
        ("w1", "stale", "10.244.1.9:8080", "1/2"),
        ("w2", "stale", "10.244.1.9:8080", "1/2"),
    ]
    assert all(row["rule"] > 0 and row["frontend"] == "10.96.28.101:80/tcp" for row in found["rows"])


@pytest.mark.parametrize("evidence", ["iptables"], indirect=True)
def test_a_rule_removed_from_one_node_is_a_difference_on_that_node_alone(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dump = evidence / "w1.iptables-save.txt"
    lines = dump.read_text().splitlines(keepends=True)
    dump.write_text("".join(line for line in lines if "--to-destination 10.244.1.9:8080" not in line))
    (evidence / "w1.nft-ruleset.txt").unlink()
    code, found = _drift(evidence, capfd)
    assert code in (1, 3)
    assert {row["node"] for row in found["rows"]} == {"w1"}
    assert {row["frontend"] for row in found["rows"]} == {"10.96.28.101:80/tcp"}


@modes
def test_a_trace_prints_each_rule_met_with_its_line(evidence: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["dataplane", "trace", "--from", "pod/client", "-n", "service-ops", "--to", "10.96.0.10:53/udp"]
    assert run([*command, "--evidence", str(evidence)]) == 0
    shown = capfd.readouterr().out
    for words in ("BACKENDS: 10.244.1.7:53 (100 %)", "line ", "w2"):
        assert words in shown


@modes
def test_a_trace_from_a_backend_marks_the_one_share_that_is_masqueraded(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A Pod that reaches itself through its Service; what it sends to the other Pod keeps its address."""
    command = ["dataplane", "trace", "--from", "10.244.2.4", "--to", "10.96.28.101:80", "--evidence", str(evidence)]
    assert run(command) == 0
    shown = capfd.readouterr().out
    assert "10.244.2.4:8080 (50 %, masqueraded)" in shown
    assert "10.244.1.9:8080 (50 %)" in shown


@modes
@pytest.mark.parametrize(
    ("client", "origin", "masqueraded"),
    [("", "pod", False), ("10.244.1.9", "pod", True), ("172.30.0.12", "node", True), ("203.0.113.9", "external", True)],
)
def test_a_trace_knows_whose_address_sends_and_takes_some_pod_of_the_node_for_none(
    evidence: Path, capfd: pytest.CaptureFixture[str], client: str, origin: str, masqueraded: bool
) -> None:
    whose = ["--from", client] if client else []
    command = ["dataplane", "trace", *whose, "--to", "10.96.28.101:80", "--node", "w1", "--evidence", str(evidence)]
    assert run([*command, "-o", "json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert (shown["origin"], shown["masquerade"]) == (origin, masqueraded)


@modes
def test_a_trace_to_a_service_without_endpoints_is_rejected(evidence: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["dataplane", "trace", "--to", "10.96.78.144:80", "--evidence", str(evidence)]
    assert run(command) == 1
    assert "REJECT" in capfd.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["dataplane", "trace", "--to", "10.96.0.10", "--evidence", "."],
        ["dataplane", "trace", "--to", "fd00::a:80", "--evidence", "."],
        ["dataplane", "trace", "--to", "10.96.0.10:99999", "--evidence", "."],
        ["dataplane", "trace", "--from", "10.244.1.9", "--to", "[fd00::a]:80", "--evidence", "."],
        ["dataplane", "drift"],
    ],
)
def test_what_can_not_be_meant_is_a_usage_error(command: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 2
    assert capfd.readouterr().err.startswith("svcpath: ")


@modes
def test_a_node_that_is_not_there_lists_those_that_are(evidence: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["dataplane", "drift", "--node", "w9", "--evidence", str(evidence)]) == 2
    assert "w1, w2" in capfd.readouterr().err


@modes
def test_the_listing_names_each_service_behind_its_frontend(evidence: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["dataplane", "show", "--evidence", str(evidence), "-o", "json"]) == 0
    found = json.loads(capfd.readouterr().out)
    mine = [
        frontend
        for frontend in found["frontends"]
        if frontend["node"] == "w1" and frontend["frontend"] == "10.96.28.101:80/tcp"
    ]
    assert [sorted(frontend["backends"]) for frontend in mine] == [["10.244.1.9:8080 1/2", "10.244.2.4:8080 1/2"]]
    assert mine[0]["service"].startswith("service-ops/echo-server")


@pytest.mark.parametrize("evidence", ["nftables"], indirect=True)
def test_tables_without_the_services_they_serve_are_undecided(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (evidence / "objects.json").unlink()
    assert run(["dataplane", "drift", "--evidence", str(evidence)]) == 3
    assert "Services not read" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "table", "words"),
    [
        ("w1.ipvsadm-Ln.txt", "IP Virtual Server version 1.2.1 (size=4096)\nTCP  10.96.40.80:80 rr\n", "are refused"),
        (
            "w1.calico-nat-dump.txt",
            "10.96.40.80 port 80 proto 6 id 9 count 1 local 0 flags , internal-local\n\t9:0\t 10.244.2.80:8080\n",
            "DROPped (internalTrafficPolicy Local, no local endpoint): a timeout, not refused",
        ),
    ],
)
def test_a_node_without_a_local_endpoint_refuses_or_drops_as_its_data_plane_does(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, table: str, words: str
) -> None:
    port = {"name": "http", "port": 80, "protocol": "TCP"}
    service = {
        "clusterIP": "10.96.40.80",
        "clusterIPs": ["10.96.40.80"],
        "internalTrafficPolicy": "Local",
        "ports": [port],
    }
    meta = {"name": "web-a", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"}}
    endpoint = {"addresses": ["10.244.2.80"], "nodeName": "w2", "conditions": {"ready": True}}
    items = [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}, "spec": service},
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": meta,
            "addressType": "IPv4",
            "endpoints": [endpoint],
            "ports": [{**port, "port": 8080}],
        },
        *(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}, "status": {"conditions": []}}
            for node in ("w1", "w2")
        ),
    ]
    (tmp_path / "objects.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    (tmp_path / name).write_text(table)
    assert run(["diagnose", "svc/web", "-n", "shop", "--evidence", str(tmp_path)]) == 1
    assert words in capfd.readouterr().out
