"""Bundles: what was live is so offline, nothing private is inside, and a hostile one can't do harm."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import svcpath
from svcpath.errors import EvidenceError
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import State
from svcpath.evidence.facts.request import Request
from svcpath.evidence.formats.bundles import Bundle, Manifest, of_log, pack, unpack
from svcpath.evidence.formats.pseudonyms import disguised
from svcpath.evidence.sources import bundle as bundles
from svcpath.evidence.sources.bundle import BundleSource
from svcpath.evidence.sources.recording import RecordingSource
from svcpath.evidence.sources.recordings import recording
from svcpath.reports.records import Report
from tests.evidence.live.conftest import Source
from tests.fixtures.recorded_api import Api

SERVICES = ("echo-server", "echo-headless", "empty-service", "wrong-port")


def outcome(report: Report) -> tuple[Any, ...]:
    verdict = report.verdict
    return verdict.status, verdict.layer, verdict.cause_layer, verdict.code, verdict.confidence


def recorded(mode: str, service: str) -> tuple[Bundle, Report]:
    recorder = RecordingSource(recording(mode))
    report = svcpath.diagnose(recorder, f"svc/{service}", namespace="service-ops", client="pod/client")
    manifest = Manifest(svcpath="0", request={"target": f"svc/{service}", "namespace": "service-ops"})
    return of_log(recorder.log, manifest), report


def diagnose(bundle: Bundle, service: str) -> Report:
    return svcpath.diagnose(BundleSource(bundle), f"svc/{service}", namespace="service-ops", client="pod/client")


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
@pytest.mark.parametrize("service", SERVICES)
def test_a_bundle_read_back_gives_the_same_verdict(mode: str, service: str, tmp_path: Path) -> None:
    bundle, report = recorded(mode, service)
    path = tmp_path / "b.tar.zst"
    bundles.write(path, bundle)
    again = bundles.read(path)
    assert outcome(diagnose(again, service)) == outcome(report)
    assert pack(again) == pack(bundle)
    assert again.observations == bundle.observations


def test_live_and_offline_agree_on_a_cluster(scripted: Api, source: Source, tmp_path: Path) -> None:
    with source(scripted) as cluster:
        recorder = RecordingSource(cluster)
        live = svcpath.diagnose(recorder, "svc/wrong-port", namespace="service-ops", client="pod/client")
    bundles.write(tmp_path / "b.tar.zst", of_log(recorder.log, Manifest()))
    offline = svcpath.diagnose(
        svcpath.bundle(tmp_path / "b.tar.zst"), "svc/wrong-port", namespace="service-ops", client="pod/client"
    )
    assert offline == live


def test_the_same_log_makes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        bundles.write(tmp_path / name, recorded("nftables", "wrong-port")[0])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_any_observation_may_be_missing_and_nobody_is_accused_instead() -> None:
    bundle, report = recorded("nftables", "echo-server")
    assert report.verdict.status == "healthy"
    members = pack(bundle)
    lines = members["observations.jsonl"].splitlines(keepends=True)
    for number in random.Random(7).sample(range(len(lines)), 60):
        fewer = {**members, "observations.jsonl": b"".join(lines[:number] + lines[number + 1 :])}
        verdict = diagnose(unpack(_sealed(fewer)), "echo-server").verdict
        assert verdict.status != "fault", (lines[number][:200], verdict)


def _sealed(members: dict[str, bytes]) -> dict[str, bytes]:
    """The members with a manifest that fits them again."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
        if name != "manifest.json"
    }
    return {**members, "manifest.json": json.dumps(manifest).encode()}


def test_a_need_that_was_never_asked_is_met_from_what_there_is() -> None:
    bundle, _ = recorded("nftables", "wrong-port")
    (found,) = BundleSource(bundle).observe([Need(Kind.SERVICE, namespace="service-ops", name="echo-server")])
    assert found[0].fact.name == "echo-server"
    (none,) = BundleSource(bundle).observe([Need(Kind.SOCKETS, pod="other/pod")])
    assert none[0].state is State.UNREADABLE


# --- pseudonyms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["iptables", "nftables"])
@pytest.mark.parametrize("service", SERVICES)
def test_pseudonyms_keep_the_verdict_and_no_name(mode: str, service: str) -> None:
    bundle, report = recorded(mode, service)
    hidden = disguised(bundle, b"key")
    words = hidden.manifest.request
    again = svcpath.diagnose(
        BundleSource(hidden), words["target"], namespace=words["namespace"], client=_client(hidden)
    )
    assert outcome(again) == outcome(report)
    data = b"".join(pack(hidden).values())
    for name in (b"echo-server", b"echo-headless", b"empty-service", b"service-ops", b"172.30.0.12", b"10.244.1.9"):
        assert name not in data, name


