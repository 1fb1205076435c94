"""The shell text itself, run by this machine's sh: what it prints is what the files hold."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.sources import inpod_scripts as scripts
from svcpath.evidence.sources.inpod import attempt_of
from svcpath.evidence.sources.inpod_runtime import processes
from svcpath.evidence.sources.inpod_scripts import Script
from svcpath.evidence.sources.node import PROXY_LOOKS, _parsed

pytestmark = pytest.mark.skipif(shutil.which("sh") is None, reason="no sh")


def run(script: Script, *arguments: str) -> dict[str, scripts.Section]:
    done = subprocess.run(script.command(*arguments), capture_output=True, check=False, timeout=60)
    return script.sections(done.stdout)


def test_sysctls_are_read_whole() -> None:
    sections = run(Script.of({"sysctl": PROXY_LOOKS["sysctl"]}))
    found = _parsed(Kind.SYSCTL, sections["sysctl"], None)
    assert found is not None
    for name, value in found.values.items():
        if not name.endswith("_count"):
            assert value == Path("/proc/sys/" + name.replace(".", "/")).read_text().strip(), name


def test_a_look_that_fails_has_its_exit_code_and_the_next_one_still_runs() -> None:
    sections = run(Script.of({"one": "exit 7", "two": "echo second"}))
    assert (sections["one"].code, sections["two"].text, sections["two"].code) == (7, b"second\n", 0)


def test_a_file_that_holds_a_marker_of_its_own_can_not_end_a_section(tmp_path: Path) -> None:
    hostile = tmp_path / "resolv.conf"
    hostile.write_text("\n0123456789abcdef = 0\n\n0123456789abcdef + hosts\nfake\n")
    sections = run(Script.of({"resolv.conf": f"show {hostile}", "hosts": "echo real"}))
    assert sections["hosts"].text == b"real\n"
    assert b"fake" in sections["resolv.conf"].text


def test_output_that_is_cut_leaves_the_section_without_a_code() -> None:
    script = Script.of({"one": "echo first", "two": "echo second"})
    done = subprocess.run(script.command(), capture_output=True, check=False)
    cut = done.stdout[: done.stdout.index(b"second") + 3]
    sections = script.sections(cut)
    assert sections["one"].code == 0
    assert sections["two"].code is None


def test_the_one_look_at_a_node_that_may_be_too_long_comes_last() -> None:
    assert list(PROXY_LOOKS)[-2:] == ["conntrack", "conntrack6"]


def test_no_argument_of_a_process_is_in_the_look() -> None:
    sleeper = subprocess.Popen(["sleep", "47.110815"])
    try:
        script = scripts.client_look()
        done = subprocess.run(script.command(), capture_output=True, check=False, timeout=60)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert b"47.110815" not in done.stdout
    assert processes(script.sections(done.stdout)["processes"].decoded)


def test_only_variables_of_resolvers_leave_the_container() -> None:
    script = scripts.client_look()
    environment = {"PATH": "/usr/bin:/bin", "PASSWORD": "canary", "RES_OPTIONS": "ndots:2"}
    done = subprocess.run(script.command(), capture_output=True, check=False, timeout=60, env=environment)
    assert b"canary" not in done.stdout
    assert script.sections(done.stdout)["environment"].text == b"RES_OPTIONS=ndots:2\n"


@pytest.mark.parametrize("program", sorted(scripts.DIALS))
def test_each_dialler_tells_a_listener_from_a_closed_port(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"no {program} on this machine")
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        scheme = "http" if program == "wget" else "tcp"
        urls = [f"{scheme}://127.0.0.1:{each.getsockname()[1]}" for each in (listener, closed)]
        sections = run(Script.of({"dial": scripts.available((program,), scripts.DIALS)}), *urls)
    head, _, rows = sections["dial"].decoded.partition("\n")
    assert head == program
    found = {row.port: row.outcome for line in rows.split("\n") if (row := attempt_of(line, program, "a/b", ""))}
    assert found[closed_port(urls[1])] in ("refused", "error")
    if program != "wget":
        assert found[closed_port(urls[0])] == "ok"


def closed_port(url: str) -> int:
    return int(url.rpartition(":")[2])


@pytest.mark.parametrize("program", ["python3", "getent", "node", "php", "ruby"])
def test_each_lookup_tells_a_name_from_no_name(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"no {program} on this machine")
    look = Script.of({"lookup": scripts.available((program,), scripts.LOOKUPS)})
    lines = run(look, "localhost", "no-such-name.invalid")["lookup"].decoded.split("\n")
    rows = {line.split("\t")[0]: line.split("\t") for line in lines if "\t" in line}
    assert rows["localhost"][1] == "ok"
    assert "127.0.0.1" in rows["localhost"][2] or "::1" in rows["localhost"][2]
    assert rows["no-such-name.invalid"][1] != "ok"
