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

Meet = Callable[[Need], Awaitable[tuple[Observation[Any], ...]]]

#: A look that can bring another along, and the Need whose subject (``about``) it then carries: the names that the client's own
#: resolver is to look up, the frontends whose flows count.
_CARRIES = {Kind.RESOLV_CONF: Kind.LOOKUPS, Kind.IPTABLES_SAVE: Kind.CONNTRACK}


async def begin(meet: Meet, needs: Sequence[Need]) -> None:
    """Meet ``needs`` side by side, logs after the lists of Pods whose logs they are. What goes wrong comes to light when it is
    asked for."""
    pods = [need for need in needs if need.kind is Kind.POD and not need.name]

    async def log(need: Need) -> None:
        await asyncio.gather(*(meet(listed) for listed in pods))
        await meet(need)

    coming = (log(need) if need.kind is Kind.LOG else meet(need) for need in joined(needs))
    await asyncio.gather(*coming, return_exceptions=True)


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
