"""The netns provider: a Kubernetes in network namespaces, as steps that each can be run again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from svcpath.errors import UsageError
from svcpath_lab import command
from svcpath_lab.binaries import find
from svcpath_lab.binaries.catalogue import Release, release
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.home import Home, LabSpec, cache_root, exclusive
from svcpath_lab.images import recipes
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.netns import addons, agents, cgroups, configs, control_plane, forwarder, limits, marks, nodes
from svcpath_lab.netns.layout import PROXY_MODES, Layout, layout
from svcpath_lab.netns.nodes import WIRE, Machine
from svcpath_lab.netns.outside import Wire
from svcpath_lab.netns.pki import Pair
from svcpath_lab.providers.base import LabNode

_PROXY = "kube-proxy"
#: Seconds for each thing that gets ready by itself: a limit for what has gone wrong, which a busy machine must not reach.
PATIENCE = 300.0


@dataclass
class NetnsProvider:
    """One lab of namespaces. Cheap to make; everything is looked up on the machine when asked."""

    home: Home
    spec: LabSpec
    images: dict[str, str] = field(default_factory=lambda: {"tools": recipes.TOOLS, "client": recipes.TOOLS})

    @property
    def layout(self) -> Layout:
        return layout(self.spec.nodes, self.spec.ip_family)

    @property
    def release(self) -> Release:
        return release(self.spec.release)

    @property
    def machine(self) -> Machine:
        return Machine(self.home)

    # ---- up -------------------------------------------------------------------------------------------------------

    def up(self, say: Say) -> None:
        nodes.require_machine()
        if self.spec.proxy_mode not in PROXY_MODES:
            raise UsageError(f"proxy mode {self.spec.proxy_mode!r}: one of {', '.join(PROXY_MODES)}")
        plan, machine = self.layout, self.machine
        bin_dir = Path(self.spec.bin_dir) if self.spec.bin_dir else None
        with exclusive(cache_root(), say):
            programs = find.obtain(self.release, bin_dir=bin_dir, say=say)
            images = recipes.Kitchen.default(say).images(self.release, programs)
        self.home.write_spec(self.spec)
        pki = control_plane.issue(self.home, plan)
        self._remember_kubectl(programs["kubectl"])

        say(f"namespaces for {', '.join(node.name for node in plan.nodes)}")
        keep = sorted({path.parent for path in programs.values()} | {recipes.Kitchen.default().folder})
        _together(lambda name: machine.ensure_up(name, keep), [WIRE, *(node.name for node in plan.nodes)])
        machine.connect(plan)
        (self.home.folder / "upstream.Corefile").write_text(configs.upstream_dns(plan))
        machine.ensure_running(WIRE, "dns", [programs["coredns"], "-conf", self.home.folder / "upstream.Corefile"])

        say("etcd, kube-apiserver, and containerd with its images on each node")
        control_plane.start_api(machine, plan, programs)
        self._forward(plan)
        server = f"https://127.0.0.1:{self._port()}"
        admin = Pair(self.home.folder / "pki" / "admin.key", self.home.folder / "pki" / "admin.crt")
        control_plane.write_kubeconfig(self.home.kubeconfig, server, pki, admin)

        plugins = agents.cni_programs(self.home.folder / "cni", programs)

        def containers(name: str) -> None:
            agents.start_containerd(machine, plan, plan.node(name), plugins)
            present = agents.images(machine, name)
            for image, archive in images.items():
                if image not in present:
                    agents.load_image(machine, name, archive)

        _together(containers, [node.name for node in plan.nodes])
        kubectl = self.kubectl()
        _wait_for("the API server", lambda: kubectl.run("get", "--raw", "/readyz", check=False).code == 0, self.home)

        say("kube-controller-manager, kube-scheduler, and a kubelet on each node")
        control_plane.start_controllers(machine, plan, programs, pki)
        for node in plan.nodes:
            agents.start_kubelet(machine, plan, node, programs, pki)
        kubectl.apply(addons.coredns(plan, recipes.coredns_image(self.release)))
        mode = addons.current_mode(kubectl) or self.spec.proxy_mode  # another mode is set_proxy_mode's to switch
        kubectl.apply([addons.kube_proxy_config(plan, mode, pki.certificate.read_text())])
        kubectl.apply(addons.kube_proxy(recipes.kube_proxy_image(self.release)))

        say("waiting for nodes, kube-proxy and CoreDNS")
        expected = {node.name for node in plan.nodes}
        _wait_for("the nodes", lambda: expected <= self._ready_nodes(kubectl), self.home)
        self._describe_nodes(kubectl, plan)
        kubectl.wait_rollout("kube-system", "daemonset/kube-proxy", PATIENCE)
        kubectl.wait_rollout("kube-system", "deployment/coredns", PATIENCE)

    def _remember_kubectl(self, program: Path) -> None:
        link = self.home.folder / "kubectl"
        if link.is_symlink() and link.resolve() != program.resolve():
            link.unlink()
        if not link.is_symlink():
            link.symlink_to(program.resolve())

    def _ready_nodes(self, kubectl: Kubectl) -> set[str]:
        done = kubectl.run(
            "get",
            "nodes",
            "-o",
            'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}',
            check=False,
        )
        return {line.split("=")[0] for line in done.out.splitlines() if line.endswith("=True")}

    def _describe_nodes(self, kubectl: Kubectl, plan: Layout) -> None:
        """The Pod ranges into the Node objects, and the control plane's role label (kubelets may not set it)."""
        for node in plan.nodes:
            ranges = ",".join(f'"{network}"' for network in node.pod_ranges)
            patch = f'{{"spec":{{"podCIDR":"{node.pod_ranges[0]}","podCIDRs":[{ranges}]}}}}'
            kubectl.run("patch", "node", node.name, "--type=merge", "-p", patch)
        role = "node-role.kubernetes.io/control-plane="
        kubectl.run("label", "node", plan.control_plane.name, "--overwrite", role)

    # ---- the API server from outside ------------------------------------------------------------------------------

    def _port(self) -> int:
        return int((self.home.folder / "port").read_text())

    def _forward(self, plan: Layout) -> None:
        """Start the forwarder unless it runs, on the port that an earlier up chose if that is still free."""
        if self.machine.find(plan.control_plane.name, "forwarder"):
            return
        remembered = self.home.folder / "port"
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", int(remembered.read_text()) if remembered.is_file() else 0))
            except OSError:
                listener.bind(("127.0.0.1", 0))
            listener.listen(64)
            remembered.write_text(f"{listener.getsockname()[1]}\n")
            node = plan.control_plane
            self.machine.detach(
                node.name,
                "forwarder",
                [
                    *self.machine.enter(node.name, network_only=True),
                    *(sys.executable, "-I", forwarder.__file__, str(listener.fileno())),
                    *(str(node.addresses[0]), str(configs.API_PORT)),
                ],
                handed_over=[listener.fileno()],
            )

    # ---- down -----------------------------------------------------------------------------------------------------

    def down(self, say: Say) -> None:
        """Kill every process of the lab, then remove what processes leave: cgroups and the folder.

        Namespaces and mounts go with their last process. Works from what is found on the machine, not from notes.
        """
        nodes.require_root()
        say("ending every process of the lab")
        identity = self.home.identity
        deadline = time.monotonic() + 30
        while True:
            cgroups.kill_all(identity)
            left = [process.pid for process in marks.marked(identity) if process.pid != os.getpid()]
            if not left:
                break
            if time.monotonic() > deadline:
                raise LabError(
                    f"processes {left} of the lab do not end; look at them with `ps -fp`, then run down again"
                )
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        say("removing cgroups and files")
        cgroups.remove(identity)
        if self.home.folder.exists():
            shutil.rmtree(self.home.folder)

    # ---- what is there --------------------------------------------------------------------------------------------

    def status(self) -> tuple[LabNode, ...]:
        up = {process.node: set[str]() for process in marks.marked(self.home.identity)}
        for process in marks.marked(self.home.identity):
            if process.executable != "nsenter":
                up[process.node].add(process.name)
        return tuple(
            LabNode(
                node.name,
                node.control_plane,
                f"up: {', '.join(sorted(up[node.name] - {'init'}))}" if "init" in up.get(node.name, ()) else "down",
            )
            for node in self.layout.nodes
        )

    def kubeconfig(self) -> Path:
        if not self.home.kubeconfig.is_file():
            raise LabError(f"lab {self.home.name} has no kubeconfig yet; run `svcpath lab up` to continue it")
        return self.home.kubeconfig

    def kubectl(self) -> Kubectl:
        return Kubectl((self.home.folder / "kubectl"), self.kubeconfig())

    def nodes(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.layout.workers)

    def outside(self) -> Wire:
        """The place beside the cluster from which its nodes are reached."""
        return Wire(self.machine, self.layout)

    def run_on_node(self, node: str, argv: Sequence[str], *, check: bool = True) -> command.Completed:
        return self.machine.run(self._known(node), argv, check=check)

    def on_node(self, node: str, argv: Sequence[str], *, terminal: bool) -> list[str]:
        kept = {"TERM": os.environ["TERM"]} if terminal and os.environ.get("TERM") else {}
        variables = (f"{name}={value}" for name, value in {**nodes.ENVIRONMENT, **kept}.items())
        return [*self.machine.enter(self._known(node)), "env", "-i", *variables, *argv]

    def _known(self, node: str) -> str:
        if node != WIRE:
            self.layout.node(node)
        return node

    # ---- kube-proxy -----------------------------------------------------------------------------------------------

    def set_proxy_mode(self, mode: str, say: Say) -> None:
        if mode not in PROXY_MODES:
            raise UsageError(f"proxy mode {mode!r}: one of {', '.join(PROXY_MODES)}")
        kubectl = self.kubectl()
        if addons.current_mode(kubectl) != mode:
            say(f"switching kube-proxy to {mode}")
            authority = (self.home.folder / "pki" / "ca.crt").read_text()
            kubectl.apply([addons.kube_proxy_config(self.layout, mode, authority)])
            kubectl.run("-n", "kube-system", "rollout", "restart", "daemonset/kube-proxy")
        kubectl.wait_rollout("kube-system", "daemonset/kube-proxy", PATIENCE)
        script = addons.synced(self.layout, mode)
        for node in self.layout.nodes:
            _wait_for(
                f"kube-proxy's first {mode} sync on {node.name}",
                lambda name=node.name: self.machine.run(name, ["sh", "-c", script], check=False).code == 0,  # type: ignore[misc]
                self.home,
            )

    def freeze_proxy(self, node: str) -> None:
        self._signal_proxy(node, "STOP")

    def thaw_proxy(self, node: str) -> None:
        self._signal_proxy(node, "CONT")

    def _signal_proxy(self, node: str, name: str) -> None:
        self.layout.node(node)
        done = self.machine.run(node, ["pkill", f"-{name}", "-x", _PROXY], check=False)
        if done.code != 0:
            raise LabError(f"no {_PROXY} runs on node {node} ({done.err.strip() or 'no such process'})")


def _together(work: Callable[[str], object], names: Iterable[str]) -> None:
    """Do the same for several nodes at once; the first failure is raised when all have ended."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        for future in [pool.submit(work, name) for name in names]:
            future.result()


def _wait_for(what: str, ready: Callable[[], bool], home: Home) -> None:
    deadline = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > deadline:
            why = limits.used_up() or f"read {home.logs}"
            raise LabError(f"{what} did not get ready in {PATIENCE:g} s; {why}, then run `svcpath lab up` again")
        time.sleep(0.2)
