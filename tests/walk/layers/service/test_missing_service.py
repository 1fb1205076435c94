"""A name that does not resolve since its Service does not exist: the cause is the Service, not the cluster DNS."""

from __future__ import annotations

import gzip
import json

import pytest

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.reports.records import Report


def _diagnose(name: str, answer: str) -> Report:
    files = {path: data for path, data in recording_files("nftables").items() if "attempts" not in path}
    files.pop("client.names.txt.gz")
    objects = json.loads(gzip.decompress(files.pop("objects.json.gz")))
    files["objects.json"] = json.dumps(objects).encode()
    files["client.names.txt"] = f"glibc-2.36 {name} -> {answer}\n".encode()
    return diagnose(
        BytesSource(files), f"svc/{name}", namespace="service-ops", client="pod/client", lookup=name, resolver="glibc"
    )


def test_a_name_without_a_service_is_the_missing_services_doing() -> None:
    verdict = _diagnose("kubernetes", "-2 Name or service not known").verdict
    assert (verdict.status, verdict.layer, verdict.cause_layer, verdict.code) == (
        "fault",
        "resolution",
        "service",
        "SP201",
    )
    assert "no Service kubernetes in namespace service-ops" in verdict.summary


@pytest.mark.parametrize(("name", "answer"), [("echo-server", "-2 Name or service not known")])
def test_a_name_that_fails_although_its_service_is_there_stays_with_resolution(name: str, answer: str) -> None:
    verdict = _diagnose(name, answer).verdict
    assert (verdict.status, verdict.layer, verdict.code) == ("fault", "resolution", "SP118")
