"""What "finished" means per protocol, and what has to be capped: the data that budget, scenarios and docs share."""

from __future__ import annotations

import functools
import importlib.resources

import msgspec


class Semantics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One protocol. ``unit`` is what the longest request term bounds; ``unbounded`` what stays unknown without ``cap``;
    ``scenario`` the number of the scenario that proves it."""

    title: str
    unit: str
    finished: str
    after_removal: str
    cap: str
    unbounded: str
    scenario: int


@functools.cache
def semantics() -> dict[str, Semantics]:
    """All protocols by key. The file ships with the package; a damaged one is an internal error."""
    text = importlib.resources.files("svcpath.models.drain").joinpath("semantics.yaml").read_bytes()
    return msgspec.yaml.decode(text, type=dict[str, Semantics])
