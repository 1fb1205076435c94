"""The client's DNS as its Pod's specification gives it, when its resolv.conf is not in the evidence."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.reports.records import Report
from tests.walk.layers.resolution.egress_policies import APP, let_out


def _objects() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(gzip.decompress(recording_files("nftables")["objects.json.gz"]))
    return recorded


def _diagnose(objects: dict[str, Any], *, lookup: str = "", resolver: str = "", **files: str) -> Report:
    raw = {name.replace("_", "."): text.encode() for name, text in files.items()}
    raw["coredns.json"] = gzip.decompress(recording_files("nftables")["coredns-configmap.json.gz"])
    raw["objects.json"] = json.dumps(objects).encode()
    return diagnose(
        BytesSource(raw),
        "svc/echo-server",
        namespace="service-ops",
        client="pod/client",
        lookup=lookup,
        resolver=resolver,
    )


def _with_client(**spec: Any) -> dict[str, Any]:
    objects = _objects()
    for obj in objects["items"]:
        if obj["kind"] == "Pod" and obj["metadata"]["name"] == "client":
            obj["spec"] |= spec
    return objects


def _layer(report: Report, name: str) -> tuple[str, str]:
    found = next(layer for layer in report.layers if layer.name == name)
    return found.status, found.sentence


def test_cluster_first_is_judged_as_the_kubelet_writes_it_and_said_so() -> None:
    report = _diagnose(_with_client())
    status, sentence = _layer(report, "resolution")
    assert (status, report.verdict.status) == ("pass", "healthy")
    assert "10.96.28.101" in sentence
    assert any("as the kubelet writes it" in gap.why for gap in report.not_looked_at)


@pytest.mark.parametrize("spec", [{"dnsPolicy": "Default"}, {"hostNetwork": True, "dnsPolicy": "ClusterFirst"}])
def test_a_node_s_own_servers_are_not_known_and_as_a_rule_know_no_service(spec: dict[str, Any]) -> None:
    report = _diagnose(_with_client(**spec))
    assert _layer(report, "resolution")[0] == "warn"
    assert (report.verdict.status, report.verdict.code) == ("warning", "SP109")
    assert "was not looked at" in report.verdict.summary


def test_a_lookup_that_succeeds_shows_that_policies_let_the_client_ask() -> None:
    made = let_out({"to": [APP]})
    assert made.diagnose(client="pod/client").verdict.code == "SP125"
    made.files["client.names.txt"] = "glibc-2.36 web -> 10.96.10.1\n"
    assert made.diagnose(client="pod/client").verdict.status == "healthy"


def test_other_servers_in_dns_config_do_not_know_the_service() -> None:
    report = _diagnose(_with_client(dnsPolicy="None", dnsConfig={"nameservers": ["192.0.2.53"]}))
    assert (report.verdict.status, report.verdict.layer, report.verdict.code) == ("fault", "resolution", "SP109")
    assert "192.0.2.53" in report.verdict.summary


def test_with_ndots_1_musl_asks_the_upstream_alone_whose_answer_is_not_the_service() -> None:
    spec = {"dnsPolicy": "ClusterFirst", "dnsConfig": {"options": [{"name": "ndots", "value": "1"}]}}
    name = "echo-server.service-ops"
    report = _diagnose(_with_client(**spec), lookup=name, resolver="musl")
    assert _layer(report, "resolution")[0] == "warn"
    assert (report.verdict.status, report.verdict.code) == ("warning", "SP122")
    assert "echo-server.service-ops.svc.cluster.local" in report.verdict.summary
    assert any(gap.what == f"what answers {name} for musl, musl-1.2.3" for gap in report.not_looked_at)
    searching = {"dnsPolicy": "ClusterFirst", "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]}}
    assert _layer(_diagnose(_with_client(**searching), lookup=name, resolver="musl"), "resolution")[0] == "pass"


def test_host_aliases_that_hide_the_service_are_a_fault_and_right_ones_are_not() -> None:
    wrong = _with_client(hostAliases=[{"ip": "192.0.2.9", "hostnames": ["echo-server"]}])
    report = _diagnose(wrong)
    assert (report.verdict.status, report.verdict.code) == ("fault", "SP107")
    assert "192.0.2.9" in report.verdict.summary
    right = _with_client(hostAliases=[{"ip": "10.96.28.101", "hostnames": ["echo-server"]}])
    assert _diagnose(right).verdict.status == "healthy"


def test_a_corefile_of_another_cluster_domain_is_a_fault() -> None:
    conf = "search service-ops.svc.k8s.corp svc.k8s.corp k8s.corp\nnameserver 10.96.0.10\noptions ndots:5\n"
    report = _diagnose(_with_client(), client_resolv_conf=conf)
    assert (report.verdict.status, report.verdict.layer) == ("fault", "resolution")
    assert "SP108" in {finding.code for finding in report.findings}


def test_an_error_line_about_the_name_is_a_warning_and_one_about_another_is_bait() -> None:
    line = "[ERROR] plugin/errors: 2 {}. A: read udp 10.244.1.7:39411->192.0.2.53:53: i/o timeout\n"
    start = ".:53\n[INFO] plugin/reload: Running configuration SHA512 = 0\n"
    name = "api.partner.example"
    mine = _diagnose(_with_client(), lookup=name, coredns_log=start + line.format(name))
    assert "SP115" in {finding.code for finding in mine.findings}
    other = _diagnose(_with_client(), coredns_log=start + line.format("www.example.org"))
    assert other.verdict.status == "healthy"
    assert "SP115" not in {finding.code for finding in other.findings}


def test_a_new_revision_is_among_what_changed_lately() -> None:
    report = _diagnose(_with_client())
    assert (
        any("ReplicaSet" in change.what and "revision" in change.what for change in report.changes)
        or len(report.changes) == 8
    )
