"""What answers the client's queries, from evidence: recorded answers first, then the CoreDNS model over the objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from svcpath.evidence.facts.dns import DnsAnswer
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.models.resolvers import Layered, RecordedWorld, World
from svcpath.walk import ask
from svcpath.walk.ask import Asking


@dataclass(frozen=True, slots=True)
class Answering:
    """The world, and the observations it was made of; ``world`` None: nothing is known of any answer."""

    world: World | None
    evidence: tuple[Observation[Any], ...]


def gather() -> Asking[Answering]:
    answers = yield from ask.one(Need(Kind.DNS_ANSWERS))
    rows: list[DnsAnswer] = [row for one in answers.present for row in one.fact.rows]
    worlds: list[World] = []
    if rows:
        worlds.append(RecordedWorld(rows))
    return Answering(Layered(worlds) if worlds else None, answers.present)
