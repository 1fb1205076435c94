"""`svcpath budget` on inputs of many kinds: what is broken is found under other names, and its fixed variant is silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run

CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: GRACE
          containers:
          - name: report
            image: report:1
            env: [{name: TOKEN, value: hidden-value}]
            lifecycle: {preStop: {exec: {command: [sleep, "45"]}}}
"""
MIXED = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: good}
spec:
  selector: {matchLabels: {app: good}}
  template:
    metadata: {labels: {app: good}}
    spec:
      containers: [{name: a, image: a:1, ports: [{containerPort: 80}]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: quoted}
spec:
  template:
    spec:
      terminationGracePeriodSeconds: "30"
      containers: [{name: a, image: a:1}]
"""
TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "web.fullname" . }}
spec:
  replicas: {{ .Values.replicas }}
"""
POD = """\
apiVersion: KIND_VERSION
kind: KIND
metadata: {name: NAME, labels: {app: NAME}}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      terminationGracePeriodSeconds: GRACE
      containers:
      - name: main
        image: registry.test/main@sha256:1111111111111111111111111111111111111111111111111111111111111111
        ports: [{name: http, containerPort: 3000}]
        lifecycle: {preStop: HOOK}
---
apiVersion: v1
kind: Service
metadata: {name: NAME}
spec: {selector: {app: NAME}, ports: [{port: 443, targetPort: http}]}
"""
KINDS = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("argoproj.io/v1alpha1", "Rollout"),
    ("apps.kruise.io/v1alpha1", "CloneSet"),
    ("apps.openshift.io/v1", "DeploymentConfig"),
]
#: Hooks of 25 s in their spellings.
HOOKS = [
    "{sleep: {seconds: 25}}",
    '{exec: {command: [/bin/sleep, "25"]}}',
    '{exec: {command: [sh, -c, "sleep 25 && nginx -s quit"]}}',
    '{exec: {command: [/bin/bash, -ec, "sleep 25s >/dev/null 2>&1; kill -QUIT 1"]}}',
    '{exec: {command: ["sh", "-c", "sleep 20\\nsleep 5\\n"]}}',
    '{exec: {command: [busybox, sleep, "25"]}}',
]