def _client(bundle: Bundle) -> str:
    """The client under its pseudonym: a bundle of a live cluster says it in its request, a recording does not."""
    pods = [need.pod for need in bundle.log if need.kind is Kind.RESOLV_CONF and "/" in need.pod]
    return f"pod/{pods[0]}"


def test_the_same_name_has_the_same_pseudonym_and_prefixes_stay() -> None:
    bundle, _ = recorded("iptables", "echo-server")
    first, second = disguised(bundle, b"key"), disguised(bundle, b"key")
    assert pack(first) == pack(second)
    assert pack(first) != pack(disguised(bundle, b"other"))


# --- hostile bundles ------------------------------------------------------------------------------------------------


def archive(entries: Callable[[tarfile.TarFile], None]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        entries(tar)
    return zstandard.ZstdCompressor().compress(buffer.getvalue())


def _add(tar: tarfile.TarFile, name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.size = kind, link, len(data) if kind == tarfile.REGTYPE else 0
    tar.addfile(entry, io.BytesIO(data) if kind == tarfile.REGTYPE else None)


@pytest.mark.parametrize(
    ("name", "kind", "link", "words"),
    [
        ("../evil", tarfile.REGTYPE, "", "leads out"),
        ("/etc/evil", tarfile.REGTYPE, "", "leads out"),
        ("a/../../evil", tarfile.REGTYPE, "", "leads out"),
        ("link", tarfile.SYMTYPE, "/etc/passwd", "no regular file"),
        ("hard", tarfile.LNKTYPE, "manifest.json", "no regular file"),
        ("device", tarfile.CHRTYPE, "", "no regular file"),
        ("pipe", tarfile.FIFOTYPE, "", "no regular file"),
        ("extra.txt", tarfile.REGTYPE, "", "no bundle|not in the manifest"),
    ],
)
def test_what_leads_out_of_a_bundle_is_refused(tmp_path: Path, name: str, kind: bytes, link: str, words: str) -> None:
    path = tmp_path / "b.tar.zst"
    path.write_bytes(archive(lambda tar: _add(tar, name, kind=kind, link=link)))
    with pytest.raises(EvidenceError, match=words):
        bundles.read(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tar.zst"]


def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.zst"

    def twice(tar: tarfile.TarFile) -> None:
        _add(tar, "same")
        _add(tar, "same")

    path.write_bytes(archive(twice))
    with pytest.raises(EvidenceError, match="twice"):
        bundles.read(path)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svcpath.evidence.formats.limits.MAX_EXPANDED", 1 << 20)
    path = tmp_path / "b.tar.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"\0" * (1 << 22)))
    with pytest.raises(EvidenceError, match="expands to more"):
        bundles.read(path)


def test_a_changed_member_is_refused() -> None:
    members = pack(recorded("nftables", "wrong-port")[0])
    name = next(name for name in members if name.startswith("texts/"))
    with pytest.raises(EvidenceError, match="changed or cut"):
        unpack({**members, name: members[name] + b"."})
    with pytest.raises(EvidenceError, match="missing"):
        unpack({key: data for key, data in members.items() if key != name})


def test_a_bundle_of_another_form_says_what_to_do() -> None:
    bundle, _ = recorded("iptables", "echo-server")
    members = pack(bundle)
    members["manifest.json"] = members["manifest.json"].replace(b"svcpath.bundle/v2", b"svcpath.bundle/v1")
    with pytest.raises(EvidenceError, match="collect the bundle again"):
        unpack(members)


def test_a_bundle_keeps_why_a_look_gave_nothing() -> None:
    bundle, _ = recorded("iptables", "empty-service")
    reasons = [(observation.state, observation.reason, observation.why) for observation in bundle.observations]
    assert State.UNREADABLE in {state for state, _, _ in reasons}
    assert [
        (observation.state, observation.reason, observation.why) for observation in unpack(pack(bundle)).observations
    ] == reasons


def test_every_cut_of_a_bundle_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.zst"
    bundles.write(path, recorded("nftables", "wrong-port")[0])
    data = path.read_bytes()
    for length in range(0, len(data) - 1, max(1, len(data) // 40)):
        path.write_bytes(data[:length])
        with pytest.raises(EvidenceError):
            bundles.read(path)


def test_a_request_keeps_the_words_of_the_call() -> None:
    assert Request(namespace="a", service="b").namespaces == ("a", "default", "kube-system")
