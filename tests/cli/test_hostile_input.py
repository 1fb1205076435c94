"""Whatever stands in the evidence: an error or a finding, nothing that a terminal obeys, and never a traceback."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svcpath.api import diagnose
from svcpath.errors import SvcpathError
from svcpath.evidence.sources.memory import BytesSource
from svcpath.evidence.sources.recordings import recording_files
from svcpath.reports import records
from svcpath.reports.renderers import markdown, terminal
from svcpath.reports.report import encode
from svcpath.reports.views.diagnosis import document
from tests.cli.running import Ran, svcpath
from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod, port

SERVICE = b"""apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.9, selector: {app: web}, ports: [{port: 80}]}
"""
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(10)
)
BAD = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _diagnose(folder: Path, files: dict[str, bytes], *options: str) -> Ran:
    folder.mkdir(exist_ok=True)
    for name, raw in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    return svcpath("diagnose", "--evidence", folder, *options)


USELESS: dict[str, dict[str, bytes]] = {
    "nothing at all": {},
    "an empty file": {"a.yaml": b""},
    "white space": {"a.yaml": b" \n\t\n" * 100},
    "binary": {"a.bin": bytes(range(256)) * 10},
    "zeros": {"a.txt": bytes(10_000)},
    "deep YAML": {"a.yaml": b"[" * 100_000},
    "deep YAML mapping": {"a.yaml": b"kind: List\n" + b"".join(b" " * i + b"a:\n" for i in range(2000))},
    "deep JSON": {"a.json": b'{"kind":' * 100_000},
    "an alias bomb": {"a.yaml": BOMB},
    "an alias bomb in an object": {"a.yaml": b"apiVersion: v1\nkind: Service\n" + BOMB},
    "an alias of itself": {"a.yaml": b"kind: Service\nmetadata: &a\n  b: *a\n"},
    "a cut gzip": {"a.gz": gzip.compress(random.Random(1).randbytes(5000))[:200]},
    "a gzip of nothing": {"a.gz": gzip.compress(b"")},
    "a gzip header alone": {"a.gz": b"\x1f\x8b"},
    "a gzip bomb": {"a.gz": gzip.compress(bytes(64 * 1024 * 1024))},
    "wrong types": {"a.yaml": b"apiVersion: v1\nkind: Service\nmetadata: {name: 5}\nspec: {ports: 7}\n"},
    "numbers beyond all": {"a.json": b'{"kind": "Service", "metadata": {"generation": 1e999}}'},
    "half a UTF-8 sequence": {"a.txt": b"\xe2\x82" * 40},
    "a folder of junk": {f"d{i}/f{j}": random.Random(i * 9 + j).randbytes(200) for i in range(9) for j in range(9)},
    "a long line": {"a.txt": b"x" * 3_000_000},
}


@pytest.mark.parametrize("files", USELESS.values(), ids=USELESS.keys())
def test_where_nothing_is_left_to_say_the_command_ends_with_4_and_says_why(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    ran = _diagnose(tmp_path / "evidence", files)
    assert ran.code == 4, ran.both
    assert not ran.out
    assert ran.err.startswith("svcpath: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("files", USELESS.values(), ids=USELESS.keys())
def test_junk_beside_a_service_is_named_and_the_service_is_judged(files: dict[str, bytes], tmp_path: Path) -> None:
    ran = _diagnose(tmp_path / "evidence", {**files, "service.yaml": SERVICE}, "-o", "json")
    assert ran.code == 3, ran.both
    report = json.loads(ran.out)
    named = " ".join(
        [*(gap["what"] for gap in report["not_looked_at"]), *(finding["sentence"] for finding in report["findings"])]
    )
    for name in files:
        assert name in named, f"{name} is passed over in silence: {named}"


def test_a_path_that_is_not_there_ends_with_4_and_names_it(tmp_path: Path) -> None:
    ran = svcpath("diagnose", "--evidence", tmp_path / "gone")
    assert ran.code == 4
    assert "gone: no such file or folder" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    secret = tmp_path / "evidence" / "secret.yaml"
    secret.parent.mkdir()
    secret.write_bytes(SERVICE)
    secret.chmod(0)
    ran = svcpath("diagnose", "--evidence", tmp_path / "evidence")
    assert ran.code == 4
    assert "secret.yaml" in ran.err


def test_special_files_and_loops_of_links_neither_block_nor_loop(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "gone")
    (folder / "service.yaml").write_bytes(SERVICE)
    ran = svcpath("diagnose", "--evidence", folder, "-v")
    assert ran.code == 3
    assert "pipe" in ran.out


def test_a_file_above_the_limit_is_refused_with_the_limit(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    folder.mkdir()
    with (folder / "big.yaml").open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    ran = svcpath("diagnose", "--evidence", folder)
    assert ran.code == 4
    assert "big.yaml: larger than 256 MiB" in ran.err
    (folder / "big.yaml").write_bytes(b"apiVersion: v1\nkind: Service\n" + b"# x\n" * (5 * 1024 * 1024))
    ran = svcpath("diagnose", "--evidence", folder)
    assert ran.code == 4
    assert "big.yaml" in ran.err
    assert "16 MiB" in ran.err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_evidence_in_another_unicode_encoding_is_read_or_refused(encoding: str, tmp_path: Path) -> None:
    raw = cluster().settle().evidence()["objects.json"].decode().encode(encoding)
    ran = _diagnose(tmp_path / "evidence", {"objects.json": raw}, "svc/web")
    assert ran.code in (0, 4), ran.both
    assert "Traceback" not in ran.both


# --- what names and texts may hold ----------------------------------------------------------------------------------

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07",
    "\x00\x01\x08\x7f\x9b31m",
    "a\u202egnp.exe\u2066\u2069\u200f",
    "line\nFAULT at dataplane: all is lost\r\rx",
    "[link](http://evil.example) <script>alert(1)</script> <!-- `x` | y | **z** @everyone #1",
    "\ud800 lone",
    "\u2028\u2029\ufeff\U000e0041",
    "x" * 5000,
)


def _hostile(text: str) -> Cluster:
    made = cluster(ports=[port(80, text, text)])
    made.objects.append(pod(f"web-{text}", ("10.244.1.77",), labels={"app": "web", text: text}, ready=False))
    for item in made.of("Pod"):
        item["spec"]["nodeName"] = text
        item["spec"]["containers"][0]["name"] = text
        item["status"]["conditions"][0]["message"] = text
        item["status"]["conditions"][0]["reason"] = text
    made.settle()
    for slice_ in made.of("EndpointSlice"):
        slice_["metadata"]["name"] = f"web-{text}"
        slice_["metadata"]["managedFields"] = [{"manager": text, "time": "2026-01-02T03:04:05Z"}]
    made.add(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "web.1", "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "name": f"web-{text}", "namespace": "shop"},
            "type": "Warning",
            "reason": text,
            "message": text,
            "lastTimestamp": "2026-01-02T03:04:05Z",
        }
    )
    made.files["coredns.log"] = f".:53\nCoreDNS-1.14.7\n[ERROR] plugin/errors: 2 {text}\n".encode(
        "utf-8", "surrogatepass"
    ).decode("utf-8", "replace")
    return made


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_nothing_in_the_evidence_reaches_the_terminal_as_more_than_text(text: str, form: str, tmp_path: Path) -> None:
    options = ("svc/web", "-n", "shop", "-v", "-o", form, "--symptom", f"refused {text[:50]}", "--lookup", text[:50])
    ran = _diagnose(tmp_path / "evidence", _hostile(text).evidence(), *options)
    assert ran.code in (0, 1, 3), ran.both
    allowed = {"\n"} | ({"\u2060"} if form == "markdown" else set())
    wrong = {character for character in ran.out if unicodedata.category(character) in BAD} - allowed
    if form == "json":
        json.loads(ran.out)
        assert not {
            character for character in ran.out if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        } - {"\n"}
        assert "\u202e" not in ran.out
        return
    assert not wrong, wrong
    assert not ran.err
    assert not re.search(r"^FAULT at dataplane", ran.out, re.M)
    if form == "markdown":
        prose = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", ran.out.replace("\\`", ""))
        assert not re.search(r"(?<!\\)<script", prose)
        assert not re.search(r"(?<!\\)\]\(http", prose)
        assert not re.search(r"@everyone", prose)


def test_a_hostile_path_is_shown_as_text(tmp_path: Path) -> None:
    ran = _diagnose(tmp_path / "evidence", {"\x1b[31mred\u202e.yaml": b"junk", "service.yaml": SERVICE})
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert "\\x1b[31mred" in ran.out


def test_a_hostile_argument_is_shown_as_text(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_bytes(SERVICE)
    kind = ("diagnose", "\x1b[31m/x", "--evidence", str(tmp_path))
    for arguments in (kind, ("explain", "\x1b[2J"), ("\x1b[2J",), ("diagnose", "--\x1bx")):
        ran = svcpath(*arguments)
        assert ran.code == 2
        assert "\x1b" not in ran.both


# --- damage ---------------------------------------------------------------------------------------------------------

FILES = {
    mode: {
        path.removesuffix(".gz"): gzip.decompress(raw) if path.endswith(".gz") else raw
        for path, raw in recording_files(mode).items()
    }
    for mode in ("iptables", "nftables")
}
SMALL = sorted(path for path in FILES["iptables"] if len(FILES["iptables"][path]) < 60_000)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, dict[str, bytes]]:
    """A recording with one of its files cut, or with bytes flipped, or with lines dropped, doubled or swapped."""
    mode = draw(st.sampled_from(sorted(FILES)))
    path = draw(st.sampled_from(sorted(FILES[mode])))
    raw = bytearray(FILES[mode][path])
    how = draw(st.sampled_from(["cut", "flip", "drop", "double", "insert", "gzip", "empty"]))
    at = draw(st.integers(0, max(0, len(raw) - 1)))
    if how == "cut":
        raw = raw[:at]
    elif how == "flip":
        for _ in range(draw(st.integers(1, 8))):
            raw[draw(st.integers(0, len(raw) - 1))] = draw(st.integers(0, 255))
    elif how == "insert":
        raw[at:at] = draw(st.binary(min_size=1, max_size=40))
    elif how == "gzip":
        packed = gzip.compress(bytes(raw), mtime=0)
        raw = bytearray(packed[: draw(st.integers(1, len(packed)))])
    elif how == "empty":
        raw = bytearray()
    else:
        lines = bytes(raw).splitlines(keepends=True)
        start = draw(st.integers(0, len(lines) - 1))
        count = draw(st.integers(1, 20))
        lines[start : start + count] = [] if how == "drop" else lines[start : start + count] * 2
        raw = bytearray(b"".join(lines))
    return how, {**FILES[mode], path: bytes(raw)}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(damaged(), st.sampled_from(["echo-server", "echo-headless", "empty-service", "wrong-port"]))
def test_a_damaged_recording_gives_a_report_or_an_error_of_svcpath(
    recording: tuple[str, dict[str, bytes]], name: str
) -> None:
    _, files = recording
    try:
        report = diagnose(BytesSource(files), f"svc/{name}", namespace="service-ops", client="pod/client")
    except SvcpathError:
        return
    for text in (terminal.render(document(report, verbose=True)), markdown.render(document(report, verbose=True))):
        assert not {character for character in text if unicodedata.category(character) == "Cc"} - {"\n"}
    json.loads(encode(report))


#: Files whose first half is a whole file of its kind, with another meaning: no reader can tell that they were cut.
NO_END = ("resolv.conf", "client.names.txt")


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(FILES)), st.data())
def test_a_cut_file_never_makes_a_healthy_service_a_proven_fault(mode: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([name for name in sorted(FILES[mode]) if not name.endswith(NO_END)]))
    size = data.draw(st.integers(0, len(FILES[mode][path])))
    files = {**FILES[mode], path: FILES[mode][path][:size]}
    try:
        report = diagnose(BytesSource(files), "svc/echo-server", namespace="service-ops", client="pod/client")
    except SvcpathError:
        return
    assert report.verdict.status != "fault", f"{path} cut at {size}: {report.verdict}"


def test_no_traceback_leaves_the_process(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(BOMB)
    (tmp_path / "b.json").write_bytes(b'{"kind":' * 50_000)
    done = subprocess.run(
        [sys.executable, "-m", "svcpath", "diagnose", "--evidence", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr


SOCKETS = "echo-server-5698c6f946-h6gmq.proc-net-tcp.txt"


def _verdict(files: dict[str, bytes]) -> records.Verdict:
    return diagnose(BytesSource(files), "svc/echo-server", namespace="service-ops", client="pod/client").verdict


@pytest.mark.parametrize("size", [*range(100, 330)])
def test_a_socket_list_cut_anywhere_accuses_no_pod(size: int) -> None:
    files = FILES["iptables"]
    verdict = _verdict({**files, SOCKETS: files[SOCKETS][:size]})
    assert verdict.status != "fault", verdict.summary


def test_a_whole_list_without_a_socket_accuses_unless_the_port_was_found_open() -> None:
    """150 bytes are the header, whole: what a Pod's kernel prints when nothing is open."""
    files = FILES["iptables"]
    empty = {**files, SOCKETS: files[SOCKETS][:150]}
    objects = json.loads(files["objects.json"])
    for item in objects["items"]:
        for container in item.get("spec", {}).get("containers", []):
            container.pop("readinessProbe", None)
    not_probed = {**empty, "objects.json": json.dumps(objects).encode()}
    untried = {name: raw for name, raw in not_probed.items() if name != "client.attempts.txt"}
    for contradicted in (empty, not_probed, {**empty, "client.attempts.txt": b""}):
        report = diagnose(BytesSource(contradicted), "svc/echo-server", namespace="service-ops", client="pod/client")
        assert report.verdict.status != "fault"
    verdict = _verdict(untried)
    assert (verdict.status, verdict.code, verdict.confidence) == ("fault", "SP403", "proven")
