"""The experiment's parts that need no cluster: manifests and their variants, request lines, watch streams."""

from __future__ import annotations

import http.server
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.recognise import recognise
from svcpath_lab.experiment import manifests
from svcpath_lab.experiment.log import RawLog
from svcpath_lab.experiment.manifests import RunVariant, with_variant
from svcpath_lab.experiment.play import parse_request
from svcpath_lab.experiment.watch import documents, logging
from svcpath_lab.kubectl import Kubectl


def _objects() -> list[dict[str, Any]]:
    return [
        document
        for path in sorted(manifests.folder().glob("*.yaml"))
        if path.name != "kustomization.yaml"
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]


def test_the_kustomization_lists_every_manifest_and_script() -> None:
    listed = yaml.safe_load((manifests.folder() / "kustomization.yaml").read_text(encoding="utf-8"))
    files = {path.name for path in manifests.folder().iterdir() if path.is_file()} - {"kustomization.yaml"}
    assert {*listed["resources"], *listed["configMapGenerator"][0]["files"]} == files


def test_a_variant_sets_grace_hook_port_and_images() -> None:
    variant = RunVariant(grace=5, prestop=0, wrong_port_listens=True)
    changed = with_variant(_objects(), variant, {"tools": "t:1", "client": "c:1"})
    (deployment,) = [manifest for manifest in changed if manifest["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    server = pod["containers"][0]
    assert pod["terminationGracePeriodSeconds"] == 5
    assert "lifecycle" not in server
    assert {"name": "EXTRA_PORT", "value": "18080"} in server["env"]
    assert server["image"] == "t:1"
    assert {manifest["spec"]["containers"][0]["image"] for manifest in changed if manifest["kind"] == "Pod"} == {"c:1"}


def test_the_plain_variant_is_what_the_manifests_say() -> None:
    images = {"tools": "lab.local/tools:1", "client": "lab.local/tools:1"}
    assert with_variant(_objects(), RunVariant(), images) == _objects()


def test_a_stream_of_objects_is_read_whether_they_stand_on_a_line_or_are_indented() -> None:
    first, second = {"type": "ADDED", "object": {"a": [{}, {"b": "}\n{"}]}}, {"type": "DELETED", "object": {}}
    for indent in (None, 4):
        text = "".join(json.dumps(request, indent=indent) + "\n" for request in (first, second))
        assert list(documents(io.StringIO(text))) == [first, second]


@pytest.fixture
def silent() -> Iterator[int]:
    """A server that answers /hostname and is silent elsewhere."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/hostname":
                time.sleep(1.5)
                return
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"a b c")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def _request(url: str, limit: str = "5") -> str:
    script = manifests.folder() / "request.py"
    done = subprocess.run([sys.executable, script, url, "1", limit], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("followed", [True, False])
def test_a_log_that_a_kubelet_can_t_follow_is_read_again(tmp_path: Path, followed: bool) -> None:
    """Every line is noted once, whether it comes while the log is followed or in a later reading."""
    pod_log = tmp_path / "pod.log"
    pod_log.write_text("one\ntwo\n")
    follow = "echo three" if followed else "echo 'failed to create fsnotify watcher: too many open files'"
    program = tmp_path / "kubectl"
    program.write_text(f'#!/bin/sh\ncat {pod_log}\ncase "$*" in *" -f "*) {follow};; esac\n')
    program.chmod(0o755)
    log = RawLog(tmp_path / "raw.jsonl")
    wanted = ["one", "two", "three"]
    with logging(Kubectl(program, tmp_path / "config"), log, "shop", "web-1"):
        deadline = time.monotonic() + 20
        while len(log.entries) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        if not followed:
            pod_log.write_text("one\ntwo\nthree\n")
        while len(log.entries) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
    log.close()
    assert [entry["line"] for entry in log.entries] == wanted


def test_the_clients_lines_tell_success_refusal_silence_and_no_address_apart(silent: int) -> None:
    good = parse_request(_request(f"http://127.0.0.1:{silent}/hostname"))
    assert (good["status"], good["exit"], good["body"], good["remote"]) == (200, 0, "a b c", f"127.0.0.1:{silent}")
    refused = parse_request(_request("http://127.0.0.1:1/x"))
    assert (refused["status"], refused["exit"], refused["body"]) == (0, 7, "Connection refused")
    assert parse_request(_request(f"http://127.0.0.1:{silent}/silent", "0.3"))["exit"] == 28
    assert parse_request(_request("http://no-such-name.invalid/x", "3"))["exit"] == 6


def test_the_clients_lines_are_read_as_connection_attempts_of_a_recording(silent: int) -> None:
    text = "\n".join((_request(f"http://127.0.0.1:{silent}/hostname"), _request("http://127.0.0.1:1/x"))) + "\n"
    (item,) = recognise(text.encode())
    assert isinstance(item, Item)
    found = item.value.attempts
    assert [(attempt.outcome, attempt.port) for attempt in found] == [("ok", silent), ("refused", 1)]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_the_echo_server_answers_switches_its_health_and_finishes_on_term() -> None:
    port, script = _free_port(), manifests.folder() / "server.py"
    environment = {**os.environ, "PORT": str(port), "BIND": "127.0.0.1", "ON_STOP": "finish"}
    process = subprocess.Popen([sys.executable, "-u", script], env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert "listening" in process.stdout.readline()
        base = f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(f"{base}/hostname", timeout=5) as reply:
            assert reply.status == 200
        with urllib.request.urlopen(urllib.request.Request(f"{base}/healthz?ok=false", method="POST"), timeout=5):
            pass
        with pytest.raises(urllib.error.HTTPError, match="503") as refused:
            urllib.request.urlopen(f"{base}/healthz", timeout=5)
        refused.value.close()
        answers: list[int] = []

        def slow() -> None:
            with urllib.request.urlopen(f"{base}/slow?seconds=0.6", timeout=5) as reply:
                answers.append(reply.status)

        thread = threading.Thread(target=slow)
        thread.start()
        while "slow" not in process.stdout.readline():
            pass
        process.terminate()
        thread.join()
        assert answers == [200]
        assert process.wait(5) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
