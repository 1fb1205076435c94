"""Edits of a case's files that fail loudly when there is nothing to edit."""

from __future__ import annotations

Files = dict[str, str]


def replace(files: Files, path: str, old: str, new: str) -> None:
    assert old in files[path], f"{path} has no {old!r}"
    files[path] = files[path].replace(old, new)


def endpoint(address: str, pod: str) -> str:
    """A ready endpoint as the cases' slices write it."""
    return f"""endpoints:
- addresses:
  - {address}
  conditions:
    ready: true
    serving: true
    terminating: false
  nodeName: node-a
  targetRef:
    kind: Pod
    name: {pod}
    namespace: shop
"""
