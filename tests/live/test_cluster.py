"""The walk on a real cluster: right verdicts, the same from a bundle, nothing written, and no more rights than shipped."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard

import svcpath
from svcpath.cli.app import run
from svcpath.reports.records import Report
from tests.live.conftest import NAMESPACE, Lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300, func_only=True)]

#: Service -> verdict, layer, code.
EXPECTED = {
    "echo-server": ("healthy", None, ""),
    "echo-headless": ("healthy", None, ""),
    "empty-service": ("fault", "endpoints", "SP301"),
    "wrong-port": ("fault", "ports", "SP403"),
}


def diagnose(lab: Lab, service: str, *, impersonate: str = "", execs: bool = True) -> Report:
    with svcpath.cluster(kubeconfig=lab.kubeconfig, timeout=90, impersonate=impersonate, execs=execs) as source:
        return svcpath.diagnose(source, f"svc/{service}", namespace=NAMESPACE, client="pod/client")


def outcome(report: Report) -> tuple[str, str | None, str]:
    return report.verdict.status, report.verdict.layer, report.verdict.code or ""


@pytest.mark.parametrize("service", EXPECTED)
def test_the_live_verdict_is_right(lab: Lab, service: str) -> None:
    assert outcome(diagnose(lab, service)) == EXPECTED[service]


@pytest.mark.parametrize("service", EXPECTED)
def test_a_bundle_gives_the_verdict_that_the_cluster_gave(lab: Lab, service: str, tmp_path: Path) -> None:
    bundle = tmp_path / "incident.tar.zst"
    words = ["collect", f"svc/{service}", "-n", NAMESPACE, "--from", "pod/client", "-o", str(bundle)]
    assert run([*words, "--kubeconfig", lab.kubeconfig, "--timeout", "90s"]) == 0
    offline = svcpath.diagnose(svcpath.bundle(bundle), f"svc/{service}", namespace=NAMESPACE, client="pod/client")
    assert outcome(offline) == EXPECTED[service]


def test_without_execs_the_api_server_serves_none(lab: Lab) -> None:
    before = lab.execs()
    report = diagnose(lab, "echo-server", execs=False)
    assert report.verdict.status in ("healthy", "inconclusive")
    assert any("--no-exec" in gap.why for gap in report.not_looked_at)
    assert lab.execs() == before


def test_a_diagnosis_sends_nothing_but_reads_and_execs_and_changes_no_object(lab: Lab) -> None:
    kinds = "services,endpointslices,endpoints,configmaps,deployments,replicasets,pods,serviceaccounts"

    def versions() -> dict[tuple[str, str], str]:
        return {
            (obj["kind"], obj["metadata"]["name"]): obj["metadata"]["resourceVersion"]
            for obj in lab.get("-n", NAMESPACE, kinds)
        }

    before = versions()
    with svcpath.cluster(kubeconfig=lab.kubeconfig, timeout=90) as source:
        svcpath.diagnose(source, "svc/wrong-port", namespace=NAMESPACE, client="pod/client", thorough=True)
        assert {call.verb for call in source.calls} == {"GET", "EXEC"}
        assert source.execs
    assert versions() == before


ROLES = Path(__file__).parents[2] / "deploy" / "rbac"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:reader"


def rules() -> list[dict[str, Any]]:
    return [
        rule for name in ("static", "exec") for rule in yaml.safe_load((ROLES / f"{name}.yaml").read_text())["rules"]
    ]


def grant(lab: Lab, rules: list[dict[str, Any]]) -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "svcpath-test"},
        "rules": rules,
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "svcpath-test"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "svcpath-test"},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": NAMESPACE}],
    }
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "reader", "namespace": NAMESPACE},
    }
    lab.apply(yaml.safe_dump_all([role, binding, account]))


@pytest.mark.parametrize("service", ["echo-server", "wrong-port"])
def test_the_shipped_roles_alone_are_enough(lab: Lab, service: str) -> None:
    grant(lab, rules())
    report = diagnose(lab, service, impersonate=ACCOUNT)
    assert outcome(report) == EXPECTED[service]
    assert not [gap for gap in report.not_looked_at if "forbidden" in gap.why]


@pytest.mark.parametrize("number", range(len(rules())))
def test_with_a_rule_removed_the_report_names_it_and_accuses_nobody(lab: Lab, number: int) -> None:
    allowed = rules()
    gone = allowed.pop(number)
    grant(lab, allowed)
    report = diagnose(lab, "echo-server", impersonate=ACCOUNT)
    assert report.verdict.status in ("healthy", "warning", "inconclusive")
    summary = " ".join(gap.why for gap in report.not_looked_at)
    assert "forbidden" in summary
    assert any(resource in summary for resource in gone["resources"]), (gone, summary)


CANARY = "canary-7c1f9e"
PLANTED = f"""
apiVersion: v1
kind: Secret
metadata: {{name: planted, namespace: {NAMESPACE}, annotations: {{note: {CANARY}-secret-note}}}}
stringData: {{password: {CANARY}-secret}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: planted, namespace: {NAMESPACE}}}
data: {{token: {CANARY}-configmap}}
---
apiVersion: v1
kind: Pod
metadata:
  name: planted
  namespace: {NAMESPACE}
  labels: {{app: client}}
  annotations: {{example.com/token: {CANARY}-annotation}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: client
    image: lab.local/tools:1
    imagePullPolicy: IfNotPresent
    command: [sleep, infinity]
    env:
    - {{name: PASSWORD, value: {CANARY}-env}}
    - {{name: JAVA_OPTS, value: "-Dpassword={CANARY}-java"}}
    - {{name: FROM_SECRET, valueFrom: {{secretKeyRef: {{name: planted, key: password}}}}}}
    readinessProbe:
      exec: {{command: [sh, -c, "true || echo {CANARY}-probe"]}}
    lifecycle:
      preStop: {{exec: {{command: [sh, -c, "sleep 1; echo {CANARY}-hook"]}}}}
  - name: other
    image: lab.local/tools:1
    imagePullPolicy: IfNotPresent
    command: [sh, -c]
    args: ["sleep 100000; echo {CANARY}-arguments"]
"""


def test_nothing_planted_in_the_cluster_is_in_a_bundle(lab: Lab, tmp_path: Path) -> None:
    lab.apply(PLANTED)
    try:
        lab.kubectl.run("-n", NAMESPACE, "wait", "--for=condition=Ready", "pod/planted", "--timeout=60s", timeout=90)
        bundle = tmp_path / "incident.tar.zst"
        words = [
            "collect",
            "svc/echo-server",
            "-n",
            NAMESPACE,
            "--from",
            "pod/planted",
            "-o",
            str(bundle),
            "--all-nodes",
        ]
        assert run([*words, "--kubeconfig", lab.kubeconfig, "--timeout", "90s"]) == 0
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(bundle.read_bytes())) as stream:
            data = stream.read()
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            names = tar.getnames()
        assert len(names) > 5
        assert b"planted" in data
        assert CANARY.encode() not in data
    finally:
        for kind in ("pod", "secret", "configmap"):
            lab.kubectl.run("-n", NAMESPACE, "delete", kind, "planted", "--wait=false", check=False)
