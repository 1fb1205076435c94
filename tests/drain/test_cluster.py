"""The drain's lists and watches through the cluster client: pages, cuts, an expired version, and an end from beside."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from svcpath.cli.rollout import home
from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.recorder import DrainRecorder
from svcpath.drain.store import Store
from svcpath.drain.transport import Expired, WatchCut
from svcpath.errors import SourceUnavailable, UsageError
from svcpath.evidence.sources.kube_client import Access
from tests.drain.test_recorder import _until, _versions, serving
from tests.fixtures.scripted_api import Script, play


def access(folder: Path, url: str, namespace: str = "shop") -> Access:
    path = folder / "kubeconfig"
    config = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "", "namespace": namespace}}],
    }
    path.write_text(json.dumps(config))
    return Access(kubeconfig=str(path))


def test_cut_watches_leave_neither_gap_nor_duplicate(tmp_path: Path) -> None:
    script = Script(1, cuts=0.1)
    for _ in range(5):
        script.change()
    with serving(script) as server:
        store = Store(tmp_path / "drain.db")
        recorder = DrainRecorder(ClusterTransport(access(tmp_path, server.url)), store, "shop", ["pods"])
        recorder.start()
        first = script.version
        play(script, 300, 0.002).join()
        _until(tmp_path / "drain.db", script.version)
        recorder.close()
        assert store.gaps() == ()
        store.close()
    kept = [version for version in _versions(tmp_path / "drain.db") if version > first]
    assert kept == [number for number, _, _ in script.history if number > first]


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
    path = access(tmp_path, "http://127.0.0.1:1", "prod").kubeconfig
    assert (home("", "", path), home("shop", "", path)) == ("prod", "shop")
    with pytest.raises(UsageError, match="no context"):
        home("", "there", path)
