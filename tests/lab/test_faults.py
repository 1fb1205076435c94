"""Faults as data: every shipped one reads, its placeholders and steps exist, and nothing in a scene gives it away."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
import yaml

import svcpath
from svcpath.errors import UsageError
from svcpath_lab.faults import fault as faults
from svcpath_lab.faults import ground as grounds
from svcpath_lab.faults import own, steps
from svcpath_lab.faults import scene as scenes
from svcpath_lab.faults.fault import Fault, shipped
from svcpath_lab.faults.ground import Ground
from svcpath_lab.faults.scene import FaultScene, merge
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers.base import Provider

CATALOGUE = Path(svcpath.__file__).parent / "findings" / "catalogue.yaml"
LAYERS = {"resolution", "service", "endpoints", "ports", "pod", "dataplane", "lifecycle"}
SHIPPED = shipped()
#: Faults that the lab does not list, as a user's own folder holds them.
UNLISTED = own.in_folder(Path(__file__).parents[1] / "data" / "lab" / "unlisted")


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _texts(part)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def _all(fault: Fault) -> list[Any]:
    scene = fault.scene
    return [*fault.steps, *fault.undo, scene.deployment, scene.service, scene.client, *scene.extra]


@pytest.mark.parametrize("fault", [*SHIPPED, *UNLISTED], ids=lambda fault: fault.name)
def test_a_shipped_fault_names_a_layer_codes_of_the_catalogue_and_known_placeholders(fault: Fault) -> None:
    codes = yaml.safe_load(CATALOGUE.read_text(encoding="utf-8"))
    assert set(fault.expect.codes) <= set(codes)
    assert set(fault.expect.layers) <= LAYERS
    assert fault.healthy or fault.expect.layers
    known = {*FaultScene.draw(random.Random(1)).values(), *grounds._LOOKUPS}
    target = [fault.target.service, fault.target.client, fault.target.port, fault.target.lookup]
    used = {name for text in _texts([*_all(fault), target]) for name in grounds._PLACEHOLDER.findall(text)}
    used = {name.removesuffix("_text") for name in used}
    assert used <= known, used - known
    for step in (*fault.steps, *fault.undo):
        assert len(step) == 1
        assert set(step) <= set(steps._STEPS)


@pytest.mark.parametrize("fault", [*SHIPPED, *UNLISTED], ids=lambda fault: fault.name)
def test_what_a_fault_does_to_a_node_or_to_the_cluster_it_undoes(fault: Fault) -> None:
    done = [next(iter(step)) for step in fault.steps]
    undone = [next(iter(step)) for step in fault.undo]
    assert done.count("freeze") == undone.count("thaw")
    assert done.count("save") == undone.count("restore")
    if "shell" in done:
        assert "shell" in undone or "thaw" in undone
    outside = [
        step for step in fault.steps if "kube-system" in str(step) and set(step) & {"scale", "patch", "corefile"}
    ]
    assert not outside or fault.undo


def test_a_scene_carries_nothing_that_names_its_fault() -> None:
    words = {word for fault in SHIPPED for word in fault.name.split("-")} - {"name", "local", "port", "not", "to", "no"}
    for seed in range(50):
        scene = FaultScene.draw(random.Random(seed))
        for value in (scene.namespace, scene.service, scene.deployment, scene.app, scene.client, scene.word):
            assert not words & set(re.split(r"[^a-z]+", value))
            assert len(value) <= 63
        assert len({scene.port, scene.target_port, scene.spare_port}) >= 2
        assert scene.target_port != scene.spare_port


def test_two_draws_differ_and_the_same_seed_repeats() -> None:
    assert FaultScene.draw(random.Random(1)) == FaultScene.draw(random.Random(1))
    assert FaultScene.draw(random.Random(1)) != FaultScene.draw(random.Random(2))


def test_changes_are_laid_over_a_scene_and_null_removes() -> None:
    changes = faults.Changes(
        deployment={
            "spec": {
                "replicas": 1,
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "name": "server",
                                "env": [{"name": "BIND", "value": "127.0.0.1"}],
                                "readinessProbe": {"httpGet": None, "exec": {"command": ["true"]}},
                            }
                        ]
                    }
                },
            }
        },
        service={"spec": {"clusterIP": "None"}},
    )
    scene = FaultScene.draw(random.Random(3))
    made = {manifest["kind"]: manifest for manifest in scenes.objects(scene, changes, {"tools": "t", "client": "c"})}
    server = made["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert server["env"] == [
        {"name": "PORT", "value": str(scene.target_port)},
        {"name": "BIND", "value": "127.0.0.1"},
    ]
    assert server["readinessProbe"] == {"periodSeconds": 1, "exec": {"command": ["true"]}}
    assert server["image"] == "t"
    assert made["Deployment"]["spec"]["replicas"] == 1
    assert made["Service"]["spec"]["clusterIP"] == "None"
    assert made["Service"]["spec"]["selector"] == {"app": scene.app}
    assert made["Pod"]["spec"]["containers"][0]["image"] == "c"


def test_merging_leaves_both_sides_as_they_were() -> None:
    base: dict[str, Any] = {"a": {"b": [1]}, "c": 1}
    change: dict[str, Any] = {"a": {"d": [2]}, "c": None}
    merged = merge(base, change)
    merged["a"]["d"].append(3)
    assert (base, change) == ({"a": {"b": [1]}, "c": 1}, {"a": {"d": [2]}, "c": None})
    assert merged == {"a": {"b": [1], "d": [2, 3]}}


class _Nothing:
    """A provider for steps that ask for none."""

    images: ClassVar[dict[str, str]] = {}


def _ground(tmp_path: Path) -> Ground:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\ncat > {tmp_path}/stdin 2>/dev/null\nexit 0\n')
    kubectl.chmod(0o755)
    return Ground(cast(Provider, _Nothing()), Kubectl(kubectl, tmp_path / "k"), FaultScene.draw(random.Random(4)))


def test_a_text_that_is_one_placeholder_takes_the_values_type(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    scene = ground.scene
    filled = ground.fill({"port": "<port>", "text": "to <service>:<port>", "list": ["<word>", 1, None]})
    assert filled == {"port": scene.port, "text": f"to {scene.service}:{scene.port}", "list": [scene.word, 1, None]}
    assert ground.fill("<port_text>") == str(scene.port)
    with pytest.raises(UsageError, match=r"<colour>.*service"):
        ground.fill("<colour>")


def test_a_step_that_is_not_known_or_not_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="freeze"):
        steps.run(_ground(tmp_path), {"explode": 1})
    with pytest.raises(UsageError, match="one key"):
        steps.run(_ground(tmp_path), {"wait": 0, "freeze": "w1"})


def test_patches_go_to_the_scenes_namespace_with_placeholders_filled(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    steps.run(
        ground, {"patch": {"kind": "service", "name": "<service>", "with": {"spec": {"selector": {"app": "<app>x"}}}}}
    )
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert f"-n {ground.scene.namespace} patch service {ground.scene.service} --type=merge" in call
    assert f'"app": "{ground.scene.app}x"' in call


READY = '{"metadata": {"name": "a"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}'
CRASHED = (
    '{"metadata": {"name": "b"}, "status": {"phase": "Running", "containerStatuses": [{"name": "x", "state": {}}]}}'
)


@pytest.mark.parametrize(("pods", "still"), [(f"{READY}, {READY}", 60.0), (f"{READY}, {CRASHED}", 0.1), (READY, 0.1)])
def test_pods_settle_when_all_are_ready_or_when_nothing_changes_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pods: str, still: float
) -> None:
    ground = _ground(tmp_path)
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\necho '{{\"items\": [{pods}]}}'\n")
    monkeypatch.setattr(steps, "_STILL", still)
    began = time.monotonic()
    steps.run(ground, {"settled": 50})
    assert time.monotonic() - began < 50


def test_what_was_not_put_aside_is_not_put_back(tmp_path: Path) -> None:
    step = {"restore": {"kind": "configmap", "namespace": "kube-system", "name": "coredns"}}
    assert steps.undo_all(_ground(tmp_path), [step]) == []
    assert not (tmp_path / "calls").exists()


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_users_faults_are_manifests_with_an_expected_verdict_or_whole_fault_files(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "one/service.yaml": "kind: Service\nmetadata: {name: a}\n---\nkind: Service\nmetadata: {name: b}\n",
            "one/expected.json": '{"status": "fault", "layer": "endpoints", "codes": ["SP301"]}',
            "two/expected.yaml": "expect: {status: healthy}\ntarget: {service: a, from: client}\n",
            "three/fault.yaml": "about: x\nexpect: {layer: ports}\nsteps: [{wait: 1}]\n",
        },
    )
    found = {fault.name: fault for fault in own.in_folder(tmp_path)}
    assert sorted(found) == ["one", "three", "two"]
    step, settled = found["one"].steps
    assert list(settled) == ["settled"]
    assert [manifest["metadata"]["name"] for manifest in step["apply"]] == ["a", "b"]
    assert found["one"].expect.codes == ("SP301",)
    assert found["two"].healthy
    assert found["two"].target.client == "client"
    assert found["three"].expect.layers == ("ports",)


def test_plain_manifests_name_target_and_client_and_go_into_the_scenes_namespace(tmp_path: Path) -> None:
    manifests = [
        {"kind": "Namespace", "metadata": {"name": "shop"}},
        {"kind": "Service", "metadata": {"name": "web", "namespace": "shop"}},
        {"kind": "Pod", "metadata": {"name": "probe", "labels": {"app": "client"}}},
    ]
    listed = {"apiVersion": "v1", "kind": "List", "items": manifests}
    verdict = {"status": "FAIL", "layer": "resolution", "cause_layer": "endpoints", "code": "SP116"}
    _write(tmp_path, {"a/all.json": json.dumps(listed), "a/expected.json": json.dumps({"verdict": verdict})})
    (fault,) = own.in_folder(tmp_path)
    applied = fault.steps[0]["apply"]
    assert [manifest["kind"] for manifest in applied] == ["Service", "Pod"]
    assert "namespace" not in applied[0]["metadata"]
    assert (fault.target.service, fault.target.client) == ("web", "probe")
    assert fault.expect.statuses == ("fault",)
    assert fault.expect.layers == ("resolution", "endpoints")
    assert fault.expect.codes == ("SP116",)


@pytest.mark.parametrize(("word", "status"), [("OK", "healthy"), ("WARN", "warning"), ("fault", "fault")])
def test_other_words_for_a_status_are_understood(tmp_path: Path, word: str, status: str) -> None:
    _write(tmp_path, {"a/expected.yaml": f"{{status: {word}, target: svc/web}}\n"})
    (fault,) = own.in_folder(tmp_path)
    assert fault.expect.statuses == (status,)
    assert fault.target.service == "web"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no fault folders"),
        ({"one/service.yaml": "kind: Service\n"}, "neither fault.yaml nor expected"),
        ({"one/expected.json": '{"layer": 5}'}, "expected.json"),
        ({"one/expected.json": '["fault"]'}, "a mapping"),
        ({"one/expected.json": "{}", "one/pod.yaml": "a: [\n"}, "pod.yaml"),
        ({"one/fault.yaml": "about: x\nexpect: {layr: ports}\n"}, "layr"),
        ({"one/fault.yaml": "a: [\n"}, "fault.yaml"),
    ],
)
def test_a_users_fault_that_does_not_read_says_where(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        own.in_folder(_write(tmp_path, files))


def test_a_step_without_a_key_that_it_needs_says_which(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="shell has no 'node'"):
        steps.run(_ground(tmp_path), {"shell": {"run": "true"}})


@pytest.mark.parametrize("fault", [*SHIPPED, *UNLISTED], ids=lambda fault: fault.name)
def test_a_step_of_a_shipped_fault_has_the_keys_that_its_kind_needs(fault: Fault) -> None:
    needed = {
        "patch": {"kind", "name", "with"},
        "delete": {"kind", "name"},
        "scale": {"name", "replicas"},
        "restart": {"workload"},
        "rollout": {"workload"},
        "shell": {"node", "run"},
        "inside": {"pod", "run"},
        "save": {"kind", "name", "namespace"},
        "restore": {"kind", "name", "namespace"},
        "corefile": {"replace", "with"},
        "until": {"get"},
    }
    for step in (*fault.steps, *fault.undo):
        ((name, value),) = step.items()
        assert needed.get(name, set()) <= (set(value) if isinstance(value, dict) else set())
