"""The seam between the lab and its cluster: whatever offers this can be broken on purpose, recorded and scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from svcpath_lab.command import Completed, Say
from svcpath_lab.errors import LabError
from svcpath_lab.kubectl import Kubectl


class NotOffered(LabError):
    """This provider can't do that; the message says which can."""


@dataclass(frozen=True, slots=True)
class LabNode:
    """A node of the lab as it is: where it can be reached, and whether its parts run."""

    name: str
    control_plane: bool
    state: str


class Provider(Protocol):
    """A practice cluster."""

    #: the images that the lab's own manifests use, by role: tools, client
    images: dict[str, str]

    def up(self, say: Say) -> None:
        """Bring the cluster up, or go on where an earlier call was cut off."""

    def down(self, say: Say) -> None:
        """Remove everything that the lab made, whatever state it is in."""

    def status(self) -> tuple[LabNode, ...]:
        """Each node and how it is."""

    def kubeconfig(self) -> Path:
        """A kubeconfig for the cluster."""

    def kubectl(self) -> Kubectl:
        """kubectl for the cluster."""

    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes that take Pods."""

    def run_on_node(self, node: str, argv: Sequence[str], *, check: bool = True) -> Completed:
        """Run a command with the node's own tools and in its network namespace; it reads nothing."""

    def on_node(self, node: str, argv: Sequence[str], *, terminal: bool) -> list[str]:
        """The command line that does the same for whoever starts it, with its input, output and ``terminal`` passed through."""

    def set_proxy_mode(self, mode: str, say: Say) -> None:
        """Switch the data plane by kube-proxy's ConfigMap and wait until every node has done it."""

    def freeze_proxy(self, node: str) -> None:
        """Stop kube-proxy's process on the node (SIGSTOP): its rules stay as they are."""

    def thaw_proxy(self, node: str) -> None:
        """Let kube-proxy go on."""
