"""A look that was not taken never turns into an accusation, and never silently into a clean bill.

Every observation that a walk is given is hidden once, in the recordings, in the public cases, and in every made kind.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from svcpath.api import diagnose
from svcpath.evidence.facts.source import Source
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from tests.cases.public.case import case, names
from tests.fixtures.hiding import every_look_counts
from tests.fixtures.options import Asked
from tests.walk.layers.every_input import BROKEN, SOUND
from tests.walk.layers.inputs import Registered

SERVICES = ("echo-server", "echo-headless", "empty-service", "wrong-port")


@dataclass(frozen=True, eq=False)
class Walk:
    where: str
    files: Callable[[], Mapping[str, bytes]]
    options: Asked = field(default_factory=Asked)

    def __str__(self) -> str:
        return self.where

    def source(self) -> Source:
        """Read when the test runs: reading all of them takes longer than finding the tests."""
        return BytesSource(self.files())


def _options(service: str) -> Asked:
    return {"target": f"svc/{service}", "namespace": "service-ops", "client": "pod/client"}


def _files(name: str) -> Mapping[str, bytes]:
    return case(name).files


def _evidence(kind: Registered) -> Mapping[str, bytes]:
    return kind.build().evidence()


def _walks() -> Iterator[Walk]:
    for mode in ("iptables", "nftables"):
        for service in SERVICES:
            yield Walk(f"{mode} {service}", functools.partial(recording_files, mode), _options(service))
    for name in names(17, 59):
        yield Walk(name, functools.partial(_files, name))
    for made in (*BROKEN, *SOUND):
        options: Asked = {"target": made.target, "namespace": "shop", **made.options}
        yield Walk(made.name, functools.partial(_evidence, made), options)


WALKS = list(_walks())


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_hiding_one_observation_lowers_what_is_said_and_accuses_nothing(walk: Walk) -> None:
    every_look_counts(walk.source(), walk.options)


# --- the recordings, file by file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
def test_wrong_port_without_its_socket_lists_is_inconclusive_and_one_command_decides(mode: str) -> None:
    files = {path: raw for path, raw in recording_files(mode).items() if "proc-net" not in path}
    report = diagnose(BytesSource(files), **_options("wrong-port"))
    assert (report.verdict.status, report.verdict.code) == ("inconclusive", "SP410")
    assert "18080" in report.verdict.summary
    decides = next(finding for finding in report.findings if finding.code == "SP410").hypotheses[0]
    assert decides.confidence == "possible"
    assert ":46A0 " in decides.disproof
    assert "/proc/net/tcp" in decides.disproof


@functools.cache
def _without(mode: str, path: str) -> Source:
    """A recording without one of its files, read once for all Services."""
    return BytesSource({name: raw for name, raw in recording_files(mode).items() if name != path})


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
@pytest.mark.parametrize("service", SERVICES)
def test_a_recording_without_one_of_its_files_accuses_nothing(mode: str, service: str) -> None:
    files = recording_files(mode)
    expected = diagnose(BytesSource(files), **_options(service)).verdict
    for path in files:
        report = diagnose(_without(mode, path), **_options(service))
        verdict = report.verdict
        verdict_line = f"without {path}: {verdict.status} {verdict.code}: {verdict.summary}"
        if expected.status == "healthy":
            assert verdict.status in ("healthy", "inconclusive"), verdict_line
        elif path.startswith("objects"):
            assert verdict.status == "inconclusive", verdict_line
        elif "proc-net" in path:
            assert verdict.status in ("fault", "inconclusive"), verdict_line
        else:
            assert (verdict.status, verdict.layer, verdict.code) == ("fault", expected.layer, expected.code), (
                verdict_line
            )


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
@pytest.mark.parametrize("service", SERVICES)
def test_the_objects_alone_decide_what_objects_can_decide(mode: str, service: str) -> None:
    files = {path: raw for path, raw in recording_files(mode).items() if path.startswith("objects")}
    report = diagnose(BytesSource(files), **_options(service))
    wanted = {"empty-service": "fault", "wrong-port": "inconclusive"}.get(service, "healthy")
    assert report.verdict.status == wanted, report.verdict.summary
    if wanted == "healthy":
        for word in ("resolv", "connection", "tables"):
            assert any(word in f"{gap.what} {gap.why}" for gap in report.not_looked_at), word
