"""What scripts rely on: exit codes, forms and files, quiet and verbose, the same bytes for the same input."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from svcpath.evidence.sources.recordings import recording_files
from tests.cli.running import svcpath
from tests.fixtures.cluster import Cluster
from tests.walk.layers.every_input import BROKEN, SOUND

WHO = ("-n", "service-ops", "--from", "pod/client")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    folder = tmp_path / "recording"
    folder.mkdir()
    for name, raw in recording_files("nftables").items():
        (folder / name).write_bytes(raw)
    return folder


def _lay(folder: Path, made: Cluster) -> Path:
    folder.mkdir()
    for name, raw in made.evidence().items():
        (folder / name).write_bytes(raw)
    return folder


@pytest.mark.parametrize(
    ("service", "code"), [("echo-server", 0), ("echo-headless", 0), ("empty-service", 1), ("wrong-port", 1)]
)
def test_healthy_is_0_and_a_fault_is_1_with_and_without_strict(recording: Path, service: str, code: int) -> None:
    for strict in ((), ("--strict",)):
        ran = svcpath("diagnose", f"svc/{service}", *WHO, "--evidence", recording, *strict)
        assert ran.code == code, ran.both
        assert not ran.err


def test_a_warning_is_0_and_with_strict_1(tmp_path: Path) -> None:
    warning = next(made for made in BROKEN if made.status == "warning")
    folder = _lay(tmp_path / "e", warning.build())
    assert svcpath("diagnose", "svc/web", "--evidence", folder).code == 0
    assert svcpath("diagnose", "svc/web", "--evidence", folder, "--strict").code == 1


def test_undecided_is_3_with_and_without_strict(tmp_path: Path) -> None:
    undecided = next(made for made in BROKEN if made.status == "inconclusive")
    folder = _lay(tmp_path / "e", undecided.build())
    assert svcpath("diagnose", "svc/web", "--evidence", folder).code == 3
    assert svcpath("diagnose", "svc/web", "--evidence", folder, "--strict").code == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("diagnose", "--evidence", "{e}"), "several Services"),
        (("diagnose", "pod/x", "--evidence", "{e}"), "svc/NAME"),
        (("diagnose", "svc/", "--evidence", "{e}"), "svc/NAME"),
        (("diagnose", "svc/nothing", "--evidence", "{e}"), "no Service nothing"),
        (("diagnose", "svc/echo-server", "--from", "vm/x", "--evidence", "{e}"), "pod/NAME or node/NAME"),
        (("diagnose", "svc/echo-server", "-o", "docx", "--evidence", "{e}"), "no such format"),
        (("diagnose", "svc/echo-server", "-o", "json=", "--evidence", "{e}"), "file"),
        (("diagnose", "svc/echo-server", "-o", "json", "-o", "markdown", "--evidence", "{e}"), "standard output"),
        (("diagnose", "--nope"), "No such option"),
        (("explain",), "code"),
        (("explain", "SP999"), "SP999"),
        (("explain", "all is well"), "known are"),
        (("nope",), "No such command"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_2_and_says_in_one_line_what_to_do(
    recording: Path, arguments: tuple[str, ...], says: str
) -> None:
    ran = svcpath(*(argument.replace("{e}", str(recording)) for argument in arguments))
    assert ran.code == 2, ran.both
    assert not ran.out
    assert ran.err.startswith("svcpath: ")
    assert ran.err.count("\n") == 1
    assert says in ran.err


def test_without_evidence_and_without_a_cluster_it_is_4_and_says_what_to_give(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    ran = svcpath("diagnose", "svc/web", "-n", "shop")
    assert ran.code == 4, ran.both
    assert "--evidence" in ran.err
    assert ran.err.count("\n") == 1


def test_no_command_prints_the_help_and_is_2() -> None:
    ran = svcpath()
    assert ran.code == 2
    assert "diagnose" in ran.both


def test_a_result_that_cannot_be_written_is_4(recording: Path, tmp_path: Path) -> None:
    ran = svcpath("diagnose", "svc/wrong-port", *WHO, "--evidence", recording, "-o", f"json={tmp_path}/no/such/r.json")
    assert ran.code == 4
    assert "can't write" in ran.err


def test_one_run_writes_every_form_that_was_asked_for(recording: Path, tmp_path: Path) -> None:
    saved, page = tmp_path / "r.json", tmp_path / "r.md"
    call = ("diagnose", "svc/wrong-port", *WHO, "--evidence", recording)
    ran = svcpath(*call, "-o", f"json={saved}", "-o", f"markdown={page}", "-o", "terminal")
    assert ran.code == 1
    assert saved.read_text() == svcpath(*call, "-o", "json").out
    assert page.read_text() == svcpath(*call, "-o", "markdown").out
    assert ran.out == svcpath(*call).out
    assert json.loads(saved.read_text())["verdict"]["code"] == "SP403"


def test_a_saved_report_shows_the_same_in_every_form(recording: Path, tmp_path: Path) -> None:
    saved = tmp_path / "r.json"
    call = ("diagnose", "svc/wrong-port", *WHO, "--evidence", recording)
    svcpath(*call, "-o", f"json={saved}")
    for form in ("terminal", "markdown", "json"):
        assert svcpath("report", saved, "-o", form).out == svcpath(*call, "-o", form).out, form
    assert svcpath("report", saved, "-v").out == svcpath(*call, "-v").out
    for broken in (b"", b"{}", b"[]", b'{"schema": "svcpath.report/v1"}', b"\xff\xfe", saved.read_bytes()[:500]):
        saved.write_bytes(broken)
        ran = svcpath("report", saved)
        assert ran.code == 4, ran.both
        assert "Traceback" not in ran.both
    assert svcpath("report", tmp_path / "gone.json").code == 4


def test_quiet_is_the_verdict_on_one_line_and_verbose_is_more_than_the_plain_form(recording: Path) -> None:
    call = ("diagnose", "svc/wrong-port", *WHO, "--evidence", recording)
    quiet, plain, verbose = svcpath(*call, "-q").out, svcpath(*call).out, svcpath(*call, "-v").out
    assert quiet.count("\n") == 1
    assert quiet.startswith("FAULT at ports: nothing listens on 18080")
    assert quiet.endswith("SP403\n")
    assert set(plain.splitlines()) <= set(verbose.splitlines())
    assert len(verbose) > len(plain)
    healthy = svcpath("diagnose", "svc/echo-server", *WHO, "--evidence", recording)
    assert len([line for line in healthy.out.splitlines() if line[:1] in set("✔!✖?·")]) == 7
    assert len(healthy.out.splitlines()) == 11


def test_the_same_evidence_gives_the_same_bytes_whatever_folder_order_and_way(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forms = ("json", "markdown", "terminal")
    call = ("diagnose", "svc/wrong-port", *WHO)
    first = {form: svcpath(*call, "--evidence", recording, "-o", form).out for form in forms}
    other = tmp_path / "deeper" / "elsewhere"
    other.mkdir(parents=True)
    for path in sorted(recording.iterdir(), reverse=True):
        (other / path.name).write_bytes(path.read_bytes())
    assert {form: svcpath(*call, "--evidence", other, "-o", form).out for form in forms} == first
    monkeypatch.chdir(other)
    assert {form: svcpath(*call, "--evidence", ".", "-o", form).out for form in forms} == first
    monkeypatch.chdir("/")
    assert {form: svcpath(*call, "--evidence", os.path.relpath(other), "-o", form).out for form in forms} == first


def test_the_order_of_files_and_of_objects_does_not_matter(recording: Path, tmp_path: Path) -> None:
    for case in (*BROKEN[:40:3], *SOUND[:30:5]):
        made = case.build()
        turned = Cluster(list(reversed(made.objects)), dict(reversed(made.sockets.items())), made.files, made.dumps)
        first, second = made.diagnose(case.target, **case.options), turned.diagnose(case.target, **case.options)
        assert first.verdict.status == second.verdict.status, case.name
        assert first.verdict.code == second.verdict.code, case.name
    paths = sorted(recording.iterdir())
    call = ("diagnose", "svc/echo-server", *WHO, "-o", "json")
    one_way = svcpath(*call, *(word for path in paths for word in ("--evidence", path))).out
    other_way = svcpath(*call, *(word for path in reversed(paths) for word in ("--evidence", path))).out
    assert one_way == other_way


def test_compressed_and_plain_evidence_say_the_same(recording: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for path in recording.iterdir():
        (plain / path.name.removesuffix(".gz")).write_bytes(gzip.decompress(path.read_bytes()))
    call = ("diagnose", "svc/wrong-port", *WHO, "-o", "json", "--evidence")
    assert svcpath(*call, plain).out == svcpath(*call, recording).out.replace(".gz", "")


def test_hash_seeds_and_environments_change_nothing(recording: Path) -> None:
    call = [sys.executable, "-m", "svcpath", "diagnose", "svc/wrong-port", *WHO, "--evidence", str(recording), "-v"]
    outputs = set()
    for seed, locale, zone in (("0", "C", "UTC"), ("7", "C.UTF-8", "Asia/Tokyo"), ("99", "POSIX", "America/Lima")):
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone}
        done = subprocess.run(call, env=environment, capture_output=True, timeout=120, check=False)
        assert done.returncode == 1, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_a_reader_that_leaves_early_is_no_error(recording: Path) -> None:
    command = f"{sys.executable} -m svcpath diagnose svc/wrong-port -n service-ops --evidence {recording} -v -o json | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "{\n"
    assert not done.stderr


def test_demo_shows_three_services_in_both_modes_and_is_0() -> None:
    ran = svcpath("demo")
    assert ran.code == 0
    assert ran.out.count("HEALTHY: ") == 2
    assert ran.out.count("FAULT at endpoints: selector app=nobody") == 2
    assert ran.out.count("FAULT at ports: nothing listens on 18080") == 2
