"""A port named for HTTP that takes connections and gives no HTTP back: silence is a fault, another end is undecided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from svcpath.api import diagnose
from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, State
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.reports.records import Report

BACKENDS = ("10.244.2.4", "10.244.1.9")


class _Dialled:
    """The package's recording, with other connections than those it holds."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        files = {name: data for name, data in recording_files("nftables").items() if "attempts" not in name}
        self._inner = BytesSource(files)
        self._attempts = Observation(
            Kind.ATTEMPTS, State.PRESENT, Attempts(attempts=tuple(attempts)), provenance=Provenance(source="kube")
        )

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        met = self._inner.observe(needs)
        return [
            (self._attempts,) if need.kind is Kind.ATTEMPTS else reply for need, reply in zip(needs, met, strict=True)
        ]


def _diagnose(*ends: tuple[str, int, str]) -> Report:
    attempts = [
        Attempt(
            client="service-ops/client", host=host, port=8080, outcome=outcome, address=host, status=status, error=error
        )
        for host, (outcome, status, error) in zip(BACKENDS, ends, strict=True)
    ]
    return diagnose(_Dialled(attempts), "svc/echo-server", namespace="service-ops", client="pod/client")


SILENT = ("http-error", 0, "no reply in 4 s")
ANSWERS = ("ok", 200, "")


def test_backends_that_stay_silent_are_a_fault_of_the_pod_layer() -> None:
    verdict = _diagnose(SILENT, SILENT).verdict
    assert (verdict.status, verdict.layer, verdict.code) == ("fault", "pod", "SP506")
    assert "does not answer GET /" in verdict.summary


def test_one_silent_backend_of_two_is_a_fault_for_its_share() -> None:
    report = _diagnose(ANSWERS, SILENT)
    assert report.verdict.status == "fault"
    assert [found.share for found in report.findings if found.code == "SP506"] == ["1 of 2 backends"]


@pytest.mark.parametrize(
    "error", ["closed without a reply", "[Errno 104] Connection reset by peer", "curl: (52) Empty reply from server"]
)
def test_an_end_without_a_reply_may_be_another_protocol_and_stays_undecided(error: str) -> None:
    report = _diagnose(("http-error", 0, error), ("http-error", 0, error))
    assert (report.verdict.status, report.verdict.code) == ("inconclusive", "SP506")


@pytest.mark.parametrize(
    "end",
    [ANSWERS, ("http-error", 503, ""), ("http-error", 404, ""), ("http-error", 0, "wget: server returned error: 404")],
)
def test_any_http_reply_is_an_answer(end: tuple[str, int, str]) -> None:
    assert _diagnose(end, ANSWERS).verdict.status == "healthy"