def _budget(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    code = run(["budget", *map(str, arguments), "-o", "json"])
    return code, json.loads(capfd.readouterr().out)


def _pod(folder: Path, kind: tuple[str, str], name: str, grace: int, hook: str) -> Path:
    path = folder / f"{name}-{grace}.yaml"
    text = POD.replace("KIND_VERSION", kind[0]).replace("KIND", kind[1]).replace("NAME", name)
    path.write_text(text.replace("GRACE", str(grace)).replace("HOOK", hook))
    return path


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind[1]))
@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_above_the_grace_period_is_lost_in_every_kind_and_spelling(
    kind: tuple[str, str], hook: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, broken = _budget(capfd, _pod(tmp_path, kind, "cart", 20, hook))
    assert (code, broken["outcome"]) == (1, "does-not-hold")
    assert "SP706" in [finding["code"] for finding in broken["findings"]]
    terms = ("--longest-request", "5", "--propagation", "2", "--shutdown", "1", "--on-signal", "exit")
    code, fixed = _budget(capfd, _pod(tmp_path, kind, "cart", 40, hook), *terms)
    assert (code, fixed["outcome"], fixed["findings"]) == (0, "holds", [])


def test_a_list_as_helm_or_kubectl_writes_it_is_read_item_by_item(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import yaml

    text = _pod(tmp_path, KINDS[1], "db", 20, HOOKS[1]).read_text()
    items = list(yaml.safe_load_all(text))
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, found = _budget(capfd, path)
    assert (code, [workload["kind"] for workload in found["workloads"]]) == (1, ["StatefulSet"])


@pytest.mark.parametrize(("grace", "code"), [(30, 1), (60, 0)])
def test_the_jobs_of_a_cron_job_are_judged_in_its_template(
    grace: int, code: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cron.yaml"
    path.write_text(CRON.replace("GRACE", str(grace)))
    got, found = _budget(capfd, path)
    assert (got, [workload["kind"] for workload in found["workloads"]]) == (code, ["CronJob"])
    lines = [finding["line"] for finding in found["findings"]]
    assert lines == ([16] if code else [])


def test_a_bundle_keeps_no_environment_of_a_cron_jobs_template(tmp_path: Path) -> None:
    from svcpath import api
    from svcpath.evidence.formats.private import reduced

    path = tmp_path / "cron.yaml"
    path.write_text(CRON.replace("GRACE", "30"))
    assert all("hidden-value" not in str(reduced(item.value)) for item in api.manifests(path).inventory())


def test_an_object_that_can_not_be_read_is_named_beside_those_that_can(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mixed.yaml"
    path.write_text(MIXED)
    code, found = _budget(capfd, path)
    assert (code, [workload["name"] for workload in found["workloads"]]) == (0, ["good"])
    assert [(unread["file"], unread["line"]) for unread in found["not_read"]] == [("mixed.yaml", 17)]
    assert "terminationGracePeriodSeconds" in found["not_read"][0]["why"]


def test_a_template_that_was_not_rendered_is_unreadable_and_says_what_to_give(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "deployment.yaml"
    path.write_text(TEMPLATE)
    code, found = _budget(capfd, path)
    assert (code, found["outcome"]) == (4, "none")
    assert "helm template" in found["not_read"][0]["why"]
    assert run(["budget", str(path)]) == 4
    assert "Not read" in capfd.readouterr().out


@pytest.mark.parametrize("hook", ['{exec: {command: ["sleep 25"]}}', '{exec: {command: [sh, -c, sleep, "25"]}}'])
def test_a_hook_that_can_not_run_counts_as_none_and_is_said(
    hook: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, found = _budget(capfd, _pod(tmp_path, KINDS[0], "cart", 20, hook))
    assert code == 0
    assert "SP719" in [finding["code"] for finding in found["findings"]]
    assert found["workloads"][0]["containers"][0]["hook"] == 0


def test_a_target_group_beside_the_manifest_decides_and_its_quicker_twin_is_silent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    manifest = _pod(tmp_path, KINDS[0], "cart", 40, HOOKS[0])
    groups = tmp_path / "tg.json"
    terms = ("--longest-request", "5", "--propagation", "2", "--shutdown", "1", "--on-signal", "exit")
    found = {}
    for interval in (30, 5):
        group = {"TargetGroupName": "t", "HealthCheckIntervalSeconds": interval, "UnhealthyThresholdCount": 2}
        groups.write_text(json.dumps({"TargetGroups": [group]}))
        found[interval] = _budget(capfd, manifest, groups, *terms)
    assert (found[30][0], found[30][1]["outcome"]) == (1, "does-not-hold")
    assert "SP715" in [finding["code"] for finding in found[30][1]["findings"]]
    assert (found[5][0], found[5][1]["outcome"], found[5][1]["findings"]) == (0, "holds", [])


def test_of_several_target_groups_the_one_in_front_is_not_known_so_they_are_a_range(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    manifest = _pod(tmp_path, KINDS[0], "cart", 40, HOOKS[0])
    groups = tmp_path / "tg.json"
    terms = ("--longest-request", "5", "--propagation", "2", "--shutdown", "1", "--on-signal", "exit")
    for intervals, outcome, code in (
        ((5, 30), "undetermined", 0),
        ((30, 60), "does-not-hold", 1),
        ((5, 5), "holds", 0),
    ):
        rows = [
            {"TargetGroupName": f"t{interval}", "HealthCheckIntervalSeconds": interval, "UnhealthyThresholdCount": 2}
            for interval in intervals
        ]
        groups.write_text(json.dumps({"TargetGroups": rows}))
        got, found = _budget(capfd, manifest, groups, *terms)
        assert (got, found["outcome"]) == (code, outcome)
        assert (found["terms"][0]["low"], found["terms"][0]["high"]) == (2.0 * intervals[0], 2.0 * intervals[1])


def test_a_health_check_of_google_cloud_is_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check = tmp_path / "health-check.json"
    check.write_text(json.dumps({"name": "hc", "type": "HTTP", "checkIntervalSec": 15, "unhealthyThreshold": 3}))
    found = _budget(capfd, _pod(tmp_path, KINDS[0], "cart", 40, HOOKS[0]), check)[1]
    assert found["terms"][0]["seconds"] == 45


@pytest.mark.parametrize(
    ("interval", "threshold"),
    [
        ("azure-load-balancer-health-probe-interval", "azure-load-balancer-health-probe-num-of-probe"),
        ("do-loadbalancer-healthcheck-check-interval-seconds", "do-loadbalancer-healthcheck-unhealthy-threshold"),
    ],
)
def test_annotations_of_cloud_controllers_tell_how_long_the_removal_takes(
    interval: str, threshold: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = _pod(tmp_path, KINDS[0], "cart", 40, HOOKS[0])
    notes = {f"service.beta.kubernetes.io/{interval}": "10", f"service.beta.kubernetes.io/{threshold}": "3"}
    text = path.read_text().replace(
        "metadata: {name: cart}\nspec: {selector",
        f"metadata: {{name: cart, annotations: {json.dumps(notes)}}}\nspec: {{type: LoadBalancer, externalTrafficPolicy: Local, selector",
    )
    path.write_text(text)
    assert _budget(capfd, path)[1]["terms"][0]["seconds"] == 30


def test_a_deregistration_delay_above_the_grace_or_below_a_request_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    manifest = _pod(tmp_path, KINDS[0], "cart", 40, HOOKS[0])
    attributes = tmp_path / "attributes.json"
    terms = ("--longest-request", "5", "--propagation", "2", "--shutdown", "1", "--on-signal", "exit")
    text = {}
    for seconds in ("300", "30", "3"):
        attributes.write_text(
            json.dumps({"Attributes": [{"Key": "deregistration_delay.timeout_seconds", "Value": seconds}]})
        )
        found = _budget(capfd, manifest, attributes, *terms)[1]
        text[seconds] = [finding["message"] for finding in found["findings"] if finding["code"] == "SP717"]
    assert text["30"] == []
    assert "lets open requests run for 300 s" in text["300"][0]
    assert "cuts requests that are still open 3 s after" in text["3"][0]
