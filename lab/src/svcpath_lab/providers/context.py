"""The context provider: an existing cluster, where the lab touches nothing but namespaces that it made and labelled.

It never deletes a namespace without its own label, never changes nodes, kube-system or anything cluster-wide.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from svcpath.errors import UsageError
from svcpath_lab import command, namespaces
from svcpath_lab.command import Say
from svcpath_lab.errors import LabError
from svcpath_lab.home import Home, LabSpec
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers import public
from svcpath_lab.providers.base import LabNode, NotOffered


@dataclass
class ContextProvider:
    """One context of a kubeconfig."""

    home: Home
    spec: LabSpec
    images: dict[str, str] = field(default_factory=public.images)

    def up(self, say: Say) -> None:
        if not self.spec.context:
            raise UsageError("the context provider needs --context NAME, a context of your kubeconfig")
        self.home.write_spec(self.spec)
        kubectl = self.kubectl()
        say(f"context {self.spec.context}: {len(kubectl.items('nodes'))} nodes; nothing was changed")

    def down(self, say: Say) -> None:
        if self.home.exists():
            say("deleting the namespaces that the lab made")
            namespaces.remove(self.kubectl(), self.home.name)
        if self.home.folder.exists():
            shutil.rmtree(self.home.folder)

    def status(self) -> tuple[LabNode, ...]:
        found = []
        for item in self.kubectl().items("nodes"):
            labels = item["metadata"].get("labels", {})
            conditions = item.get("status", {}).get("conditions", ())
            ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
            role = "node-role.kubernetes.io/control-plane" in labels
            found.append(LabNode(item["metadata"]["name"], role, "up: Ready" if ready else "not ready"))
        return tuple(found)

    def kubeconfig(self) -> Path:
        named = self.spec.kubeconfig or os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
        path = Path(named) if named else Path.home() / ".kube" / "config"
        if not path.is_file():
            raise LabError(f"no kubeconfig at {path}: set KUBECONFIG or give --kubeconfig")
        return path

    def kubectl(self) -> Kubectl:
        found = shutil.which("kubectl")
        if found is None:
            raise LabError("kubectl is not on PATH: install it, the lab drives the cluster with it")
        return Kubectl(Path(found), self.kubeconfig(), self.spec.context)

    def nodes(self) -> tuple[str, ...]:
        status = self.status()
        return tuple(node.name for node in status if not node.control_plane) or tuple(node.name for node in status)

    def run_on_node(self, node: str, argv: Sequence[str], *, check: bool = True) -> command.Completed:
        raise NotOffered(f"commands on node {node} are not run on a cluster by context: use a netns or kind lab")

    def on_node(self, node: str, argv: Sequence[str], *, terminal: bool) -> list[str]:
        raise NotOffered(f"commands on node {node} are not run on a cluster by context: use a netns or kind lab")

    def set_proxy_mode(self, mode: str, say: Say) -> None:
        raise NotOffered(f"the proxy mode of a cluster by context stays as it is; for {mode} use a netns or kind lab")

    def freeze_proxy(self, node: str) -> None:
        raise NotOffered(f"kube-proxy on {node} is not touched on a cluster by context: use a netns or kind lab")

    def thaw_proxy(self, node: str) -> None:
        raise NotOffered(f"kube-proxy on {node} is not touched on a cluster by context: use a netns or kind lab")
