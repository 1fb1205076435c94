"""A place outside the cluster that reaches its nodes: where clients and load balancers of the world stand.

The seam between scenarios and a lab: a lab that has such a place offers this.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Outside(Protocol):
    @property
    def nodes(self) -> Mapping[str, str]:
        """Nodes that take Pods -> their address on the wire."""

    @property
    def address(self) -> str:
        """An address of this place that its own programs can listen on."""

    @property
    def folder(self) -> Path:
        """Where files of such programs can be kept."""

    def popen(self, name: str, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a program there; the caller ends it, and the lab's end does."""
