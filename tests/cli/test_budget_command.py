"""`svcpath budget` on manifests as users have them: exit codes, contract, file and line of each finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run

CASES = Path(__file__).parents[1] / "cases" / "public"

DEPLOYMENT = """\
# Source: web/templates/deployment.yaml
apiVersion: apps/v1
kind: {kind}
metadata:
  name: web
spec:
  replicas: 2
  template:
    metadata:
      labels: {{app: web}}
    spec:
      terminationGracePeriodSeconds: {grace}
      containers:
      - name: app
        image: {image}
        ports: [{{containerPort: 8080}}]
        lifecycle:
          preStop:
            {hook}
"""


def _budget(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    code = run(["budget", *map(str, arguments), "-o", "json"])
    return code, json.loads(capfd.readouterr().out)


def _write(
    folder: Path, *, kind: str = "Deployment", grace: int = 20, image: str = "web:1", hook: str = "sleep: {seconds: 10}"
) -> Path:
    path = folder / "web.yaml"
    path.write_text(DEPLOYMENT.format(kind=kind, grace=grace, image=image, hook=hook))
    return path


def test_a_hook_longer_than_the_grace_period_is_lost_in_both_spellings(capfd: pytest.CaptureFixture[str]) -> None:
    code, found = _budget(capfd, CASES / "62-prestop-longer-than-grace")
    assert code == 1
    assert {workload["name"]: workload["outcome"] for workload in found["workloads"]} == {
        "slow": "does-not-hold",
        "slow-exec": "does-not-hold",
    }
    codes = [(finding["code"], finding["file"], finding["line"]) for finding in found["findings"]]
    assert ("SP706", "deployment.yaml", 23) in codes
    assert ("SP706", "exec-variant.yaml", 23) in codes
    assert ("SP714", "deployment.yaml", 24) in codes


def test_a_missing_hook_is_warned_of_and_not_called_lost(capfd: pytest.CaptureFixture[str]) -> None:
    code, found = _budget(capfd, CASES / "60-no-prestop-endpoint-lag")
    assert code == 0
    assert [finding["code"] for finding in found["findings"]] == ["SP707"]
    assert "the default 30 s" in found["findings"][0]["message"]
    limits = {limit["name"]: limit["largest"] for limit in found["workloads"][0]["limits"]}
    assert limits["endpoint propagation"] == 0


def test_a_budget_that_fits_its_load_balancer_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    code, found = _budget(capfd, CASES / "63-prestop-grace-sufficient")
    assert (code, found["findings"]) == (0, [])
    terms = {term["name"]: (term["seconds"], term["origin"]) for term in found["terms"]}
    assert terms["load balancer removal"] == (30.0, "manifest")
    assert terms["longest request"] == (None, "unknown")


def test_the_reference_experiment_holds_with_its_measured_terms(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path)
    flags = ("--lb-removal", "0", "--propagation", "0.4", "--longest-request", "6", "--shutdown", "0.2")
    code, found = _budget(capfd, path, *flags, "--strict")
    assert (code, found["outcome"], found["findings"]) == (0, "holds", [])
    assert {margin["name"]: margin["seconds"] for margin in found["margins"]} == {
        "new connections": 9.6,
        "requests": 3.6,
        "graceful exit": 9.8,
    }


def test_strict_is_undecided_while_an_unknown_has_no_bound(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path)
    assert _budget(capfd, path)[0] == 0
    assert _budget(capfd, path, "--strict")[0] == 3


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet", "Rollout", "CloneSet"])
def test_every_kind_with_a_pod_template_is_read(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, found = _budget(capfd, _write(tmp_path, kind=kind, grace=5, hook="exec: {command: [sh, -c, sleep 30]}"))
    assert code == 1
    assert [workload["kind"] for workload in found["workloads"]] == [kind]


def test_rules_about_the_hook(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path, image="gcr.io/distroless/base", hook="exec: {command: [sh, -c, sleep 10]}")
    assert [finding["code"] for finding in _budget(capfd, path)[1]["findings"]] == ["SP709"]
    path = _write(tmp_path, hook="tcpSocket: {port: 1}")
    assert [finding["code"] for finding in _budget(capfd, path)[1]["findings"]] == ["SP719", "SP707"]
    path = _write(tmp_path, grace=0, hook="exec: {command: ['true']}")
    assert "SP710" in [finding["code"] for finding in _budget(capfd, path)[1]["findings"]]


AROUND = """\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 2
  selector: {matchLabels: {app: web}}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  annotations:
    service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval: "30"
    service.beta.kubernetes.io/aws-load-balancer-healthcheck-unhealthy-threshold: "3"
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
"""


def test_rules_about_what_stands_around(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path)
    path.write_text(path.read_text() + AROUND)
    code, found = _budget(capfd, path)
    assert code == 1
    codes = {finding["code"]: finding for finding in found["findings"]}
    assert set(codes) == {"SP708", "SP712", "SP715"}
    assert codes["SP712"]["line"] == path.read_text().split("\n").index("  minAvailable: 2") + 1
    assert "takes 90 s to notice" in codes["SP715"]["message"]


def test_usage_and_missing_paths_have_their_exit_codes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["budget", str(tmp_path / "none.yaml")]) == 4
    assert run(["budget", str(_write(tmp_path)), "--on-signal", "perhaps"]) == 2
    (tmp_path / "empty").mkdir()
    assert run(["budget", str(tmp_path / "empty")]) == 3


def test_the_table_names_margins_limits_and_the_patch(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["budget", str(_write(tmp_path)), "--longest-request", "30", "--on-signal", "exit"]) == 1
    shown = capfd.readouterr().out
    assert "does not hold" in shown
    assert "First to change" in shown
    assert "sleep: {seconds: 42}" in shown


RECORDED = Path(__file__).parents[1] / "data" / "drain" / "recorded"


def test_a_recorded_drain_is_shown_and_exported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["drain", "timeline", "show", str(RECORDED)]) == 0
    shown = capfd.readouterr().out
    assert "10.244.1.9 ready=false serving=true terminating=true" in shown
    assert "SP720" in shown
    assert run(["drain", "timeline", "export", str(RECORDED), "--out", str(tmp_path / "out.jsonl")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert (
        run(["drain", "timeline", "export", str(RECORDED), "--format", "csv", "--out", str(tmp_path / "out.csv")]) == 0
    )
    assert len((tmp_path / "out.csv").read_text().splitlines()) == len(rows) + 1
