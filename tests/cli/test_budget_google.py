"""`svcpath budget` with what GKE's load balancers are given: BackendConfig beside an Ingress, policies beside a Gateway.

The objects are written after the examples in GKE's documentation of both.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 60
      containers:
      - name: app
        image: registry.test/web@sha256:1111111111111111111111111111111111111111111111111111111111111111
        ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9090}]
        lifecycle: {preStop: {sleep: {seconds: 40}}}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  annotations: {NOTE}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}, {name: admin, port: 9090, targetPort: admin}]
"""
CONFIG = """\
---
apiVersion: cloud.google.com/v1
kind: BackendConfig
metadata: {name: NAME}
spec:
  timeoutSec: 40
  connectionDraining: {drainingTimeoutSec: SECONDS}
"""
CHECKED = "  healthCheck: {checkIntervalSec: 10, timeoutSec: 5, unhealthyThreshold: THRESHOLD, type: HTTP}\n"
INGRESS = """\
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {kubernetes.io/ingress.class: CLASS}}
spec:
  rules:
  - http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: PORT}}}]}
"""
POLICY = """\
---
apiVersion: networking.gke.io/v1
kind: GCPBackendPolicy
metadata: {name: web}
spec:
  default: {connectionDraining: {drainingTimeoutSec: SECONDS}}
  targetRef: {group: "", kind: Service, name: TARGET}
---
apiVersion: networking.gke.io/v1
kind: HealthCheckPolicy
metadata: {name: web}
spec:
  default: {checkIntervalSec: 10, unhealthyThreshold: THRESHOLD}
  targetRef: {group: "", kind: Service, name: TARGET}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: front}
spec: {gatewayClassName: CLASS, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: front}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
"""
DEFAULT = """cloud.google.com/backend-config: '{"default": "slow"}'"""
BETA = """beta.cloud.google.com/backend-config: '{"default": "slow"}'"""
BY_NAME = """cloud.google.com/backend-config: '{"ports": {"http": "slow"}}'"""
BY_NUMBER = """cloud.google.com/backend-config: '{"ports": {"80": "slow"}, "default": "other"}'"""
ADMIN = """cloud.google.com/backend-config: '{"ports": {"admin": "slow"}}'"""
TERMS = ("--longest-request", "5", "--propagation", "2", "--shutdown", "1", "--on-signal", "exit")


def _budget(
    folder: Path, capfd: pytest.CaptureFixture[str], *texts: str, terms: tuple[str, ...] = TERMS
) -> dict[str, Any]:
    path = folder / "all.yaml"
    path.write_text("".join(texts))
    run(["budget", str(path), *terms, "-o", "json"])
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


def _web(note: str = "") -> str:
    return WEB.replace("NOTE", note)


def _config(seconds: int | str, name: str = "slow", threshold: int = 0) -> str:
    checked = CHECKED.replace("THRESHOLD", str(threshold)) if threshold else ""
    return CONFIG.replace("NAME", name).replace("SECONDS", str(seconds)) + checked


def _ingress(named: str = "gce", port: str = "{number: 80}") -> str:
    return INGRESS.replace("CLASS", named).replace("PORT", port)


def _policy(
    seconds: int, target: str = "web", named: str = "gke-l7-global-external-managed", threshold: int = 2
) -> str:
    text = POLICY.replace("SECONDS", str(seconds)).replace("TARGET", target).replace("CLASS", named)
    return text.replace("THRESHOLD", str(threshold))


def _notes(found: dict[str, Any]) -> list[str]:
    return [finding["message"] for finding in found["findings"] if finding["code"] == "SP717"]


