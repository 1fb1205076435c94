"""Services and clients of every odd kind on the lab: nothing healthy is accused, and what fails is named.

A lab of --ip-family dual has the IPv6 ones too; in whatever proxy mode the lab is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from svcpath.cli.app import run
from svcpath_lab import home as homes
from tests.live.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300)]

SPACE, OTHER = "odd-inputs", "odd-clients"
MANIFEST = Path(__file__).parent.parent / "data" / "live" / "odd.yaml"

#: Target, client and other words -> status, layer, code ("" is any).
CASES: dict[str, tuple[list[str], str, str | None, str]] = {
    "headless": (["svc/head", "--from", "pod/client", "-c", "second"], "healthy", None, ""),
    "external name": (["svc/ext", "--from", "pod/client", "-c", "second"], "healthy", None, ""),
    "node port, wrapped by sh": (["svc/np", "--from", "pod/client", "-c", "second"], "healthy", None, ""),
    "node port that is local": (["svc/np-local", "--from", f"pod/{OTHER}/far"], "healthy", None, ""),
    "datagrams that are not answered": (["svc/udp", "--from", "pod/client", "-c", "second"], "healthy", None, ""),
    "datagrams that are refused": (["svc/udp-deaf", "--from", "pod/client", "-c", "second"], "fault", "ports", ""),
    "its own backend": (["svc/self", "--from", "pod/alone"], "healthy", None, ""),
    "policy that nothing enforces": (["svc/self", "--from", f"pod/{OTHER}/far"], "healthy", None, ""),
    "client without a shell": (["svc/np", "--from", "pod/bare"], "healthy", None, ""),
    "first container has no shell": (["svc/np", "--from", "pod/client"], "healthy", None, ""),
    "from a node": (["svc/np", "--from", "node/w1"], "healthy", None, ""),
    "from nowhere": (["svc/np"], "healthy", None, ""),
    "by its full name": ([f"np.{SPACE}.svc.cluster.local", "--from", f"pod/{OTHER}/far"], "healthy", None, ""),
    "absolute name": (
        ["svc/np", "--from", "pod/client", "-c", "second", "--lookup", f"np.{SPACE}.svc.cluster.local."],
        "healthy",
        None,
        "",
    ),
    "without endpoints": (["svc/none", "--from", "pod/client", "-c", "second"], "fault", "endpoints", "SP302"),
    "symptom that ranks": (
        ["svc/none", "--from", "pod/client", "-c", "second", "--symptom", "connect: connection refused"],
        "fault",
        "endpoints",
        "SP302",
    ),
    "too few rights": (["svc/np", "--from", "pod/client", "--as", "jane"], "inconclusive", None, ""),
    "API server, not in a Pod": (
        ["kubernetes.default", "-n", "default", "--from", f"pod/{SPACE}/client"],
        "healthy",
        None,
        "",
    ),
    "cluster DNS, both protocols": (
        ["svc/kube-dns", "-n", "kube-system", "--from", f"pod/{SPACE}/client", "-c", "second"],
        "healthy",
        None,
        "",
    ),
    "IPv6 alone": (["svc/six", "--from", "pod/client", "-c", "second"], "healthy", None, ""),
}


@pytest.fixture(scope="module")
def odd(lab: Lab, alone: None) -> Iterator[bool]:
    """The odd Services stand; whether IPv6 is there."""
    del alone
    dual = homes.home(os.environ["SVCPATH_TEST_LAB"]).read_spec().ip_family == "dual"
    objects = list(yaml.safe_load_all(MANIFEST.read_text()))
    objects = [obj for obj in objects if dual or obj["metadata"]["name"] != "six"]
    spaces = [obj for obj in objects if obj["kind"] == "Namespace"]
    lab.apply(yaml.safe_dump_all(spaces))
    for space in (SPACE, OTHER):
        lab.kubectl.run("-n", space, "wait", "--for=create", "serviceaccount/default", "--timeout=60s", timeout=90)
    lab.apply(yaml.safe_dump_all(objects))
    try:
        lab.kubectl.run("-n", SPACE, "rollout", "status", "deployment/web", "--timeout=120s", timeout=150)
        for space in (SPACE, OTHER):
            lab.kubectl.run("-n", space, "wait", "--for=condition=Ready", "pods", "--all", "--timeout=90s", timeout=120)
        yield dual
    finally:
        for space in (SPACE, OTHER):
            lab.kubectl.run("delete", "namespace", space, "--timeout=120s", check=False, timeout=150)


@pytest.mark.parametrize("name", CASES)
def test_each_odd_input_gets_its_verdict(odd: bool, lab: Lab, name: str, tmp_path: Path) -> None:
    words, status, layer, code = CASES[name]
    if "IPv6" in name and not odd:
        pytest.skip("a lab of one family")
    report = tmp_path / "report.json"
    space = [] if "-n" in words or "." in words[0] else ["-n", SPACE]
    run(["diagnose", *words, *space, "--kubeconfig", lab.kubeconfig, "--timeout", "90s", "-o", f"json={report}"])
    found: dict[str, Any] = json.loads(report.read_text())
    verdict = found["verdict"]
    printed = (verdict["status"], verdict["layer"], verdict["code"] if code else "")
    assert printed == (status, layer, code), verdict


def test_a_container_that_is_not_there_is_a_usage_error_with_those_that_are(
    odd: bool, lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    del odd
    words = ["diagnose", "svc/np", "-n", SPACE, "--from", "pod/client", "-c", "nope", "--kubeconfig", lab.kubeconfig]
    assert run(words) == 2
    assert "it has first, second" in capsys.readouterr().err
