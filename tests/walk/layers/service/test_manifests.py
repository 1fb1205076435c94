"""Manifests that no API server has had yet are judged for what they say, not for what only a server adds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run
from tests.fixtures.manifests import SERVICE

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 40
      containers:
      - name: app
        image: example.org/web:1
        ports: [{containerPort: 8080}]
        lifecycle: {preStop: {sleep: {seconds: 12}}}
"""


def _diagnosis(text: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    (folder / "all.yaml").write_text(text)
    code = run(["diagnose", "--evidence", str(folder), "-o", "json"])
    return code, json.loads(capfd.readouterr().out)


def _codes(found: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in found["findings"]]


def test_a_service_that_was_not_created_yet_is_not_blamed_for_having_no_address(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, found = _diagnosis(DEPLOYMENT + SERVICE, tmp_path, capfd)
    assert (code, _codes(found)) == (3, [])


@pytest.mark.parametrize("trace", ["uid: 3f2a", "resourceVersion: '7'", "creationTimestamp: 2026-01-01T00:00:00Z"])
def test_a_service_that_a_server_has_had_needs_its_address(
    trace: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = SERVICE.replace("{name: web}", f"{{name: web, {trace}}}")
    code, found = _diagnosis(DEPLOYMENT + text, tmp_path, capfd)
    assert (code, _codes(found)) == (1, ["SP202"])


def test_a_deployment_without_a_status_is_not_called_complete(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.yaml").write_text(DEPLOYMENT + SERVICE)
    run(["diagnose", "--evidence", str(tmp_path)])
    shown = capfd.readouterr().out
    assert "complete" not in shown
    assert "preStop 12 s inside the grace period of 40 s" in shown


def test_a_drain_that_no_value_makes_hold_is_still_a_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, found = _diagnosis(DEPLOYMENT.replace("seconds: 12", "seconds: 60") + SERVICE, tmp_path, capfd)
    assert (code, _codes(found)) == (1, ["SP706"])
