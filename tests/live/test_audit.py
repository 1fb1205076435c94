"""Read-only by the API server's own word: what its audit log holds of a run, by verb and resource."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import svcpath
from svcpath.cli.app import run
from tests.live.audit import Heard, listening, strangers
from tests.live.conftest import NAMESPACE, Lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300, func_only=True)]

INTO_PODS = ("pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "pods/proxy")
READS = {"get", "list", "watch"}
REVIEWS = {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"}
SERVICES = ("echo-server", "echo-headless", "empty-service", "wrong-port")


def flags(lab: Lab) -> list[str]:
    return ["-n", NAMESPACE, "--kubeconfig", lab.kubeconfig, "--timeout", "90s"]


def everything(lab: Lab, folder: Path, *more: str) -> list[list[str]]:
    """Every command that looks at a cluster, with all that it may do without leave to add something."""
    client = ["--from", "pod/client"]
    return [
        *(
            ["diagnose", f"svc/{name}", *client, *flags(lab), "--thorough", "--all-nodes", "--from-each-node", *more]
            for name in SERVICES
        ),
        ["collect", "svc/echo-server", *client, *flags(lab), "-o", str(folder / "held.tar.zst"), *more],
        ["can-i", *client, *flags(lab)],
        ["doctor", "--kubeconfig", lab.kubeconfig],
    ]


def objects(lab: Lab) -> list[dict[str, Any]]:
    """What the commands look at, with who wrote which field of it."""
    kinds = "services,endpointslices,endpoints,configmaps,deployments,replicasets,daemonsets,pods,serviceaccounts,jobs"
    spaces = (NAMESPACE, "kube-system", "default")
    return [obj for space in spaces for obj in lab.get("-n", space, kinds, "--show-managed-fields")]


@pytest.fixture
def unchanged(lab: Lab) -> Iterator[None]:
    """No object has another resourceVersion afterwards, but for what the cluster's own components wrote."""
    before = objects(lab)
    yield
    assert strangers(before, objects(lab)) == {}


def test_an_object_that_somebody_writes_is_told_with_who_did(lab: Lab) -> None:
    before = objects(lab)
    label = ("-n", NAMESPACE, "label", "configmap", "app", "--field-manager=somebody")
    lab.kubectl.run(*label, "written=yes")
    try:
        assert strangers(before, objects(lab)) == {f"ConfigMap {NAMESPACE}/app": "somebody"}
    finally:
        lab.kubectl.run(*label, "written-")


@pytest.mark.usefixtures("unchanged")
def test_with_no_exec_the_audit_log_holds_no_verb_on_anything_inside_a_pod(lab: Lab, tmp_path: Path) -> None:
    with listening(lab.audit_log) as heard:
        for words in everything(lab, tmp_path, "--no-exec"):
            run(words)
    assert len(heard.requests) > 20
    assert heard.of(*INTO_PODS) == []
    assert not {(verb, what) for verb, what in heard.pairs if verb not in READS and what not in REVIEWS}


@pytest.mark.usefixtures("unchanged")
def test_without_allow_flags_only_reviews_of_own_rights_and_the_exec_are_written(lab: Lab, tmp_path: Path) -> None:
    with listening(lab.audit_log) as heard:
        for words in everything(lab, tmp_path):
            run(words)
    assert {what for _, what in heard.pairs} & set(INTO_PODS) == {"pods/exec"}
    writes = {(verb, what) for verb, what in heard.pairs if verb not in READS}
    assert {verb for verb, _ in writes} <= {"create"}
    assert {what for _, what in writes} <= {*REVIEWS, "pods/exec"}


def test_every_exec_in_the_audit_log_is_told_and_none_is_told_that_is_not_there(lab: Lab) -> None:
    with (
        listening(lab.audit_log) as heard,
        svcpath.cluster(kubeconfig=lab.kubeconfig, timeout=90) as source,
    ):
        svcpath.diagnose(source, "svc/wrong-port", namespace=NAMESPACE, client="pod/client", thorough=True)
        audited = sorted(execution.pod for execution in source.execs)
        calls = len(source.calls)
    assert audited
    assert audited == sorted(f"{call.object_ref.namespace}/{call.object_ref.name}" for call in heard.of("pods/exec"))
    assert calls == len(heard.requests)


def test_what_an_allow_flag_adds_is_in_the_audit_log(lab: Lab) -> None:
    """The log can show what the tests above say is not in it."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bare", "namespace": NAMESPACE},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "bare", "image": "lab.local/pause:1", "imagePullPolicy": "Never"}],
        },
    }
    lab.apply(yaml.safe_dump(pod))
    try:
        lab.kubectl.run("-n", NAMESPACE, "wait", "--for=condition=Ready", "pod/bare", "--timeout=60s", timeout=90)
        words = ["diagnose", "svc/echo-server", "--from", "pod/bare", *flags(lab)]
        with listening(lab.audit_log) as heard:
            run([*words, "--allow-debug-container", "--debug-image", "lab.local/tools:1"])
        assert {call.verb for call in heard.of("pods/ephemeralcontainers")} == {"patch"}
    finally:
        lab.kubectl.run("-n", NAMESPACE, "delete", "pod", "bare", "--wait=false", check=False)


OTHERS = 300


def test_the_number_of_requests_does_not_grow_with_other_services(lab: Lab) -> None:
    def asked() -> Heard:
        with listening(lab.audit_log) as heard:
            run(["diagnose", "svc/echo-server", "--from", "pod/client", *flags(lab)])
        return heard

    before = asked()
    many = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"other-{number}", "namespace": NAMESPACE, "labels": {"made-for": "counting"}},
            "spec": {"selector": {"app": f"other-{number}"}, "ports": [{"port": 80}]},
        }
        for number in range(OTHERS)
    ]
    try:
        lab.apply(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": many}))
        after = asked()
    finally:
        words = ["delete", "services", "-l", "made-for=counting", "--wait=false"]
        lab.kubectl.run("-n", NAMESPACE, *words, check=False, timeout=120)
        # Their slices have the Services' labels, and go away after them.
        gone = ["wait", "--for=delete", "endpointslices,endpoints", "-l", "made-for=counting", "--timeout=90s"]
        lab.kubectl.run("-n", NAMESPACE, *gone, check=False, timeout=120)
    assert sorted((request.verb, request.what) for request in after.requests) == sorted(
        (request.verb, request.what) for request in before.requests
    )
