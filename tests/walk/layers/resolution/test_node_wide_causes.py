"""Lookups that fail because the client's node forwards nothing: the layer is resolution, the cause the node's setting."""

from __future__ import annotations

import pytest

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.reports.records import Report

NAME = "echo-server"
LOST = f"glibc-2.36 {NAME} -> -3 Temporary failure in name resolution\n"
RESOLVED = f"glibc-2.36 {NAME} -> 10.96.28.101\n"
FULL = "net.netfilter.nf_conntrack_max = 262144\nnet.netfilter.nf_conntrack_count = 262131\n"


def _diagnose(names: str, sysctls: str, node: str = "w2") -> Report:
    files = {path: data for path, data in recording_files("nftables").items() if "attempts" not in path}
    files.pop("client.names.txt.gz")
    files["client.names.txt"] = names.encode()
    files[f"{node}.sysctl.txt"] = sysctls.encode()
    return diagnose(BytesSource(files), f"svc/{NAME}", namespace="service-ops", client="pod/client", resolver="glibc")


@pytest.mark.parametrize("sysctls", ["net.ipv4.ip_forward = 0\n", FULL])
def test_a_node_that_carries_nothing_is_the_cause_of_lookups_that_fail(sysctls: str) -> None:
    verdict = _diagnose(LOST, sysctls).verdict
    assert (verdict.status, verdict.layer, verdict.cause_layer, verdict.code) == (
        "fault",
        "resolution",
        "dataplane",
        "SP617",
    )
    assert sysctls.split(" ")[0].rpartition(".")[0] in verdict.summary


def test_lookups_that_fail_on_a_sound_node_stay_the_finding_of_their_own_layer() -> None:
    verdict = _diagnose(LOST, "net.ipv4.ip_forward = 1\n").verdict
    assert (verdict.status, verdict.layer, verdict.code) == ("fault", "resolution", "SP118")


def test_another_nodes_setting_is_no_cause_of_this_clients_lookups() -> None:
    assert _diagnose(LOST, "net.ipv4.ip_forward = 0\n", node="w1").verdict.code == "SP118"


def test_a_sound_node_and_lookups_that_work_are_healthy() -> None:
    assert _diagnose(RESOLVED, "net.ipv4.ip_forward = 1\n").verdict.status == "healthy"
