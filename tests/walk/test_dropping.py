"""A look that was not taken never turns into an accusation, and never silently into a clean bill.

Every observation that a walk is given is hidden once, in the recordings, in the public cases, and in every made kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from svcpath.api import diagnose
from svcpath.errors import UsageError
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.source import Source
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording, recording_files
from svcpath.reports.report import Report
from tests.walk.cases import case, names
from tests.walk.dropping import Recording, Without
from tests.walk.every_kind import BROKEN, SOUND

SERVICES = ("echo-server", "echo-headless", "empty-service", "wrong-port")
STANDINGS = ("refuted", "possible", "supported", "proven")


@dataclass(frozen=True, eq=False)
class Walk:
    where: str
    source: Source
    options: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.where


def _options(service: str) -> dict[str, str]:
    return {"target": f"svc/{service}", "namespace": "service-ops", "client": "pod/client"}


def _walks() -> Iterator[Walk]:
    for mode in ("iptables", "nftables"):
        source = recording(mode)
        for service in SERVICES:
            yield Walk(f"{mode} {service}", source, _options(service))
    for name in names(17, 59):
        yield Walk(name, BytesSource(case(name).files))
    for one in (*BROKEN, *SOUND):
        options = {"target": one.target, "namespace": "shop", **one.options}
        yield Walk(one.name, BytesSource(one.build().evidence()), options)


WALKS = list(_walks())


@dataclass(frozen=True)
class Dropped:
    """What one walk said with one observation hidden; ``named`` are words of which one must tell of it."""

    kind: Kind
    what: str
    base: Report
    report: Report
    rested: bool
    layers: frozenset[str]

    @property
    def said(self) -> str:
        one, other = self.base.verdict, self.report.verdict
        return f"without {self.what}: {one.status} {one.code} -> {other.status} {other.code}: {other.summary}"


def _dropped(walk: Walk) -> tuple[Dropped, ...]:
    recorder = Recording(walk.source)
    base = diagnose(recorder, **walk.options)
    found = []
    for one in recorder.given.values():
        try:
            report = diagnose(Without(walk.source, one), **walk.options)
        except UsageError:
            continue  # without it, nothing says which Service is meant
        ids = {
            each.id
            for each in base.observations
            if (each.kind, each.path, each.line, each.command)
            == (one.kind.value, one.provenance.path, one.provenance.line, one.provenance.command)
        }
        layers = frozenset(
            finding.layer
            for finding in base.findings
            if finding.status in ("fail", "warn") and any(each.observation in ids for each in finding.evidence)
        )
        what = one.provenance.command or one.provenance.path
        found.append(Dropped(one.kind, what, base, report, bool(layers), layers))
    return tuple(found)


def a_hidden_observation_never_accuses_what_was_healthy(dropped: tuple[Dropped, ...]) -> None:
    for one in dropped:
        if one.base.verdict.status == "healthy":
            assert one.report.verdict.status in ("healthy", "inconclusive"), one.said


def a_fault_becomes_healthy_only_with_the_sentence_that_names_what_was_not_tested(dropped: tuple[Dropped, ...]) -> None:
    for one in dropped:
        if one.base.verdict.status == "fault" and one.report.verdict.status == "healthy":
            gaps = [gap for gap in one.report.not_tested if gap.why == "hidden" or gap.command == one.what]
            gaps += [gap for gap in one.report.not_tested if one.kind is Kind.SOCKETS and "sockets" in gap.what]
            gaps += [gap for gap in one.report.not_tested if one.kind in DUMPS and gap.what == "the nodes' tables"]
            assert gaps, f"{one.said}\nnothing says that {one.what} was not looked at"
            assert any(gap.what in one.report.verdict.summary for gap in gaps), one.said


DUMPS = frozenset(kind for kind in Kind if kind.value in ("iptables-save", "nft-list", "nft-json", "ipvsadm-Ln"))


def what_a_finding_rested_on_is_missed(dropped: tuple[Dropped, ...]) -> None:
    """Its layer is not tested or undecided, a standing is lower, the finding is another, or a look is named as missing."""
    for one in dropped:
        if not one.rested:
            continue
        before = {layer.name: layer.status for layer in one.base.layers}
        after = {layer.name: layer.status for layer in one.report.layers}
        changed = any(
            after[layer] in ("not-tested", "inconclusive", "skipped") and after[layer] != before[layer]
            for layer in one.layers
        )
        lower = _standing(one.report) < _standing(one.base)
        other = [each.sentence for each in one.report.findings] != [each.sentence for each in one.base.findings]
        named = [gap for gap in one.report.not_tested if gap not in one.base.not_tested]
        assert changed or lower or other or named, one.said


def _standing(report: Report) -> int:
    return STANDINGS.index(report.verdict.standing or "refuted")


def no_standing_rises_because_less_was_looked_at(dropped: tuple[Dropped, ...]) -> None:
    for one in dropped:
        if one.base.verdict.code == one.report.verdict.code and one.base.verdict.standing:
            assert _standing(one.report) <= _standing(one.base), one.said


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_hiding_one_observation_lowers_what_is_said_and_accuses_nobody(walk: Walk) -> None:
    dropped = _dropped(walk)
    assert dropped
    a_hidden_observation_never_accuses_what_was_healthy(dropped)
    a_fault_becomes_healthy_only_with_the_sentence_that_names_what_was_not_tested(dropped)
    what_a_finding_rested_on_is_missed(dropped)
    no_standing_rises_because_less_was_looked_at(dropped)


# --- the recordings, file by file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
def test_wrong_port_without_its_socket_lists_is_inconclusive_and_one_command_decides(mode: str) -> None:
    files = {path: raw for path, raw in recording_files(mode).items() if "proc-net" not in path}
    report = diagnose(BytesSource(files), **_options("wrong-port"))
    assert (report.verdict.status, report.verdict.code) == ("inconclusive", "SP410")
    assert "18080" in report.verdict.summary
    decides = next(one for one in report.findings if one.code == "SP410").hypotheses[0]
    assert decides.standing == "possible"
    assert ":46A0 " in decides.falsifier
    assert "/proc/net/tcp" in decides.falsifier


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
@pytest.mark.parametrize("service", SERVICES)
def test_a_recording_without_one_of_its_files_accuses_nobody(mode: str, service: str) -> None:
    files = recording_files(mode)
    expected = diagnose(BytesSource(files), **_options(service)).verdict
    for path in files:
        rest = {name: raw for name, raw in files.items() if name != path}
        report = diagnose(BytesSource(rest), **_options(service))
        verdict = report.verdict
        said = f"without {path}: {verdict.status} {verdict.code}: {verdict.summary}"
        if expected.status == "healthy":
            assert verdict.status in ("healthy", "inconclusive"), said
        elif path.startswith("objects"):
            assert verdict.status == "inconclusive", said
        elif "proc-net" in path:
            assert verdict.status in ("fault", "inconclusive"), said
        else:
            assert (verdict.status, verdict.layer, verdict.code) == ("fault", expected.layer, expected.code), said


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
@pytest.mark.parametrize("service", SERVICES)
def test_the_objects_alone_decide_what_objects_can_decide(mode: str, service: str) -> None:
    files = {path: raw for path, raw in recording_files(mode).items() if path.startswith("objects")}
    report = diagnose(BytesSource(files), **_options(service))
    wanted = {"empty-service": "fault", "wrong-port": "inconclusive"}.get(service, "healthy")
    assert report.verdict.status == wanted, report.verdict.summary
    if wanted == "healthy":
        for word in ("resolv", "connection", "tables"):
            assert any(word in f"{gap.what} {gap.why}" for gap in report.not_tested), word
