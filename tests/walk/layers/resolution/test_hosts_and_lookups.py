"""A recorded lookup with an address that is not the Service's: the hosts file is named where that is where it stands."""

from __future__ import annotations

import pytest

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.reports.records import Report

NAME = "echo-server"
RIGHT = "10.96.28.101"


def _diagnose(answer: str, hosts: str) -> Report:
    files = {path: data for path, data in recording_files("nftables").items() if "attempts" not in path}
    for path in ("client.names.txt.gz", "client.hosts.gz"):
        files.pop(path)
    files["client.names.txt"] = f"glibc-2.36 {NAME} -> {answer}\n".encode()
    files["client.hosts"] = f"127.0.0.1\tlocalhost\n{hosts}\n".encode()
    return diagnose(BytesSource(files), f"svc/{NAME}", namespace="service-ops", client="pod/client", resolver="glibc")


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("192.0.2.10", f"192.0.2.10 {NAME}"),
        ("192.0.2.10", f"192.0.2.10\tshop {NAME.upper()} # by hostAliases"),
        ("2001:db8::10", f"2001:0db8::0010 {NAME}"),
    ],
)
def test_an_address_that_the_hosts_file_gives_is_the_hosts_files_doing(answer: str, line: str) -> None:
    verdict = _diagnose(answer, line).verdict
    assert (verdict.status, verdict.layer, verdict.code) == ("fault", "resolution", "SP107")
    assert "hosts file" in verdict.summary


@pytest.mark.parametrize("line", ["192.0.2.10 other", f"192.0.2.11 {NAME}", f"192.0.2.10 {NAME}.shop", ""])
def test_an_address_from_elsewhere_is_not_laid_to_the_hosts_file(line: str) -> None:
    codes = {
        finding.code
        for finding in _diagnose("192.0.2.10", line).findings
        if finding.evidence and "glibc" in finding.sentence
    }
    assert codes == {"SP121"}


@pytest.mark.parametrize("line", [f"{RIGHT} {NAME}", f"192.0.2.10 {NAME}.shop"])
def test_the_right_address_is_no_finding_wherever_it_comes_from(line: str) -> None:
    assert _diagnose(RIGHT, line).verdict.status == "healthy"
