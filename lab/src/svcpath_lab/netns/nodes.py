"""Bring a node's namespaces up, wire nodes together, and start programs in them. Each step can be run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from svcpath_lab import command
from svcpath_lab.errors import LabError
from svcpath_lab.home import Home
from svcpath_lab.netns import cgroups, configs, marks, node_init
from svcpath_lab.netns.layout import Layout

#: The namespace that is no node: it holds the bridge, the DNS of the world outside, and external clients.
WIRE = "wire"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Of a command that is run in a node; nothing of the caller's own.
ENVIRONMENT = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8"}

_JOIN = 'for each in {files}; do echo $$ > "$each"; done; exec "$@"'


@dataclass(frozen=True, slots=True)
class Machine:
    """Access to the namespaces of one lab."""

    home: Home

    def folder(self, node: str) -> Path:
        return self.home.folder / "nodes" / node

    def ensure_up(self, node: str, keep: Sequence[Path]) -> int:
        """Start the node's process 1 unless it runs; returns its pid."""
        running = marks.init_of(self.home.identity, node)
        ready = self.folder(node) / "ready"
        if running is not None and ready.is_file():
            return running
        if running is not None:
            raise LabError(f"node {node} is half up; take the lab down and start again")
        folder = self.folder(node)
        var = folder / "var"
        for path in (var / "lib" / "svcpath", var / "log", var / "tmp", self.home.logs):
            path.mkdir(parents=True, exist_ok=True)
        for link, target in (("run", "../run"), ("lock", "../run/lock")):
            if not (var / link).is_symlink():
                (var / link).symlink_to(target)
        ready.unlink(missing_ok=True)
        spec = {
            "hostname": node,
            "var": "" if node == WIRE else str(var),
            "keep": [str(path) for path in (self.home.folder, *keep)],
            "pinned": configs.PINNED_SYSCTLS,
            "ready": str(ready),
        }
        (folder / "init.json").write_text(json.dumps(spec, indent=2) + "\n")
        cgroups.make(self.home.identity, node)
        unshare = ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--propagation", "private"]
        python = [sys.executable, "-I", "-S", node_init.__file__, str(folder / "init.json")]
        self._spawn(node, "init", [*unshare, *python])
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            pid = marks.init_of(self.home.identity, node)
            if pid is not None and ready.is_file():
                return pid
            time.sleep(0.02)
        output = self._log(node, "init").read_text(errors="replace").strip()[-500:]
        raise LabError(f"node {node} did not come up: {output or 'no output'}")

    def pid(self, node: str) -> int:
        pid = marks.init_of(self.home.identity, node)
        if pid is None:
            raise LabError(f"node {node} of lab {self.home.name} is not up; run `svcpath lab up` to continue it")
        return pid

    def enter(self, node: str, *, network_only: bool = False) -> list[str]:
        """The command prefix that runs something in the node. ``network_only`` keeps the machine's own mounts."""
        spaces = ["--net"] if network_only else ["--mount", "--uts", "--ipc", "--net", "--pid"]
        return ["nsenter", "--target", str(self.pid(node)), *spaces, "--"]

    def run(
        self,
        node: str,
        argv: Sequence[str | Path],
        *,
        stdin: str | bytes | None = None,
        check: bool = True,
        timeout: float | None = 60.0,
    ) -> command.Completed:
        """Run a command in the node to its end."""
        return command.run(
            [*self.enter(node), *argv], stdin=stdin, check=check, timeout=timeout, environment=ENVIRONMENT
        )

    def find(self, node: str, name: str) -> tuple[int, ...]:
        """The pids of a program that ``ensure_running`` started in the node."""
        return tuple(
            process.pid
            for process in marks.marked(self.home.identity)
            if process.node == node
            and process.name == name
            and process.executable not in ("nsenter", "containerd-shim-runc-v2")
        )

    def ensure_running(
        self, node: str, name: str, argv: Sequence[str | Path], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start a program in the node, with its log in logs/NODE.NAME.log, unless it runs."""
        if not self.find(node, name):
            self._spawn(node, name, [*self.enter(node), *map(str, argv)], environment)

    def _spawn(self, node: str, name: str, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        files = " ".join(f"'{path}'" for path in cgroups.entry_files(self.home.identity, node))
        self.detach(node, name, ["sh", "-c", _JOIN.format(files=files), name, *argv], environment)

    def detach(
        self,
        node: str,
        name: str,
        argv: Sequence[str],
        environment: Mapping[str, str] | None = None,
        handed_over: Sequence[int] = (),
    ) -> None:
        """Start a marked process that outlives this one, with ``handed_over`` file descriptors, and its log."""
        with self._log(node, name).open("ab") as log:
            subprocess.run(
                ["setsid", "--fork", *argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                pass_fds=handed_over,
                check=True,
                env={
                    "PATH": PATH,
                    "HOME": "/root",
                    **marks.mark(self.home.identity, node, name),
                    **(environment or {}),
                },
            )

    def _log(self, node: str, name: str) -> Path:
        self.home.logs.mkdir(parents=True, exist_ok=True)
        return self.home.logs / f"{node}.{name}.log"

    def connect(self, layout: Layout) -> None:
        """Wire all nodes to the bridge, with their addresses and the routes to each other's Pod ranges."""
        links = {link["ifname"] for link in json.loads(self._ip(WIRE, ["-j", "link", "show"]).out or "[]")}
        if "br0" not in links:
            self._ip_batch(WIRE, ["link add br0 type bridge", "link set br0 up"])
            self._ip_batch(
                WIRE,
                [
                    f"address add {address}/{layout.wire_prefix(address)} dev br0 {_nodad(address)}"
                    for address in layout.gateway
                ],
            )
            self._sysctls(WIRE, {"net/ipv4/ip_forward": "0", "net/bridge/bridge-nf-call-iptables": "0"})
        for node in layout.nodes:
            if node.name in links:
                continue
            self._sysctls(
                node.name,
                {
                    "net/ipv4/ip_forward": "1",
                    "net/ipv6/conf/all/forwarding": "1",
                    "net/ipv4/conf/all/rp_filter": "0",
                    "net/ipv4/conf/default/rp_filter": "0",
                    "net/bridge/bridge-nf-call-iptables": "1",
                    "net/bridge/bridge-nf-call-ip6tables": "1",
                },
            )
            peer = self.pid(node.name)
            self._ip_batch(
                WIRE,
                [
                    f"link add {node.name} type veth peer name eth0 netns {peer}",
                    f"link set {node.name} master br0 up",
                ],
            )
            lines = ["link set eth0 up"]
            for address, gateway in zip(node.addresses, layout.gateway, strict=True):
                lines.append(f"address add {address}/{layout.wire_prefix(address)} dev eth0 {_nodad(address)}")
                lines.append(f"route add default via {gateway}")
            for other in layout.nodes:
                if other is not node:
                    pairs = zip(other.pod_ranges, other.addresses, strict=True)
                    lines.extend(f"route add {network} via {address}" for network, address in pairs)
            self._ip_batch(node.name, lines)
            pairs = zip(node.pod_ranges, node.addresses, strict=True)
            self._ip_batch(WIRE, [f"route add {network} via {address}" for network, address in pairs])

    def _ip(self, node: str, arguments: Sequence[str], stdin: str | None = None) -> command.Completed:
        return command.run([*self.enter(node, network_only=True), "ip", *arguments], stdin=stdin)

    def _ip_batch(self, node: str, lines: Sequence[str]) -> None:
        self._ip(node, ["-batch", "-"], "\n".join(lines) + "\n")

    def _sysctls(self, node: str, values: Mapping[str, str]) -> None:
        script = "; ".join(
            f"[ ! -e /proc/sys/{key} ] || echo {value} > /proc/sys/{key}" for key, value in values.items()
        )
        self.run(node, ["sh", "-c", script])


def _nodad(address: object) -> str:
    return "nodad" if getattr(address, "version", 4) == 6 else ""


#: Command -> Debian package, for those that a node or its wiring calls.
_TOOLS = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setsid": "util-linux",
    "ip": "iproute2",
    "openssl": "openssl",
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "nft": "nftables",
    "conntrack": "conntrack",
    "tar": "tar",
    "gcc": "gcc",
}


def require_machine() -> None:
    """Raise LabError, with what to do, unless this is a Linux machine where a netns lab can be made."""
    if sys.platform != "linux":
        raise LabError("the netns lab needs Linux: use --provider kind here")
    require_root()
    missing = sorted({package for tool, package in _TOOLS.items() if shutil.which(tool, path=PATH) is None})
    if missing:
        raise LabError(f"what nodes are made of is not installed here: apt-get install {' '.join(missing)}")


def require_root() -> None:
    if os.geteuid() != 0:
        raise LabError(
            "the netns lab needs root (namespaces, mounts, cgroups): run it with sudo, or use --provider kind"
        )
