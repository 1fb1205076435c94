"""svcpath budget on manifests of many makers: what is wrong is said at its line, and the healthy neighbour is left alone."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from svcpath.cli.app import run
from tests.fixtures.manifests import SERVICE

POD = """\
apiVersion: API
kind: KIND
metadata: {name: web}
spec:
  SPEC
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: GRACE
      containers:
      - name: app
        image: example.org/web:1
        ports: [{containerPort: 8080}]
        lifecycle:
          preStop: HOOK
"""
TERMS = ("--longest-request", "5", "--propagation", "5", "--shutdown", "1")


def _manifest(
    *,
    api: str = "apps/v1",
    kind: str = "Deployment",
    spec: str = "replicas: 3",
    grace: str = "40",
    hook: str = "{sleep: {seconds: 12}}",
) -> str:
    text = POD.replace("API", api).replace("KIND", kind).replace("SPEC", spec)
    return text.replace("GRACE", grace).replace("HOOK", hook)


@pytest.fixture
def budget(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Any:
    def judged(text: str, *flags: str) -> tuple[int, dict[str, Any]]:
        path = tmp_path / "all.yaml"
        path.write_text(text)
        code = run(["budget", str(path), *flags, "-o", "json"])
        return code, json.loads(capfd.readouterr().out)

    return judged


def _codes(found: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in found["findings"]}


@pytest.mark.parametrize(
    ("first", "outcome", "code"),
    [("nginx -s quit; sleep 20", "does-not-hold", 1), ("sleep 20 && nginx -s quit", "holds", 0)],
)
def test_a_hook_that_stops_the_server_before_it_waits_does_not_hold(
    budget: Any, first: str, outcome: str, code: int
) -> None:
    hook = f'{{exec: {{command: [sh, -c, "{first}"]}}}}'
    got, found = budget(_manifest(hook=hook) + SERVICE, *TERMS)
    assert (got, found["outcome"]) == (code, outcome)
    assert ("SP707" in _codes(found)) == bool(code)
    if code:
        assert "runs nginx quit" in next(
            finding["message"] for finding in found["findings"] if finding["code"] == "SP708"
        )
        assert {finding["line"] for finding in found["findings"]} == {16}


def test_a_hook_of_unknown_length_has_margins_in_between_and_no_patch_is_pressed(budget: Any) -> None:
    _, found = budget(_manifest(grace="30", hook="{exec: {command: [/wait-shutdown]}}") + SERVICE)
    assert [margin["seconds"] for margin in found["margins"]] == [15, 15, 15]
    assert found["workloads"][0]["first_to_change"] == ""


@pytest.mark.parametrize(
    ("hook", "outcome", "code"),
    [("{exec: {command: [/drain]}}", "undetermined", 3), ("{sleep: {seconds: 20}}", "holds", 0)],
)
def test_a_sidecars_hook_of_unknown_length_keeps_the_budget_open(
    budget: Any, hook: str, outcome: str, code: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sidecar = (
        "      initContainers:\n      - name: proxy\n        image: example.org/proxy:1\n        restartPolicy: Always\n"
        f"        lifecycle: {{preStop: {hook}}}\n      containers:"
    )
    text = _manifest().replace("      containers:", sidecar) + SERVICE
    got, found = budget(text, *TERMS, "--on-signal", "finish", "--strict")
    assert (got, found["outcome"]) == (code, outcome)
    path = tmp_path / "all.yaml"
    run(["budget", str(path), *TERMS, "--on-signal", "finish"])
    assert ("it depends on preStop of proxy" in capfd.readouterr().out) == (outcome == "undetermined")


@pytest.mark.parametrize(("seconds", "refused"), [("-5", True), ("0", False), ("41", True), ("40", False)])
def test_a_sleep_action_the_server_refuses_is_said(budget: Any, seconds: str, refused: bool) -> None:
    _, found = budget(_manifest(hook=f"{{sleep: {{seconds: {seconds}}}}}") + SERVICE)
    assert ("SP714" in _codes(found)) == refused


def test_a_negative_grace_period_counts_as_one_second(budget: Any) -> None:
    _, found = budget(_manifest(grace="-1") + SERVICE)
    assert found["workloads"][0]["grace"] == 1
    assert "SP710" not in _codes(found)


BLOCKING = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec:\n  minAvailable: 1\n  selector: {matchLabels: {app: web}}\n"


def _autoscaler(least: str) -> str:
    return (
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
        f"spec: {{scaleTargetRef: {{kind: Deployment, name: web}}, {least}maxReplicas: 9}}\n"
    )


@pytest.mark.parametrize(
    ("least", "blocks"), [("minReplicas: 2, ", False), ("minReplicas: 1, ", True), ("", True), (None, True)]
)
def test_how_many_pods_there_are_at_least_is_what_an_autoscaler_keeps(
    budget: Any, least: str | None, blocks: bool
) -> None:
    strategy = "strategy: {rollingUpdate: {maxUnavailable: 1}}"
    scaler = "" if least is None else _autoscaler(least)
    _, found = budget(_manifest(spec=strategy) + SERVICE + BLOCKING + scaler)
    assert _codes(found) == ({"SP711", "SP712"} if blocks else set())


def test_an_autoscaler_of_another_workload_decides_nothing(budget: Any) -> None:
    other = _autoscaler("minReplicas: 3, ").replace("name: web}, ", "name: api}, ")
    assert "SP712" in _codes(budget(_manifest(spec="minReadySeconds: 1") + SERVICE + BLOCKING + other)[1])


@pytest.mark.parametrize(
    ("api", "kind", "spec"),
    [
        ("argoproj.io/v1alpha1", "Rollout", "strategy: {canary: {maxUnavailable: 100%, steps: [{pause: {}}]}}"),
        ("apps.kruise.io/v1alpha1", "CloneSet", "updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 100%}"),
        ("apps/v1", "StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 3}}"),
        ("apps/v1", "DaemonSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}"),
    ],
)
def test_a_rollout_that_removes_all_is_found_in_every_kinds_own_words(
    budget: Any, api: str, kind: str, spec: str
) -> None:
    both = f"replicas: 3\n  {spec}"
    assert _codes(budget(_manifest(api=api, kind=kind, spec=both) + SERVICE)[1]) == {"SP711"}
    for word in ("100%", ": 3}}"):
        both = both.replace(
            f"maxUnavailable: {word}" if word == "100%" else word, "maxUnavailable: 1" if word == "100%" else ": 1}}"
        )
    assert _codes(budget(_manifest(api=api, kind=kind, spec=both) + SERVICE)[1]) == set()


@pytest.mark.parametrize("kind", ["Deployment", "Rollout", "Fleet"])
def test_the_printed_patch_mends_the_manifest_it_is_applied_to(budget: Any, kind: str) -> None:
    api = {"Deployment": "apps/v1", "Rollout": "argoproj.io/v1alpha1"}.get(kind, "example.org/v1")
    # A CRD's other fields may have types of their own.
    spec = "replicas: 3" if kind != "Fleet" else "replicas: some\n  strategy: Rolling"
    text = _manifest(api=api, kind=kind, spec=spec, grace="9", hook="{sleep: {seconds: 3}}")
    code, found = budget(text + SERVICE, *TERMS)
    assert code == 1
    obj = yaml.safe_load(text)
    patch = yaml.safe_load(found["workloads"][0]["patch"]["text"])
    pods = obj["spec"]["template"]["spec"]
    if kind == "Deployment":
        wanted = patch["spec"]["template"]["spec"]
        pods["terminationGracePeriodSeconds"] = wanted["terminationGracePeriodSeconds"]
        pods["containers"][0]["lifecycle"]["preStop"].update(wanted["containers"][0]["lifecycle"]["preStop"])
    else:
        # A merge patch would replace the list of containers of a CRD.
        assert [line["path"] for line in patch] == [
            "/spec/template/spec/terminationGracePeriodSeconds",
            "/spec/template/spec/containers/0/lifecycle/preStop",
        ]
        pods["terminationGracePeriodSeconds"] = patch[0]["value"]
        pods["containers"][0]["lifecycle"]["preStop"] = patch[1]["value"]
    assert budget(yaml.safe_dump(obj) + SERVICE, *TERMS)[0] == 0


def test_a_template_of_wrong_types_is_not_read_in_any_kind(budget: Any) -> None:
    text = _manifest(api="example.org/v1", kind="Fleet", grace='"9"')
    code, found = budget(text + SERVICE)
    assert (code, found["not_read"][0]["line"]) == (4, 10)


KNATIVE = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    spec:
      timeoutSeconds: 120
      containers:
      - image: example.org/hello:1
        ports: [{containerPort: 8080}]
"""


