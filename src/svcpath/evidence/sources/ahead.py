"""What is going to be asked of a cluster, begun before it is: a walk asks in the order of its questions, a cluster answers side
by side.

The readers keep what they read, so that each request is still made once. No connection is tried. One command in a container,
or on a node, brings several looks: those that come together are joined.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.source import Then

Met = tuple[Observation[Any], ...]
Meet = Callable[[Need], Awaitable[Met]]

#: A look that can bring another along, and the Need whose subject (``about``) it then carries: the names that the client's own
#: resolver is to look up, the frontends whose flows count.
_CARRIES = {Kind.RESOLV_CONF: Kind.LOOKUPS, Kind.IPTABLES_SAVE: Kind.CONNTRACK}


class Ahead:
    """What was begun, on the event loop that it is called on. What is said several times is met once."""

    def __init__(self, meet: Meet) -> None:
        self._meet = meet
        self._begun: dict[Need, asyncio.Future[Met]] = {}

    async def begin(self, needs: Sequence[Need], then: Then | None = None) -> None:
        """Meet ``needs`` side by side, then what ``then`` makes of them. What goes wrong ends it, and comes to light when it
        is asked for."""
        begun = [self._begin(need, needs) for need in joined(needs)]
        await asyncio.gather(*begun, return_exceptions=True)
        if then is not None:
            await self.begin(then([await self._begin(need, needs) for need in needs]))

    def _begin(self, need: Need, beside: Sequence[Need]) -> asyncio.Future[Met]:
        if need not in self._begun:
            work = self._log(need, beside) if need.kind is Kind.LOG else self._meet(need)
            self._begun[need] = asyncio.ensure_future(work)
        return self._begun[need]

    async def _log(self, need: Need, beside: Sequence[Need]) -> Met:
        """A log comes after the lists of Pods whose log it is."""
        pods = [other for other in beside if other.kind is Kind.POD and not other.name]
        await asyncio.gather(*(self._begin(listed, ()) for listed in pods), return_exceptions=True)
        return await self._meet(need)


def joined(needs: Sequence[Need]) -> tuple[Need, ...]:
    """``needs`` without probes, and with those that one command brings put into it."""
    carried = {(need.kind, need.pod, need.container, need.node): need for need in needs if need.about}
    found: list[Need] = []
    taken: set[Need] = set()
    for need in needs:
        other = _CARRIES.get(need.kind)
        passenger = carried.get((other, need.pod, need.container, need.node)) if other is not None else None
        if passenger is not None and not need.about:
            taken.add(passenger)
            need = msgspec.structs.replace(need, about=passenger.about)
        found.append(need)
    return tuple(need for need in found if need not in taken and need.cost is not Cost.PROBE)
