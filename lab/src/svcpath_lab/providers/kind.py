"""The kind provider, for machines with Docker or podman: nodes are containers, the cluster is kind's own.

The ``kind`` command does the work; this module writes its configuration and translates the lab's questions. Nodes are
containers, so what runs on a node goes through the container engine's ``exec``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from svcpath.errors import UsageError
from svcpath_lab import command
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.home import Home, LabSpec
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.netns.layout import FAMILIES, PROXY_MODES
from svcpath_lab.providers import public
from svcpath_lab.providers.base import LabNode


def cluster_config(spec: LabSpec, image: str) -> str:
    """The kind configuration (kind.x-k8s.io/v1alpha4) for a lab."""
    if spec.proxy_mode not in PROXY_MODES:
        raise UsageError(f"proxy mode {spec.proxy_mode!r}: one of {', '.join(PROXY_MODES)}")
    if spec.ip_family not in FAMILIES:
        raise UsageError(f"ip family {spec.ip_family!r}: one of {', '.join(FAMILIES)}")
    roles = ["control-plane", *("worker" for _ in range(spec.nodes - 1))]
    return yaml.safe_dump(
        {
            "kind": "Cluster",
            "apiVersion": "kind.x-k8s.io/v1alpha4",
            "networking": {"kubeProxyMode": spec.proxy_mode, "ipFamily": spec.ip_family},
            "nodes": [{"role": role, "image": image} for role in roles],
        },
        sort_keys=False,
    )


@dataclass
class KindProvider:
    """One kind cluster, called ``svcpath-NAME``."""

    home: Home
    spec: LabSpec
    program: str = "kind"
    images: dict[str, str] = field(default_factory=public.images)

    @property
    def cluster(self) -> str:
        return f"svcpath-{self.home.name}"

    @property
    def engine(self) -> str:
        """The container engine that kind would use: docker, else podman."""
        for name in ("docker", "podman"):
            if shutil.which(name):
                return name
        raise LabError("kind needs docker or podman on PATH; without one use --provider netns (root)")

    def _kind(self, *arguments: str | Path, check: bool = True, timeout: float = 900) -> command.Completed:
        return command.run(
            [self.program, *arguments],
            check=check,
            timeout=timeout,
            hint="install kind (and docker or podman), or use --provider netns as root",
        )

    def _clusters(self) -> tuple[str, ...]:
        return tuple(self._kind("get", "clusters").out.split())

    def up(self, say: Say) -> None:
        text = cluster_config(self.spec, public.kind_node(self.spec.release))
        self.home.write_spec(self.spec)
        config = self.home.folder / "kind.yaml"
        config.write_text(text)
        if self.cluster in self._clusters():
            say(f"kind cluster {self.cluster} is there")
            self._kind("export", "kubeconfig", "--name", self.cluster, "--kubeconfig", self.home.kubeconfig)
        else:
            say(f"kind creates {self.cluster}, 1 to 5 min with the image's download")
            self._kind(
                *("create", "cluster", "--name", self.cluster, "--config", config),
                *("--kubeconfig", self.home.kubeconfig, "--wait", "180s"),
            )

    def down(self, say: Say) -> None:
        say(f"kind deletes {self.cluster}")
        if self.home.exists():
            self._kind("delete", "cluster", "--name", self.cluster)
        if self.home.folder.exists():
            shutil.rmtree(self.home.folder)

    def status(self) -> tuple[LabNode, ...]:
        if self.cluster not in self._clusters():
            return ()
        ready = {
            item["metadata"]["name"]: any(
                condition["type"] == "Ready" and condition["status"] == "True"
                for condition in item["status"].get("conditions", ())
            )
            for item in self.kubectl().items("nodes")
        }
        return tuple(
            LabNode(name, "control-plane" in name, "up: Ready" if is_ready else "not ready")
            for name, is_ready in sorted(ready.items())
        )

    def kubeconfig(self) -> Path:
        if not self.home.kubeconfig.is_file():
            raise LabError(f"lab {self.home.name} has no kubeconfig yet; run `svcpath lab up --provider kind`")
        return self.home.kubeconfig

    def kubectl(self) -> Kubectl:
        found = shutil.which("kubectl")
        if found is None:
            raise LabError("kubectl is not on PATH: install it, the lab drives the cluster with it")
        return Kubectl(Path(found), self.kubeconfig())

    def _containers(self) -> tuple[str, ...]:
        return tuple(sorted(self._kind("get", "nodes", "--name", self.cluster).out.split()))

    def nodes(self) -> tuple[str, ...]:
        names = self._containers()
        return tuple(name for name in names if "control-plane" not in name) or names

    def run_on_node(self, node: str, argv: Sequence[str], *, check: bool = True) -> command.Completed:
        return command.run(self._exec(node, argv), check=check)

    def on_node(self, node: str, argv: Sequence[str], *, terminal: bool) -> list[str]:
        return self._exec(node, argv, *(("-i", "-t") if terminal else ("-i",)))

    def _exec(self, node: str, argv: Sequence[str], *options: str) -> list[str]:
        if node not in self._containers():
            raise UsageError(f"no node {node!r} in {self.cluster}; there are {', '.join(self._containers())}")
        return [self.engine, "exec", *options, node, *argv]

    def set_proxy_mode(self, mode: str, say: Say) -> None:
        if mode not in PROXY_MODES:
            raise UsageError(f"proxy mode {mode!r}: one of {', '.join(PROXY_MODES)}")
        kubectl = self.kubectl()
        found = kubectl.get("-n", "kube-system", "configmap", "kube-proxy")
        config = yaml.safe_load(found["data"]["config.conf"])
        if config.get("mode") != mode:
            say(f"switching kube-proxy to {mode}")
            config["mode"] = mode
            data = {**found["data"], "config.conf": yaml.safe_dump(config, sort_keys=False)}
            patch = json.dumps({"data": data})
            kubectl.run("-n", "kube-system", "patch", "configmap", "kube-proxy", "--type=merge", "-p", patch)
            kubectl.run("-n", "kube-system", "rollout", "restart", "daemonset/kube-proxy")
        kubectl.wait_rollout("kube-system", "daemonset/kube-proxy")

    def freeze_proxy(self, node: str) -> None:
        self.run_on_node(node, ["pkill", "-STOP", "-x", "kube-proxy"])

    def thaw_proxy(self, node: str) -> None:
        self.run_on_node(node, ["pkill", "-CONT", "-x", "kube-proxy"])