@pytest.mark.parametrize(("text", "grace"), [(KNATIVE, 120), (KNATIVE.replace("      timeoutSeconds: 120\n", ""), 300)])
def test_a_knative_revision_gets_its_grace_period_from_its_timeout(budget: Any, text: str, grace: int) -> None:
    code, found = budget(text)
    assert (code, found["workloads"][0]["grace"], found["findings"]) == (0, grace, [])


def _balanced(policy: str, target: str) -> str:
    notes = {
        "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": target,
        "service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval": "10",
        "service.beta.kubernetes.io/aws-load-balancer-healthcheck-unhealthy-threshold": "3",
    }
    metadata = f"metadata: {{name: web, annotations: {json.dumps(notes)}}}"
    spec = f"spec:\n  type: LoadBalancer\n  externalTrafficPolicy: {policy}"
    return SERVICE.replace("metadata: {name: web}", metadata).replace("spec:", spec)


@pytest.mark.parametrize(
    ("policy", "target", "low", "code", "level"),
    [("Local", "instance", 30, 1, "error"), ("Cluster", "instance", 0, 0, ""), ("Cluster", "ip", 0, 0, "warning")],
)
def test_a_health_check_decides_alone_only_where_it_sees_the_last_pod_of_a_node(
    budget: Any, policy: str, target: str, low: float, code: int, level: str
) -> None:
    got, found = budget(_manifest() + _balanced(policy, target))
    assert (got, found["terms"][0]["low"], found["terms"][0]["high"]) == (code, low, 30)
    assert [finding["level"] for finding in found["findings"] if finding["code"] == "SP715"] == (
        [level] if level else []
    )


