"""HAProxy's view of its servers is read as it is: what it checks, when a check first failed, when a server is out."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from svcpath.drain.balancer import Checked, balancer, configuration, states
from tests.fixtures.running_server import running

STATISTICS = """\
# pxname,svname,qcur,status,check_status,check_code,
nodes,FRONTEND,,OPEN,,,
nodes,w1,0,UP 2/3,L7STS,503,
nodes,w2,0,UP,* L7OK,200,
nodes,BACKEND,0,UP,,,
"""


def test_servers_states_are_read_without_frontends_and_marks_of_a_running_check() -> None:
    assert states(STATISTICS) == {"w1": ("UP 2/3", "L7STS 503"), "w2": ("UP", "L7OK 200")}


def test_a_health_port_is_asked_by_http_and_a_node_port_by_connecting() -> None:
    by_http = configuration("fd00::1", 9000, {"w1": "fd00::2"}, 30080, Checked(30090, "/healthz"), Path("/s"))
    assert "option httpchk GET /healthz" in by_http
    assert "server w1 [fd00::2]:30080 check port 30090" in by_http
    assert "bind [fd00::1]:9000" in by_http
    connecting = configuration("127.0.0.1", 9000, {"w1": "10.0.0.2"}, 30080, Checked(30080), Path("/s"))
    assert "httpchk" not in connecting


class Node(ThreadingHTTPServer):
    daemon_threads = True
    healthy = True


class Answer(BaseHTTPRequestHandler):
    server: Node

    def do_GET(self) -> None:
        self.send_response(200 if self.server.healthy else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Here:
    """This machine's loopback as the place outside."""

    def __init__(self, folder: Path, nodes: Mapping[str, str]) -> None:
        self.nodes, self.address, self.folder = nodes, "127.0.0.1", folder

    def popen(self, name: str, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(list(argv), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


@contextmanager
def _node() -> Iterator[Node]:
    server = Node(("127.0.0.1", 0), Answer)
    with running(server):
        yield server


@pytest.mark.skipif(shutil.which("haproxy", path="/usr/local/sbin:/usr/sbin:/usr/bin") is None, reason="no haproxy")
def test_a_node_whose_health_port_says_503_fails_a_check_and_then_is_out(tmp_path: Path) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with _node() as node:
        checked = Checked(node.server_address[1], "/healthz", every=0.3, fall=3)
        outside = Here(tmp_path, {"w1": "127.0.0.1"})
        with balancer(outside, "t", port, node.server_address[1], checked) as lb:
            lb.all_up()
            at = time.time()
            node.healthy = False
            while (down := lb.first("w1", at, "DOWN")) is None and time.time() < at + 20:
                time.sleep(0.1)
            failed = lb.first_failed_check("w1", at)
        assert down is not None
        assert failed is not None
        assert at < failed.at < down.at
        assert failed.check == down.check == "L7STS 503"
    assert lb.process.returncode is not None
