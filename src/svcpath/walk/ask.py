"""How layers ask: a batch of Needs goes out, Replies come back. Sub-generators for the questions that recur.

A layer is a generator that yields batches and is sent Replies in the same order; the driver in ``walk.py`` answers
each Need once, however often it is asked.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

import msgspec

from svcpath.evidence.facts.kubernetes import Pod, Service
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.observations import Observations
from svcpath.evidence.facts.request import Request

T = TypeVar("T")
Batch = tuple[Need, ...]


class Reply(msgspec.Struct, frozen=True):
    """All Observations that met one Need. Few of many are found by ``present.named(...)`` and its like."""

    need: Need
    observations: Observations

    @property
    def present(self) -> Observations:
        return self.observations.present

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(observation.value for observation in self.present)

    @property
    def not_read(self) -> Observations:
        """Those that say that something could not be read."""
        return self.observations.not_read

    @property
    def absent(self) -> bool:
        """Looked, and it is not there."""
        return self.observations.absent

    @property
    def unreadable(self) -> bool:
        return not self.present and not self.absent

    @property
    def why(self) -> str:
        """In words for people, why something of it is not present; empty when all of it is."""
        return self.observations.why

    @property
    def in_vain(self) -> tuple[Observation[Any], ...]:
        """The looks of which ``why`` speaks."""
        return tuple(look for look in self.observations if look.reason is not None)

    @property
    def complete(self) -> bool:
        """The reply came from a full list and no part of it was unreadable: what is missing in it does not exist."""
        return self.observations.complete

    @property
    def refused(self) -> bool:
        """Some of it was there to look at and could not be read."""
        return self.observations.refused

    @property
    def partial(self) -> bool:
        """Some of it could not be read."""
        return self.observations.partial


Replies = tuple[Reply, ...]
Asking = Generator[Batch, Replies, T]


def one(need: Need) -> Asking[Reply]:
    (reply,) = yield (need,)
    return reply


def service(namespace: str, name: str) -> Asking[Reply]:
    return (yield from one(Need(Kind.SERVICE, namespace=namespace, name=name, permission="get services")))


def slices(namespace: str, service_name: str) -> Asking[Reply]:
    need = Need(
        Kind.ENDPOINT_SLICE,
        namespace=namespace,
        service=service_name,
        permission="list endpointslices.discovery.k8s.io",
    )
    return (yield from one(need))


def nodes() -> Asking[Reply]:
    return (yield from one(Need(Kind.NODE, permission="list nodes")))


def in_client(request: Request, kind: Kind, *, cost: Cost = Cost.EXEC, about: tuple[str, ...] = ()) -> Need:
    """A look into the container that connects."""
    return Need(
        kind, pod=request.client, container=request.container, cost=cost, permission="create pods/exec", about=about
    )


def sockets(pod: str) -> Asking[Reply]:
    return (yield from one(Need(Kind.SOCKETS, pod=pod, cost=Cost.EXEC, permission="create pods/exec")))


def client_pod(namespace: str, name: str) -> Asking[Observation[Pod] | None]:
    """The client's Pod, if one is named and it is in the evidence."""
    if not name:
        return None
    reply = yield from one(Need(Kind.POD, namespace=namespace, name=name, permission="get pods"))
    return reply.present[0] if reply.present else None


def first(reply: Reply, kind: type[T]) -> T | None:
    for value in reply.values:
        if isinstance(value, kind):
            return value
    return None


def cluster_service(reply: Reply) -> Service | None:
    return first(reply, Service)
