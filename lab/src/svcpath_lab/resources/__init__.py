"""The lab's data: versions, packages, manifests, image sources, Go modules. Read through ``folder()``."""

from __future__ import annotations

from pathlib import Path


def folder() -> Path:
    """The folder of the lab's data files. The package is always installed as plain files (it holds go.mod, YAML, C)."""
    return Path(__file__).parent
