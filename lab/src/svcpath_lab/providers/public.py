"""Public images, for clusters that pull: which ones, and how a user names others."""

from __future__ import annotations

import os
from typing import Any

import yaml

from svcpath.errors import UsageError
from svcpath_lab import resources


def _table() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((resources.folder() / "public-images.yaml").read_text(encoding="utf-8"))
    return found


def images() -> dict[str, str]:
    """The images by role; SVCPATH_LAB_IMAGE_ROLE in the environment goes first."""
    table = _table()
    return {role: os.environ.get(f"SVCPATH_LAB_IMAGE_{role.upper()}") or table[role] for role in ("tools", "client")}


def kind_node(minor: str) -> str:
    """kind's node image for a Kubernetes minor release ("" for the default)."""
    table = _table()
    wanted = ".".join((minor or table["default"]).removeprefix("v").split(".")[:2])
    try:
        return str(table["kind-node"][wanted])
    except KeyError:
        raise UsageError(f"no kind node image for {minor!r}; there are {', '.join(table['kind-node'])}") from None
