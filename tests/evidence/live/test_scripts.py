"""The shell text itself, run by this machine's sh: what it prints is what the files hold."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

import dns.message
import pytest

from svcpath.evidence.facts.connections import Attempt
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.sources import dials
from svcpath.evidence.sources import inpod_scripts as scripts
from svcpath.evidence.sources.dials import attempt_of
from svcpath.evidence.sources.inpod_runtime import jvms, processes
from svcpath.evidence.sources.inpod_scripts import Script
from svcpath.evidence.sources.node_looks import PROXY_LOOKS, parsed

pytestmark = pytest.mark.skipif(shutil.which("sh") is None, reason="no sh")


def run(script: Script, *arguments: str) -> dict[str, scripts.Section]:
    done = subprocess.run(script.command(*arguments), capture_output=True, check=False, timeout=60)
    return script.sections(done.stdout)


def test_sysctls_are_read_whole() -> None:
    sections = run(Script.of({"sysctl": PROXY_LOOKS["sysctl"]}))
    found = parsed(Kind.SYSCTL, sections)
    assert found is not None
    for name, value in found.values.items():
        if not name.endswith("_count"):
            assert value == Path("/proc/sys/" + name.translate(str.maketrans("./", "/."))).read_text().strip(), name


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


@pytest.mark.parametrize("program", sorted(dials.DIALS))
def test_each_dialler_tells_a_listener_from_a_closed_port(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"no {program} on this machine")
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        scheme = "http" if program == "wget" else "tcp"
        urls = [f"{scheme}://127.0.0.1:{open_socket.getsockname()[1]}" for open_socket in (listener, closed)]
        sections = run(
            Script.of({"dial": scripts.available((program,), dials.DIALS)}, {"DIAL": dials.PYTHON_DIAL}), *urls
        )
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


def _dialled(*urls: str) -> dict[str, Attempt]:
    script = dials.script()
    done = subprocess.run(script.command(*urls), capture_output=True, check=False, timeout=60)
    program, attempts = dials.read(script.sections(done.stdout)["dial"].decoded, "a/b", "")
    assert program == "python3"
    return {f"{attempt.protocol} {attempt.port}": attempt for tried in attempts.values() for attempt in tried}


def test_a_datagram_is_answered_refused_or_neither() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as answers,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed,
    ):
        for server in (answers, silent, closed):
            server.bind(("127.0.0.1", 0))
        ports = [server.getsockname()[1] for server in (answers, silent, closed)]
        closed.close()
        questions: list[bytes] = []

        def serve() -> None:
            question, peer = answers.recvfrom(512)
            questions.append(question)
            answers.sendto(question, peer)

        thread = threading.Thread(target=serve)
        thread.start()
        found = _dialled(
            f"udp+dns://127.0.0.1:{ports[0]}",
            f"udp://127.0.0.1:{ports[1]}",
            f"udp://127.0.0.1:{ports[2]}",
        )
        thread.join()
        asked = _dialled(f"udp+dns://127.0.0.1:{ports[1]}")
    assert [found[f"UDP {port}"].outcome for port in ports] == ["ok", "unanswered", "refused"]
    # An honest question that is not answered is one.
    assert asked[f"UDP {ports[1]}"].outcome == "timeout"
    assert dns.message.from_wire(questions[0]).question[0].to_text() == "kubernetes.default.svc.cluster.local. IN A"


def test_a_large_request_says_how_much_of_it_arrived() -> None:
    """The server's kernel takes all of it, and nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        found = _dialled(f"large://127.0.0.1:{port}")[f"TCP {port}"]
    assert (found.outcome, found.unacknowledged) == ("stalled", 0)
    assert found.padded > 3000
    assert found.segment > 500


def test_of_a_jvm_only_what_decides_names_leaves_the_container(tmp_path: Path) -> None:
    program = tmp_path / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    shutil.copy("/bin/sh", program)
    program.chmod(0o755)
    security = tmp_path / "jdk" / "conf" / "security" / "java.security"
    security.parent.mkdir(parents=True)
    security.write_text("networkaddress.cache.ttl=30\nnetworkaddress.cache.stale.ttl=0\nkeystore.password=canary\n")
    arguments = ["-Dsun.net.inetaddr.ttl=45", "-Dpassword=canary", "-Djava.net.preferIPv4Stack=true", "--token=canary"]
    environment = {
        "PATH": "/usr/bin:/bin",
        "JAVA_TOOL_OPTIONS": "-Dx=canary -Dsun.net.inetaddr.negative.ttl=3",
        "JAVA_OPTS": "-Dcanary",
    }
    java = subprocess.Popen(
        [program, "-c", "while :; do sleep 1; done", *arguments], env=environment, start_new_session=True
    )
    try:
        script = scripts.client_look()
        done = subprocess.run(script.command(), capture_output=True, check=False, timeout=60)
    finally:
        os.killpg(java.pid, signal.SIGKILL)
        java.wait()
    assert b"canary" not in done.stdout
    text = script.sections(done.stdout)["jvm"].decoded
    # A machine may run other JVMs.
    mine = "\n".join(line for line in text.split("\n") if line.split("\t")[1:2] == [str(java.pid)])
    runs = jvms(mine)
    assert runs is not None
    (found,) = runs.settings
    assert set(found.flags) == {
        "-Dsun.net.inetaddr.ttl=45",
        "-Djava.net.preferIPv4Stack=true",
        "-Dsun.net.inetaddr.negative.ttl=3",
    }
    assert found.security_properties == {"networkaddress.cache.ttl": "30", "networkaddress.cache.stale.ttl": "0"}
    assert found.security_manager is False
    assert jvms("") is None