@pytest.mark.parametrize("note", [DEFAULT, BETA, BY_NAME, BY_NUMBER])
@pytest.mark.parametrize("front", ["", _ingress(), _ingress("gce-internal", "{name: http}")])
def test_a_backend_config_that_drains_longer_than_the_pod_lives_is_said(
    note: str, front: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (expected,) = _notes(_budget(tmp_path, capfd, _web(note), _config(300), front))
    assert "BackendConfig slow" in expected
    assert "300 s" in expected
    assert "lives 60 s" in expected
    assert _notes(_budget(tmp_path, capfd, _web(note), _config(30), front)) == []


@pytest.mark.parametrize(
    ("note", "texts"),
    [
        ("", (_config(300), _ingress())),  # no annotation
        (DEFAULT, (_config(300, "another"), _ingress())),  # another's configuration
        (DEFAULT, (_config(300), _ingress("nginx"))),  # another controller in front
        (ADMIN, (_config(300), _ingress())),  # of a port that the Ingress does not use
        ("cloud.google.com/backend-config: '{\"default\": '", (_config(300),)),  # no JSON
        ("cloud.google.com/backend-config: '[1]'", (_config(300),)),
        (DEFAULT, (_config('"300"'),)),
        (DEFAULT, (_config(300).replace("cloud.google.com/v1", "example.com/v1"),)),
        (DEFAULT, (_config(300).replace("metadata: {", "metadata: {namespace: b, "), )),
    ],
)  # fmt: skip
def test_a_backend_config_that_does_not_apply_is_silent(
    note: str, texts: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    web = _web(note).replace("metadata:\n  name: web\n", "metadata:\n  name: web\n  namespace: a\n")
    web = web if "namespace: b" in "".join(texts) else _web(note)
    assert _notes(_budget(tmp_path, capfd, web, *texts)) == []


def test_requests_longer_than_the_draining_are_cut_by_the_load_balancer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for files in ((DEFAULT, _config(3), _ingress()), ("", _policy(3))):
        (expected,) = _notes(_budget(tmp_path, capfd, _web(files[0]), *files[1:]))
        assert "cuts requests that are still open 3 s after" in expected
    unknown = TERMS[2:]
    assert _notes(_budget(tmp_path, capfd, _web(DEFAULT), _config(3), _ingress(), terms=unknown)) == []


def test_a_backend_policy_is_read_at_a_gateway_of_gke_for_its_own_service(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = _budget(tmp_path, capfd, _web(), _policy(120))
    (expected,) = _notes(found)
    assert "GCPBackendPolicy web" in expected
    assert _notes(_budget(tmp_path, capfd, _web(), _policy(30))) == []
    assert _notes(_budget(tmp_path, capfd, _web(), _policy(120, target="shop"))) == []
    assert _notes(_budget(tmp_path, capfd, _web(), _policy(120, named="istio"))) == []


@pytest.mark.parametrize("which", ["config", "policy"])
def test_a_health_check_of_gke_bounds_the_removal_and_a_quicker_one_holds(
    which: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def found(threshold: int) -> dict[str, Any]:
        if which == "config":
            return _budget(tmp_path, capfd, _web(DEFAULT), _config(30, threshold=threshold), _ingress())
        return _budget(tmp_path, capfd, _web(), _policy(30, threshold=threshold))

    slow, quick = found(9), found(2)
    assert (slow["terms"][0]["low"], slow["terms"][0]["high"], slow["outcome"]) == (0.0, 90.0, "undetermined")
    assert (quick["terms"][0]["low"], quick["terms"][0]["high"], quick["outcome"]) == (0.0, 20.0, "holds")
    assert [finding["code"] for finding in quick["findings"]] == []
    assert "SP715" not in [finding["code"] for finding in slow["findings"]]


def test_another_controllers_ingress_keeps_its_removal_unknown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = _budget(tmp_path, capfd, _web(DEFAULT), _config(30, threshold=2), _ingress("nginx"))
    assert found["terms"][0]["high"] is None


def test_the_finding_stands_at_the_line_that_says_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(_web(DEFAULT) + _config(300))
    run(["budget", str(path), *TERMS, "-o", "sarif"])
    results = json.loads(capfd.readouterr().out)["runs"][0]["results"]
    (finding,) = [result for result in results if result["ruleId"] == "SP717"]
    line = finding["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert "drainingTimeoutSec" in path.read_text().splitlines()[line - 1]
