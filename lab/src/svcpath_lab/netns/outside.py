"""The lab's place outside the cluster: the namespace that holds the wire between the nodes and is none of them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from svcpath_lab.netns import marks
from svcpath_lab.netns.layout import Layout
from svcpath_lab.netns.nodes import PATH, WIRE, Machine


@dataclass(frozen=True, slots=True)
class Wire:
    """Runs clients and load balancers beside the cluster, as something on the nodes' own network."""

    machine: Machine
    layout: Layout

    @property
    def nodes(self) -> Mapping[str, str]:
        """Each node that takes Pods -> its address on the wire."""
        return {node.name: str(node.addresses[0]) for node in self.layout.workers}

    @property
    def address(self) -> str:
        return str(self.layout.gateway[0])

    @property
    def folder(self) -> Path:
        return self.machine.home.folder

    def popen(self, name: str, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a program in the namespace. It carries the lab's mark, so that what its starter leaves goes with the lab."""
        return subprocess.Popen(
            [*self.machine.enter(WIRE, network_only=True), *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": PATH, "HOME": "/root", **marks.mark(self.machine.home.identity, WIRE, name)},
        )
