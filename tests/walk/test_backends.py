"""The rows and the picture of a report: each backend beside every node's table, drift seen both ways."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svcpath.api import diagnose
from svcpath.evidence.sources.files import FilesSource
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports import records
from svcpath.reports.records import Report
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import NAMESPACE
from tests.walk.layers.every_input import BROKEN, SOUND


def tampered(made: Cluster, count: int) -> Report:
    """The tables are of before; the slices have lost their first ``count`` endpoints since."""
    evidence = made.evidence()
    for item in made.of("EndpointSlice"):
        item["endpoints"] = item["endpoints"][count:]
    evidence["objects.json"] = made.evidence()["objects.json"]
    return diagnose(BytesSource(evidence), "svc/web", namespace=NAMESPACE)


def programmed(count: int = 3) -> Cluster:
    made = cluster(count).settle()
    made.dumps = True
    return made


def states(row: records.BackendRow) -> set[tuple[str, str, str]]:
    return {(table.node, table.state, table.share) for table in row.tables}


def test_every_backend_is_held_by_every_node_with_its_share() -> None:
    report = programmed().diagnose()
    assert report.verdict.status == "healthy"
    assert len(report.backends) == 3
    for row in report.backends:
        assert states(row) == {("w1", "present", "1/3"), ("w2", "present", "1/3")}
        assert (row.ready, row.serving, row.terminating, row.pod_ready) == (True, True, False, True)
        assert [chain.socket for chain in row.ports] == ["listens"]
        assert all(table.line > 0 and table.path == f"{table.node}.iptables-save.txt" for table in row.tables)


def test_a_backend_that_no_slice_gives_is_stale_where_it_is_held() -> None:
    report = tampered(programmed(), 1)
    gone = next(row for row in report.backends if not row.slice)
    assert states(gone) == {("w1", "stale", "1/3"), ("w2", "stale", "1/3")}
    assert gone.ready is None
    assert {state for row in report.backends if row.slice for _, state, _ in states(row)} == {"present"}


def test_a_backend_that_a_table_does_not_have_is_missing_there_alone() -> None:
    made, small = programmed(3), programmed(3)
    small.get("Pod", "web-1")["metadata"]["labels"] = {}
    evidence = made.evidence()
    evidence["w2.iptables-save.txt"] = small.settle().evidence()["w2.iptables-save.txt"]
    report = diagnose(BytesSource(evidence), "svc/web", namespace=NAMESPACE)
    row = next(row for row in report.backends if row.pod == "web-1")
    assert states(row) == {("w1", "present", "1/3"), ("w2", "missing", "")}


def test_a_port_that_differs_is_a_wrong_port_and_not_two_backends() -> None:
    made = programmed(2)
    evidence = made.evidence()
    before = evidence["w1.iptables-save.txt"]
    first = made.get("Pod", "web-1")["status"]["podIP"]
    port = made.of("EndpointSlice")[0]["ports"][0]["port"]
    evidence["w1.iptables-save.txt"] = before.replace(f"{first}:{port}".encode(), f"{first}:9999".encode())
    assert evidence["w1.iptables-save.txt"] != before
    report = diagnose(BytesSource(evidence), "svc/web", namespace=NAMESPACE)
    row = next(row for row in report.backends if row.pod == "web-1")
    assert {(table.node, table.state, table.port) for table in row.tables} == {
        ("w1", "wrong port", 9999),
        ("w2", "present", port),
    }
    assert len(report.backends) == 2


def test_two_ports_of_one_address_are_two_backends() -> None:
    """Pods of the host network; a kube-proxy that knows endpoints by address alone has only one of them."""
    folder = Path(__file__).parents[1] / "cases" / "public" / "31-same-ip-different-port-hostnetwork"
    report = diagnose(FilesSource([folder]), "svc/hn", namespace="shop")
    port_states = {(row.pod, table.port, table.state) for row in report.backends for table in row.tables}
    assert port_states == {("hn-1", 8080, "present"), ("hn-2", 8081, "missing")}


def test_a_dump_of_one_family_says_nothing_of_the_other() -> None:
    made = cluster(2, dual=True).settle()
    made.dumps = True
    evidence = made.evidence()
    four = {name: data for name, data in evidence.items() if "ip6tables" not in name}
    alone = diagnose(BytesSource(four), "svc/web", namespace=NAMESPACE)
    assert {(":" in row.address, state) for row in alone.backends for _, state, _ in states(row)} == {
        (False, "present")
    }
    assert {":" in row.address for row in alone.backends} == {False, True}


def test_without_slices_nothing_says_what_a_table_should_hold() -> None:
    made = programmed()
    evidence = made.evidence()
    made.drop("EndpointSlice")
    alone = [obj for obj in made.objects if obj["kind"] == "Service"]
    made.objects = alone

    evidence["objects.json"] = json.dumps(alone[0]).encode()
    report = diagnose(BytesSource(evidence), "svc/web", namespace=NAMESPACE)
    assert [table for row in report.backends for table in row.tables] == []


def test_a_pod_that_the_selector_picks_and_no_slice_lists_has_a_row() -> None:
    made = cluster(2).settle()
    for item in made.of("EndpointSlice"):
        item["endpoints"] = item["endpoints"][1:]
    report = made.diagnose()
    assert sorted((row.pod, bool(row.slice)) for row in report.backends) == [("web-1", False), ("web-2", True)]


def test_the_picture_has_the_seven_hops_in_the_order_of_the_packet() -> None:
    report = programmed().diagnose()
    assert [hop.kind for hop in report.path] == [
        "client",
        "resolver",
        "cluster-dns",
        "service",
        "slices",
        "dataplane",
        "pods",
    ]
    layers = [layer.name for layer in report.layers]
    assert all(set(hop.layers) <= set(layers) for hop in report.path)


@pytest.mark.parametrize("client", ["", "node/w1"])
def test_a_row_never_says_more_than_the_layers_do(client: str) -> None:
    """Where the data plane's layer passes, no row shows drift; where ports pass, every usable socket listens."""
    for made in (*BROKEN, *SOUND):
        options = made.options.copy()
        if client:
            options["client"] = client
        report = made.build().diagnose(made.target, **options) if client else made.report
        ended = {layer.name: layer.status for layer in report.layers}
        seen = {table.state for row in report.backends for table in row.tables if not client or table.node == "w1"}
        if ended["dataplane"] == "pass":
            assert seen <= {"present"}, made.name
        usable = {chain.socket for row in report.backends for chain in row.ports if row.ready}
        if ended["ports"] == "pass":
            assert usable <= {"listens", "not looked at", ""}, made.name
