"""The drain's calls to the API: a log that is cut is followed on, each line once, until the container has ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from svcpath.drain.kube import Api
from tests.fixtures.running_server import running

#: What the kubelet gives at each question for the log, and whether the container has ended when it is asked before.
CUT = b"failed to create fsnotify watcher: too many open files"
PLAYS: list[tuple[str, list[tuple[bool | None, int, bytes]]]] = [
    ("in one piece", [(False, 200, b"1\n2\n3\n"), (True, 200, b"1\n2\n3\n")]),
    ("cut while it runs", [(False, 200, b"1\n" + CUT), (False, 200, b"1\n2\n" + CUT), (True, 200, b"1\n2\n3\n")]),
    ("half a line", [(False, 200, b"1\n2"), (True, 200, b"1\n2\n3\n")]),
    ("not yet there", [(False, 400, b"ContainerCreating"), (False, 500, b""), (True, 200, b"1\n2\n3\n")]),
    ("the Pod goes", [(False, 200, b"1\n2\n3\n"), (None, 404, b"gone\n")]),
]


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
    with kubelet(play) as port:
        Api(port).follow_log("a", "web-1", "app", lines.append).join(20)
    assert lines == ["1", "2", "3"]