@pytest.mark.parametrize(("namespace", "high"), [("shop", None), ("other", 0)])
def test_an_ingress_of_another_namespace_does_not_stand_in_front(
    budget: Any, namespace: str, high: float | None
) -> None:
    ingress = (
        f"---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: web, namespace: {namespace}}}\n"
        "spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
    )
    text = (_manifest() + SERVICE).replace("metadata: {name: web}", "metadata: {name: web, namespace: shop}")
    assert budget(text + ingress)[1]["terms"][0]["high"] == high


@pytest.mark.parametrize(
    ("label", "reported"),
    [
        ("sidecar.istio.io/inject: 'true'", True),
        ("sidecar.istio.io/inject: 'false'", False),
        ("istio.io/dataplane-mode: ambient", False),
        ("linkerd.io/inject: enabled", True),
    ],
)
def test_a_proxy_that_a_mesh_injects_is_said_to_be_missing_in_the_manifest(
    budget: Any, label: str, reported: bool
) -> None:
    text = _manifest().replace("metadata: {labels: {app: web}}", f"metadata: {{labels: {{app: web, {label}}}}}")
    code, found = budget(text + SERVICE, *TERMS)
    assert code == 0
    assert [(finding["code"], finding["level"], finding["line"]) for finding in found["findings"]] == (
        [("SP717", "note", 8)] if reported else []
    )


def test_the_shorter_of_two_hooks_on_the_path_changes_first_and_has_the_finding(budget: Any) -> None:
    second = (
        "      - name: envoy\n        image: example.org/envoy:1\n        ports: [{containerPort: 8080}]\n"
        "        lifecycle: {preStop: {sleep: {seconds: 3}}}\n"
    )
    code, found = budget(_manifest() + second + SERVICE, *TERMS)
    assert code == 1
    assert found["workloads"][0]["first_to_change"] == "preStop of container envoy (3 s)"
    assert [(finding["code"], finding["line"]) for finding in found["findings"]] == [("SP708", 20)]


def test_a_render_of_thousands_of_documents_keeps_each_workloads_own_fronts(budget: Any) -> None:
    manifest = (
        _manifest()
        + SERVICE
        + (
            "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\n"
            "spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n---\n"
        )
    )
    _, found = budget("".join(manifest.replace("web", f"web{number}") for number in range(60)))
    assert len(found["workloads"]) == 60
    for workload in found["workloads"]:
        assert f"Ingress {workload['name']} stands" in workload["terms"][0]["detail"]


@pytest.mark.parametrize(
    ("text", "value"), [("6", 6), ("500ms", 0.5), ("1m30s", 90), (".5", 0.5), ("1.5m", 90), ("2h", 7200)]
)
def test_times_are_seconds_or_durations(budget: Any, text: str, value: float) -> None:
    _, found = budget(_manifest() + SERVICE, "--longest-request", text)
    assert found["terms"][2]["seconds"] == value


@pytest.mark.parametrize("text", ["nan", "inf", "1e1", "1e400", "-1", "1,5", "0x10", "1s5", "", "99999999999", "5 s"])
@pytest.mark.parametrize("option", ["--longest-request", "--shutdown", "--propagation", "--lb-removal"])
def test_what_is_no_time_is_a_wrong_use(
    text: str, option: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(_manifest() + SERVICE)
    assert run(["budget", str(path), option, text]) == 2
    assert option in capfd.readouterr().err
    assert run(["rollout", "wait", "deploy/web", "--timeout", text]) == 2


def test_a_path_that_no_workload_has_is_a_wrong_use(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(_manifest() + SERVICE)
    assert run(["budget", str(path), "--path", "envoy"]) == 2
    assert "envoy" in capfd.readouterr().err
    assert run(["budget", str(path), "--path", "app"]) == 0


def test_a_render_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    content = (_manifest(grace="9") + SERVICE).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert run(["budget", "-", "-o", "sarif"]) == 1
    (result, *_) = json.loads(capfd.readouterr().out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("stdin", 16)
    assert run(["budget", "-", "more.yaml"]) == 2


@pytest.mark.parametrize("kind", ["deployments", "cronjob", "statefulsets", "cj", "replicasets"])
def test_every_name_of_a_kind_means_a_workload_of_the_cluster(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["budget", f"{kind}/web", "--kubeconfig", str(tmp_path / "none")]) == 4
    assert "no such file or folder" not in capfd.readouterr().err
