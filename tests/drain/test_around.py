"""What stands around a workload: kinds that a cluster does not serve or allow are left out, the version that it prefers is read."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from svcpath.cli.app import run
from svcpath.drain.around import around
from svcpath.drain.cluster import ClusterTransport
from svcpath.errors import SourceUnavailable, UnknownTarget
from svcpath.evidence.facts.kubernetes.workload_names import KIND_OF
from svcpath.evidence.sources.kube_client import Access
from tests.fixtures.running_server import answering

CONTAINER = {"name": "app", "lifecycle": {"preStop": {"sleep": {"seconds": 20}}}}
WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"terminationGracePeriodSeconds": 5, "containers": [CONTAINER]},
        },
    },
}
SERVICE = {
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}
ROUTE = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {}}
SERVED: dict[str, dict[str, Any]] = {
    "/apis/apps/v1/namespaces/shop/deployments/web": WEB,
    "/api/v1/namespaces/shop/services": {"apiVersion": "v1", "kind": "ServiceList", "items": [SERVICE]},
    "/apis/policy/v1/namespaces/shop/poddisruptionbudgets": {"apiVersion": "policy/v1", "kind": "x", "items": None},
    "/apis/gateway.networking.k8s.io": {"preferredVersion": {"version": "v1beta1"}},
    "/apis/gateway.networking.k8s.io/v1beta1/namespaces/shop/httproutes": {
        "apiVersion": "gateway.networking.k8s.io/v1beta1",
        "kind": "HTTPRouteList",
        "items": [ROUTE],
    },
}


def api(method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
    del method, body
    if path.endswith("/ingresses"):
        return 403, {"kind": "Status", "message": "ingresses is forbidden"}
    if path.endswith("/broken"):
        return 500, {"kind": "Status", "message": "etcd has no leader"}
    return (200, SERVED[path]) if path in SERVED else (404, {"kind": "Status", "message": "not found"})


def at(port: int) -> contextlib.closing[ClusterTransport]:
    return contextlib.closing(ClusterTransport(Access(api_url=f"http://127.0.0.1:{port}")))


def test_items_say_their_kind_and_a_group_its_version() -> None:
    with answering(api) as port, at(port) as cluster:
        found = around(cluster, "shop", "deploy", "web")
    assert (found.unlisted_fronts, found.unlisted_beside) == (("ingresses.networking.k8s.io",), ())
    items = json.loads(found.manifests)["items"]
    assert [(item["apiVersion"], item["kind"], item["metadata"]["name"]) for item in items] == [
        ("apps/v1", "Deployment", "web"),
        ("v1", "Service", "web"),
        ("gateway.networking.k8s.io/v1beta1", "HTTPRoute", "web"),
    ]


@pytest.mark.parametrize("kind", sorted(KIND_OF))
def test_every_way_to_write_a_kind_is_asked_for(kind: str) -> None:
    with answering(api) as port, at(port) as cluster, pytest.raises(UnknownTarget, match=f"no {kind}/nope"):
        around(cluster, "shop", kind, "nope")


def test_a_workload_that_is_not_there_is_told_from_a_server_that_is_not_well() -> None:
    with answering(api) as port, at(port) as cluster:
        with pytest.raises(UnknownTarget, match=r"kubectl -n shop get deployments\.apps"):
            around(cluster, "shop", "Deploy", "wbe")
        with pytest.raises(SourceUnavailable, match="etcd has no leader"):
            around(cluster, "shop", "sts", "broken")


@pytest.mark.parametrize(("target", "code"), [("deploy/web", 1), ("deployments/web", 1), ("sts/web", 2)])
def test_budget_of_a_cluster_in_the_contexts_namespace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, code: int
) -> None:
    with answering(api) as port:
        config = {
            "current-context": "here",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "", "namespace": "shop"}}],
        }
        (tmp_path / "kubeconfig").write_text(json.dumps(config))
        assert run(["budget", target, "--kubeconfig", str(tmp_path / "kubeconfig")]) == code
    printed, complaint = capsys.readouterr()
    assert "web" in printed + complaint
    if code == 1:
        assert "may not list ingresses.networking.k8s.io" in complaint
        (term,) = [line for line in printed.splitlines() if line.startswith("load balancer removal")]
        assert "unknown: ingresses.networking.k8s.io could not be listed" in term
