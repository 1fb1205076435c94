"""What this layer asks first: begun by a Source that can, before the layer runs."""

from __future__ import annotations

from svcpath.evidence.facts.need import Need
from svcpath.walk.scene import Scene
from svcpath.walk.subjects import socket_tables

#: Pods whose sockets are looked at before it is their turn.
AHEAD = 20


def then(scene: Scene) -> tuple[Need, ...]:
    """The sockets of the Pods behind the Service."""
    return tuple(socket_tables.needs(scene).values())[:AHEAD]
