"""The drain's calls to the API: a log that is cut is followed on, each line once; a namespace is its own or not touched."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from svcpath.drain import kube
from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.kube import Api
from svcpath.errors import SourceUnavailable, UnknownTarget
from svcpath.evidence.sources.kube_client import Access
from tests.fixtures.running_server import answering, running

#: What the kubelet gives at each question for the log, and whether the container has ended when it is asked before.
CUT = b"failed to create fsnotify watcher: too many open files"
PLAYS: list[tuple[str, list[tuple[bool | None, int, bytes]]]] = [
    ("in one piece", [(False, 200, b"1\n2\n3\n"), (True, 200, b"1\n2\n3\n")]),
    ("cut while it runs", [(False, 200, b"1\n" + CUT), (False, 200, b"1\n2\n" + CUT), (True, 200, b"1\n2\n3\n")]),
    ("half a line", [(False, 200, b"1\n2"), (True, 200, b"1\n2\n3\n")]),
    ("not yet there", [(False, 400, b"ContainerCreating"), (False, 500, b""), (True, 200, b"1\n2\n3\n")]),
    ("the Pod goes", [(False, 200, b"1\n2\n3\n"), (None, 404, b"gone\n")]),
]


def cluster_at(port: int) -> closing[ClusterTransport]:
    return closing(ClusterTransport(Access(api_url=f"http://127.0.0.1:{port}")))


@contextmanager
def kubelet(play: list[tuple[bool | None, int, bytes]]) -> Iterator[int]:
    left = list(play)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ended, status, text = left[0]
            if "/log" in self.path:
                left.pop(0)
            elif ended is None:
                status, text = 404, b"{}"
            else:
                state = {"terminated": {"exitCode": 0}} if ended else {"running": {}}
                status, text = (
                    200,
                    json.dumps({"status": {"containerStatuses": [{"name": "app", "state": state}]}}).encode(),
                )
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield port
    assert left == []


@pytest.mark.parametrize("play", [play for _, play in PLAYS], ids=[name for name, _ in PLAYS])
def test_every_line_of_a_log_comes_once_however_often_it_is_cut(play: list[tuple[bool | None, int, bytes]]) -> None:
    lines: list[str] = []
    with kubelet(play) as port, cluster_at(port) as cluster:
        Api(cluster).follow_log("a", "web-1", "app", lines.append).join(20)
    assert lines == ["1", "2", "3"]


def test_a_log_is_given_up_with_its_cluster() -> None:
    lines: list[str] = []
    with kubelet([(False, 200, b"1\n")]) as port, cluster_at(port) as cluster:
        thread = Api(cluster).follow_log("a", "web-1", "app", lines.append)
        while not lines:
            thread.join(0.02)
    thread.join(10)
    assert (lines, thread.is_alive()) == (["1"], False)


class Namespaces:
    """An API server that has namespaces alone. ``finalized``: how often one that is going is still there when asked for."""

    def __init__(self, there: dict[str, dict[str, Any]], finalized: int = 0) -> None:
        self.there, self.finalized = dict(there), finalized
        self.asked: list[str] = []

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        self.asked.append(f"{method} {path}")
        name = json.loads(body)["metadata"]["name"] if method == "POST" else path.rpartition("/")[2]
        if method == "POST" and name not in self.there:
            self.there[name] = json.loads(body)["metadata"]
            return 201, {"metadata": self.there[name]}
        if method == "POST":
            return 409, {"kind": "Status", "message": f"namespaces {name!r} already exists"}
        if name not in self.there:
            return 404, {"kind": "Status", "message": "not found"}
        metadata = self.there[name]
        if "deletionTimestamp" in metadata:
            self.finalized -= 1
        if method == "DELETE" or ("deletionTimestamp" in metadata and self.finalized <= 0):
            del self.there[name]
        return 200, {"metadata": metadata}


@contextmanager
def namespaces_of(there: dict[str, dict[str, Any]], finalized: int = 0) -> Iterator[tuple[Namespaces, Api]]:
    kept = Namespaces(there, finalized)

    with answering(kept.answer) as port, cluster_at(port) as cluster:
        yield kept, Api(cluster)


def test_a_target_that_is_not_there_is_a_usage_error_with_what_to_look_at() -> None:
    with answering(lambda *_: (404, {"kind": "Status", "message": "not found"})) as port, cluster_at(port) as cluster:
        with pytest.raises(UnknownTarget, match="kubectl -n shop get services"):
            kube.frontends(cluster, "shop", "svc", "nope")
        with pytest.raises(UnknownTarget, match="kubectl -n shop get deployments"):
            kube.frontends(cluster, "shop", "deploy", "nope")


def test_a_namespace_of_ones_own_is_made_and_removed_whatever_happens() -> None:
    with namespaces_of({}) as (kept, api):
        made: list[object] = []
        with contextlib.suppress(ZeroDivisionError), kube.namespace(api, "mine"):
            made.append(kept.there["mine"]["labels"])
            raise ZeroDivisionError
        assert (made, kept.there) == ([{kube.LABEL: "true"}], {})


def test_a_namespace_that_is_there_is_not_touched() -> None:
    with namespaces_of({"mine": {"name": "mine"}}) as (kept, api):
        with pytest.raises(SourceUnavailable, match="not the drain's"), kube.namespace(api, "mine"):
            raise AssertionError
        assert "DELETE /api/v1/namespaces/mine" not in kept.asked


def test_a_namespace_that_an_earlier_run_left_is_waited_for_while_it_goes() -> None:
    left = {"name": "mine", "labels": {kube.LABEL: "true"}}
    with namespaces_of({"mine": {**left, "deletionTimestamp": "now"}}, 1) as (kept, api), kube.namespace(api, "mine"):
        assert "deletionTimestamp" not in kept.there["mine"]
    with namespaces_of({"mine": left}) as (kept, api):
        with pytest.raises(SourceUnavailable, match="left by a run"), kube.namespace(api, "mine"):
            raise AssertionError
        assert "mine" in kept.there
