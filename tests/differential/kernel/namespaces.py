"""Four network namespaces: a Pod, a node, a host outside, and the backends; the node routes between them.

Made and taken down here alone; nothing of the machine's own network is touched. IPv4 and IPv6 side by side.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.differential.kernel.services import IPV4, IPV6

TOOLS = ("ip", "nft", "iptables-nft-restore", "iptables-legacy-restore", "ip6tables-nft-restore", "conntrack")
PORTS = (8080, 8081)


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if shutil.which(tool) is None]


class Namespaces:
    def __init__(self) -> None:
        self.tag = f"svcpath-{uuid.uuid4().hex[:6]}"
        self.names = {role: f"{self.tag}-{role}" for role in ("pod", "node", "out", "be")}
        self.workers: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Namespaces:
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for worker in self.workers.values():
            worker.kill()
            worker.wait()
            for stream in (worker.stdin, worker.stdout):
                if stream is not None:
                    stream.close()
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def run(self, role: str, *command: str, text: str | None = None) -> str:
        done = subprocess.run(
            ["ip", "netns", "exec", self.names[role], *command], input=text, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[:2000]}")
        return done.stdout

    def _build(self) -> None:
        for name in self.names.values():
            subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
        for role in self.names:
            self.run(role, "ip", "link", "set", "lo", "up")
            for family in ("all", "default"):
                self.run(role, "sysctl", "-qw", f"net.ipv6.conf.{family}.accept_dad=0")
        self._link("pod", ["10.244.1.1/24", "fd00:244:0:1::1/64"], ["10.244.1.2/24", "fd00:244:0:1::2/64"])
        self._link(
            "out",
            ["203.0.113.1/24", "2001:db8:113::1/48"],
            ["203.0.113.2/24", "203.0.113.130/24", "2001:db8:113::2/48", "2001:db8:113:8000::2/48"],
        )
        backends = [f"{address}/24" for address in IPV4.backends] + [f"{address}/64" for address in IPV6.backends]
        self._link("be", ["10.244.2.1/24", "fd00:244:0:2::1/64"], backends)
        self.run("node", "ip", "addr", "add", f"{IPV4.node}/32", "dev", "lo")
        self.run("node", "ip", "addr", "add", f"{IPV6.node}/128", "dev", "lo", "nodad")
        self.run("node", "ip", "route", "add", "default", "via", "203.0.113.2")
        self.run("node", "ip", "-6", "route", "add", "default", "via", "2001:db8:113::2")
        for key in (
            "net.ipv4.ip_forward=1",
            "net.ipv6.conf.all.forwarding=1",
            "net.ipv4.conf.all.rp_filter=0",
            "net.ipv4.icmp_ratelimit=0",
            "net.ipv6.icmp.ratelimit=0",
        ):
            self.run("node", "sysctl", "-qw", key)
        worker = Path(__file__).parent / "worker.py"
        for role in self.names:
            self.workers[role] = subprocess.Popen(
                ["ip", "netns", "exec", self.names[role], sys.executable, "-S", str(worker)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        server = subprocess.Popen(
            ["ip", "netns", "exec", self.names["be"], sys.executable, "-S", str(worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.workers["server"] = server
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps({"serve": [*IPV4.backends, *IPV6.backends], "ports": PORTS}) + "\n")
        server.stdin.flush()
        if server.stdout.readline().strip() != "ready":
            raise RuntimeError("the backends do not come up")

    def _link(self, role: str, node_side: list[str], far_side: list[str]) -> None:
        self.run("node", "ip", "link", "add", role, "type", "veth", "peer", "name", "eth0", "netns", self.names[role])
        for address in node_side:
            self.run("node", "ip", "addr", "add", address, "dev", role, *(["nodad"] if ":" in address else []))
        self.run("node", "ip", "link", "set", role, "up")
        for address in far_side:
            self.run(role, "ip", "addr", "add", address, "dev", "eth0", *(["nodad"] if ":" in address else []))
        self.run(role, "ip", "link", "set", "eth0", "up")
        self.run(role, "ip", "route", "add", "default", "via", node_side[0].partition("/")[0])
        self.run(role, "ip", "-6", "route", "add", "default", "via", node_side[1].partition("/")[0])

    def probe(self, role: str, requests: Sequence[dict[str, Any]], patience: float) -> list[Any]:
        worker = self.workers[role]
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps({"probe": list(requests), "patience": patience}) + "\n")
        worker.stdin.flush()
        answers: list[Any] = json.loads(worker.stdout.readline())
        return answers

    def clear(self) -> None:
        """No rules and no connections on the node."""
        for tool in ("iptables-nft", "iptables-legacy", "ip6tables-nft", "ip6tables-legacy"):
            for table in ("nat", "filter"):
                self.run("node", tool, "-t", table, "-F")
                self.run("node", tool, "-t", table, "-X")
        self.run("node", "nft", "flush", "ruleset")
        subprocess.run(["ip", "netns", "exec", self.names["node"], "conntrack", "-F"], check=False, capture_output=True)
