"""A client's surroundings for a lookup: its files and variables, and what answers its queries."""

from __future__ import annotations

import msgspec

from svcpath.evidence.facts.request import Request
from svcpath.models.resolvers import Environment, Layered, World
from svcpath.walk.ask import Asking
from svcpath.walk.names import client as clients
from svcpath.walk.names import world
from svcpath.walk.names.client import Client


class Surroundings(msgspec.Struct, frozen=True):
    """``world`` answers Unknown where nothing is known."""

    environment: Environment
    world: World


def surroundings(request: Request, names: tuple[str, ...] = ()) -> Asking[Surroundings]:
    """``names`` are those to resolve: the namespaces that they can lead to are enough to answer them."""
    client = yield from clients.gather(request, None)
    # SRV names begin with _port._protocol (RFC 2782).
    bare = [name.partition("._tcp.")[2] or name.partition("._udp.")[2] or name for name in names]
    spaces = [space for name in bare for space in msgspec.structs.replace(request, lookup=name).namespaces]
    answering = yield from world.gather(request.client_namespace, tuple(dict.fromkeys(spaces)) or request.namespaces)
    return Surroundings(environment(client), answering.world or Layered(()))


def environment(client: Client) -> Environment:
    variables: dict[str, str] = {}
    if client.environment is not None:
        for line in client.environment.fact.text.splitlines():
            key, equals, value = line.partition("=")
            if equals:
                variables[key] = value
    return Environment(
        resolv_conf=client.conf,
        hosts=client.hosts_text,
        nsswitch=client.nsswitch.fact.text if client.nsswitch else None,
        hostname=client.pod.fact.name if client.pod else "",
        variables=variables,
    )
