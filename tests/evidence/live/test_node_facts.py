"""What a node shows beside its tables: routes, the flows of one Service, kube-proxy's metrics and health checks."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from svcpath.evidence.facts.conntrack import FlowTable
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.node import HealthReplies, Metrics, RoutingTables
from svcpath.evidence.facts.observation import State
from svcpath.evidence.sources import node_looks
from svcpath.evidence.sources.inpod_scripts import Script, Section
from tests.evidence.live.conftest import Source
from tests.fixtures.recorded_api import Api


def proxy(api: Api, node: str = "w1") -> dict[str, tuple[str, int]]:
    name = next(
        obj["metadata"]["name"]
        for obj in api.objects
        if obj["kind"] == "Pod" and obj["metadata"]["name"].startswith("kube-proxy") and obj["spec"]["nodeName"] == node
    )
    return api.looks[name]


def test_routes_rules_and_mtus_make_one_fact(scripted: Api, source: Source) -> None:
    with source(scripted) as cluster:
        (found,) = cluster.observe([Need(Kind.ROUTES, node="w1", cost=Cost.EXEC)])[0]
    kept: RoutingTables = found.fact
    assert [route.destination for route in kept.routes] == ["0.0.0.0/0", "10.244.1.0/24"]
    assert [rule.table for rule in kept.rules] == ["local", "main"]
    assert kept.mtus == {"eth0": 1500, "cni0": 1450}
    assert found.provenance.command.endswith(
        "-- sh -c 'ip rule; ip -6 rule; ip route show table all; ip -6 route show table all; ip link'"
    )


def test_an_agent_without_ip_leaves_routes_unreadable(scripted: Api, source: Source) -> None:
    proxy(scripted)["routes4"] = ("", 127)
    with source(scripted) as cluster:
        (found,) = cluster.observe([Need(Kind.ROUTES, node="w1", cost=Cost.EXEC)])[0]
    assert found.state is State.UNREADABLE
    assert "can't show it" in found.why


def test_flows_are_asked_for_by_frontend_and_never_the_whole_table(scripted: Api, source: Source) -> None:
    about = ("10.96.0.10", "fd00:96::a", "nodeport/30080")
    with source(scripted) as cluster:
        whole, own = cluster.observe(
            [
                Need(Kind.CONNTRACK, node="w1", cost=Cost.EXEC),
                Need(Kind.CONNTRACK, node="w1", cost=Cost.EXEC, about=about),
            ]
        )
    assert whole[0].state is State.UNREADABLE
    assert isinstance(own[0].fact, FlowTable)
    assert [command[4:] for command in scripted.commands if "conntrack -L" in command[2]] == [list(about)]


def test_no_flow_at_all_is_an_answer_where_the_tool_ran() -> None:
    assert node_looks.parsed(Kind.CONNTRACK, {"flows": Section(b"\n", 0)}) == FlowTable(flows=())
    assert node_looks.parsed(Kind.CONNTRACK, {"flows": Section(b"\n", 127)}) is None


METRICS = """HTTP/1.1 200 OK
kubeproxy_sync_proxy_rules_last_timestamp_seconds 1.7e+09
kubeproxy_sync_proxy_rules_iptables_total{ip_family="IPv4",table="nat"} 61
"""
HEALTH = """port 30900
HTTP/1.1 503 Service Unavailable\r
Content-Type: application/json\r
\r
{
\t"service": {
\t\t"namespace": "shop",
\t\t"name": "web"
\t},
\t"localEndpoints": 0,
\t"serviceProxyHealthy": true
}
port 30901

port 30902
HTTP/1.1 200 OK

not json
"""


def test_metrics_and_health_checks_are_read_behind_their_headers() -> None:
    kept: Metrics = node_looks.parsed(Kind.METRICS, {"metrics": Section(METRICS.encode(), 0)})
    assert [sample.value for sample in kept.samples] == [1.7e9, 61]
    replies: HealthReplies = node_looks.parsed(Kind.HEALTH_REPLIES, {"health": Section(HEALTH.encode(), 0)}, "w1")
    first, last = replies.replies
    assert (first.node, first.port, first.status, first.name, first.local_endpoints) == ("w1", 30900, 503, "web", 0)
    assert (last.port, last.status, last.local_endpoints) == (30902, 200, None)


@contextmanager
def answering(body: str) -> Iterator[int]:
    """An HTTP server of one fixed answer on a port of localhost."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer:
                    peer.recv(4096)
                    peer.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("without", ["", "curl"])
def test_the_health_script_brings_status_and_body(without: str, tmp_path: Any) -> None:
    """With curl, and with bash alone."""
    path = "/usr/bin:/bin"
    if without:
        for name in ("sh", "bash", "cat", "timeout", "grep"):
            (tmp_path / name).symlink_to(f"/usr/bin/{name}")
        path = str(tmp_path)
    script = Script.of({"health": node_looks.HEALTH})
    with answering('{"localEndpoints": 3}') as port:
        done = subprocess.run(
            script.command(str(port)), capture_output=True, check=False, timeout=30, env={"PATH": path}
        )
    replies = node_looks.parsed(Kind.HEALTH_REPLIES, script.sections(done.stdout), "w1")
    assert replies is not None, done.stdout
    assert [(reply.port, reply.status, reply.local_endpoints) for reply in replies.replies] == [(port, 200, 3)]
