"""The drain's lists and watches through the cluster client: pages, cuts, an expired version, and an end from beside."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from svcpath.drain.cluster import ClusterTransport, Expired, WatchCut
from svcpath.errors import SourceUnavailable, UsageError
from svcpath.evidence.sources.kube_client import Access, ApiTrouble
from tests.drain.test_recorder import serving
from tests.fixtures.scripted_api import Script


def access(folder: Path, url: str, namespace: str = "shop") -> Access:
    path = folder / "kubeconfig"
    config = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "", "namespace": namespace}}],
    }
    path.write_text(json.dumps(config))
    return Access(kubeconfig=str(path))


def test_an_expired_version_is_told_from_a_cut(tmp_path: Path) -> None:
    script = Script(2, keep=5)
    for _ in range(40):
        script.change()
    with serving(script) as server:
        transport = ClusterTransport(access(tmp_path, server.url))
        try:
            lines = transport.stream("/api/v1/namespaces/shop/pods?watch=1&resourceVersion=1")
            assert _expired(lines)
        finally:
            transport.close()


def _expired(lines: Iterator[bytes]) -> bool:
    """By the HTTP status, or by the event that the server sends instead."""
    try:
        return bool(json.loads(next(lines))["object"]["code"] == 410)
    except Expired:
        return True


def test_a_silent_watch_ends_from_beside(tmp_path: Path) -> None:
    script = Script(3)
    script.change()
    with serving(script) as server:
        transport = ClusterTransport(access(tmp_path, server.url))
        ended: list[BaseException] = []

        def follow() -> None:
            try:
                for _ in transport.stream(f"/api/v1/namespaces/shop/pods?watch=1&resourceVersion={script.version}"):
                    pass
            except WatchCut as cut:
                ended.append(cut)

        thread = threading.Thread(target=follow)
        thread.start()
        thread.join(0.5)
        transport.close()
        thread.join(10)
        assert not thread.is_alive()
        assert ended
        with pytest.raises(SourceUnavailable):
            transport.get("/version")


def test_the_contexts_namespace_counts_where_none_is_given(tmp_path: Path) -> None:
    chosen = access(tmp_path, "http://127.0.0.1:1", "prod")
    with contextlib.closing(ClusterTransport(chosen)) as cluster:
        assert cluster.namespace == "prod"
    with pytest.raises(UsageError, match="no context"):
        ClusterTransport(msgspec.structs.replace(chosen, context="there"))


@pytest.mark.parametrize("url", ["127.0.0.1:8001", "https://127.0.0.1:8001", "http://", "http://a:b", "http://[::1"])
def test_an_address_that_can_be_no_kubectl_proxy_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="--api-url"):
        ClusterTransport(Access(api_url=url))


def test_a_request_says_the_status_of_a_refusal_and_why_there_was_none(tmp_path: Path) -> None:
    with serving(Script(4)) as server, contextlib.closing(ClusterTransport(access(tmp_path, server.url))) as cluster:
        with pytest.raises(ApiTrouble) as refused:
            cluster.request("DELETE", "/api/v1/namespaces/shop/pods/nope")
        assert refused.value.status >= 400
    with contextlib.closing(ClusterTransport(Access(api_url="http://127.0.0.1:9"))) as cluster:
        with pytest.raises(ApiTrouble, match="can't be reached") as unanswered:
            cluster.request("GET", "/version")
        assert unanswered.value.status == 0
