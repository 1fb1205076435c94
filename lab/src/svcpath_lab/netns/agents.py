"""containerd and the kubelet of one node, and the images that its Pods start from."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from svcpath_lab.errors import LabError
from svcpath_lab.images.recipes import PAUSE
from svcpath_lab.netns import cgroups, configs, control_plane
from svcpath_lab.netns.layout import Layout, NodePlan
from svcpath_lab.netns.nodes import Machine
from svcpath_lab.netns.pki import Authority, Pair

_SOCKET = "/run/containerd/containerd.sock"


def cni_programs(folder: Path, programs: Mapping[str, Path]) -> Path:
    """One folder with all CNI plugins: containerd takes a single bin_dir, they may come from several places.

    Nodes share it and start at the same time, so it is made before any of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("bridge", "host-local", "loopback", "portmap"):
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(programs[name].resolve())
    return folder


def start_containerd(machine: Machine, layout: Layout, node: NodePlan, plugins: Path) -> None:
    """Start containerd unless it runs, and wait until it answers; ``plugins`` is the folder of CNI programs."""
    var = machine.folder(node.name) / "var" / "lib" / "svcpath"
    _write(var / "containerd.toml", configs.containerd(PAUSE, plugins))
    _write(var / "cni" / "10-lab.conflist", configs.cni(layout, node))
    resolv = "".join(f"nameserver {address}\n" for address in layout.gateway)
    _write(var / "resolv.conf", resolv)
    machine.ensure_running(node.name, "containerd", ["containerd", "--config", "/var/lib/svcpath/containerd.toml"])
    deadline = time.monotonic() + 30
    while machine.run(node.name, ["ctr", "--address", _SOCKET, "version"], check=False).code != 0:
        if time.monotonic() > deadline:
            raise LabError(f"containerd of node {node.name} does not answer; read {machine.home.logs}")
        time.sleep(0.1)


def load_image(machine: Machine, node: str, archive: Path) -> None:
    """Import an OCI layout tar into the node's containerd."""
    machine.run(
        node,
        ["ctr", "--address", _SOCKET, "--namespace", "k8s.io", "images", "import", archive],
        timeout=300,
    )


def images(machine: Machine, node: str) -> frozenset[str]:
    """The names of the images that the node has."""
    done = machine.run(node, ["ctr", "--address", _SOCKET, "--namespace", "k8s.io", "images", "list", "--quiet"])
    return frozenset(done.out.split())


def start_kubelet(
    machine: Machine, layout: Layout, node: NodePlan, programs: Mapping[str, Path], pki: Authority
) -> None:
    """Start the kubelet unless it runs; it registers the node by itself."""
    folder = machine.folder(node.name)
    keys = machine.home.folder / "pki"
    pair = Pair(keys / f"kubelet-{node.name}.key", keys / f"kubelet-{node.name}.crt")
    control_plane.write_kubeconfig(folder / "kubelet.kubeconfig", configs.api_server(layout), pki, pair)
    roots = cgroups.hierarchies()
    root = f"/{cgroups.branch(machine.home.identity)}/{node.name}"
    config = configs.kubelet(layout, node, keys, root, cgroup_v1=not cgroups.unified(roots))
    _write(folder / "kubelet.yaml", config)
    machine.ensure_running(
        node.name,
        "kubelet",
        [
            programs["kubelet"],
            f"--config={folder / 'kubelet.yaml'}",
            f"--kubeconfig={folder / 'kubelet.kubeconfig'}",
            "--root-dir=/var/lib/kubelet",
            f"--hostname-override={node.name}",
            f"--node-ip={','.join(map(str, node.addresses))}",
            "--v=1",
        ],
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
