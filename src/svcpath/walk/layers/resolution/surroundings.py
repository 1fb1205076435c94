"""A client's surroundings for a lookup: its files and variables, and what answers its queries."""

from __future__ import annotations

from dataclasses import dataclass

from svcpath.models.resolvers import Environment, Layered, World
from svcpath.walk.ask import Asking
from svcpath.walk.layers.resolution import client as clients
from svcpath.walk.layers.resolution import compare, world
from svcpath.walk.request import Request
from svcpath.walk.scene import scene


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``world`` answers Unknown where nothing is known."""

    environment: Environment
    world: World


def surroundings(request: Request) -> Asking[Surroundings]:
    view = yield from scene(request)
    client = yield from clients.gather(request, view)
    answering = yield from world.gather(request.client_namespace, request.namespaces)
    return Surroundings(compare.environment(client), answering.world or Layered(()))
