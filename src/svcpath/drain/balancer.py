"""A real external load balancer in front of the nodes: HAProxy, outside the cluster, health-checking what its configuration names.

It knows nodes, not Pods: what it takes out is a node, after ``fall`` failed checks ``every`` seconds apart. Retries are off
and it forwards TCP, as a cloud's network load balancer does, so that a connection that a node does not take is seen by the
client. Its view of each node is read again and again from its own statistics (HAProxy management guide, 9.3 "show stat").
"""

from __future__ import annotations

import contextlib
import csv
import io
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from svcpath.drain.outside import Outside
from svcpath.errors import SourceUnavailable

_POLL = 0.05


@dataclass(frozen=True, slots=True)
class Checked:
    """How the balancer checks a node. ``port`` is asked: by HTTP for ``path``, or by connecting alone where it is ""."""

    port: int
    path: str = ""
    every: float = 2.0
    fall: int = 3
    rise: int = 1

    @property
    def slowest(self) -> float:
        """Seconds by which a node that went bad is out at the latest: the first check just missed it, the last waits for
        its answer as long as one interval."""
        return self.every * (self.fall + 1)


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server's state in the balancer's eyes from ``at`` on: UP, DOWN, or "UP 2/3" after the first failed check."""

    at: float
    server: str
    status: str
    check: str


def configuration(
    listen: str, port: int, nodes: Mapping[str, str], node_port: int, checked: Checked, stats: Path
) -> str:
    """haproxy.cfg for one frontend on ``listen``:``port`` and a server per node."""
    milliseconds = int(checked.every * 1000)
    servers = [
        f"  server {name} {_host(address)}:{node_port} check port {checked.port}" for name, address in nodes.items()
    ]
    asked = [f"  option httpchk GET {checked.path}", "  http-check expect status 200"] if checked.path else []
    return "\n".join(
        (
            "global",
            f"  stats socket {stats} mode 600",
            "  maxconn 4000",
            "defaults",
            "  mode tcp",
            "  retries 0",
            "  timeout connect 2s",
            "  timeout check 2s",
            "  timeout client 60s",
            "  timeout server 60s",
            "listen nodes",
            f"  bind {_host(listen)}:{port}",
            "  balance roundrobin",
            *asked,
            f"  default-server inter {milliseconds}ms fall {checked.fall} rise {checked.rise}",
            *servers,
            "",
        )
    )


def states(statistics: str) -> dict[str, tuple[str, str]]:
    """Server -> (status, what the last check said) of "show stat"'s CSV."""
    found: dict[str, tuple[str, str]] = {}
    for row in csv.DictReader(io.StringIO(statistics.lstrip("# "))):
        if row.get("svname") not in ("FRONTEND", "BACKEND", None):
            # "* " stands before the last result while the next check is under way.
            found[row["svname"]] = (
                row["status"],
                f"{row['check_status'].removeprefix('* ')} {row['check_code']}".strip(),
            )
    return found


@dataclass(slots=True)
class Balancer:
    """HAProxy under way. ``history`` holds each change of each server's state."""

    process: subprocess.Popen[bytes]
    stats: Path
    url: str
    history: list[ServerState] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    def _read(self) -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(2)
            sock.connect(str(self.stats))
            sock.sendall(b"show stat\n")
            parts = []
            while data := sock.recv(65536):
                parts.append(data)
        return b"".join(parts).decode("utf-8", "replace")

    def run(self) -> None:
        last: dict[str, tuple[str, str]] = {}
        while not self._ended.is_set():
            with contextlib.suppress(OSError):
                now = states(self._read())
                at = time.time()
                self.history.extend(
                    ServerState(at, name, *now[name]) for name in sorted(now) if now[name] != last.get(name)
                )
                last = now
            self._ended.wait(_POLL)

    def all_up(self, timeout: float = 20) -> None:
        """Waits until every node is up. Raises SourceUnavailable."""
        deadline = time.monotonic() + timeout
        while True:
            if self.process.poll() is not None:
                raise SourceUnavailable(f"HAProxy ended with {self.process.returncode}")
            latest = {state.server: state for state in list(self.history)}
            if latest and all(state.status == "UP" and "OK" in state.check for state in latest.values()):
                return
            if time.monotonic() > deadline:
                seen = (
                    ", ".join(f"{state.server} {state.status} ({state.check})" for state in latest.values())
                    or "no statistics"
                )
                raise SourceUnavailable(f"HAProxy does not give every node as up: {seen}")
            time.sleep(_POLL)

    def first(self, server: str, after: float, prefix: str) -> ServerState | None:
        """The first state later than ``after`` of a server whose status begins with ``prefix``."""
        return next(
            (
                state
                for state in list(self.history)
                if state.server == server and state.at > after and state.status.startswith(prefix)
            ),
            None,
        )

    def first_failed_check(self, server: str, after: float) -> ServerState | None:
        """When a check of the server first failed: its status turns "UP 2/3", or DOWN at once where one is enough."""
        return next(
            (
                state
                for state in list(self.history)
                if state.server == server and state.at > after and state.status != "UP"
            ),
            None,
        )

    def end(self) -> None:
        self._ended.set()


@contextlib.contextmanager
def balancer(outside: Outside, name: str, port: int, node_port: int, checked: Checked) -> Iterator[Balancer]:
    """HAProxy on ``port`` of the place outside, while the block runs. Raises SourceUnavailable."""
    program = shutil.which("haproxy", path="/usr/local/sbin:/usr/sbin:/usr/bin")
    if program is None:
        raise SourceUnavailable("HAProxy is not installed: apt-get install haproxy")
    folder = outside.folder / "balancer"
    folder.mkdir(parents=True, exist_ok=True)
    stats, config = folder / f"{name}.sock", folder / f"{name}.cfg"
    config.write_text(configuration(outside.address, port, outside.nodes, node_port, checked, stats))
    process = outside.popen("haproxy", [program, "-db", "-q", "-f", str(config)])
    found = Balancer(process, stats, f"http://{_host(outside.address)}:{port}")
    thread = threading.Thread(target=found.run, name=f"statistics of {name}", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.end()
        thread.join(5)
        process.terminate()
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        stats.unlink(missing_ok=True)


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address
