"""Which base chains does a packet pass, and in which order?

Order of hooks and priorities: Documentation/networking and include/uapi/linux/netfilter_ipv4.h. A packet of a Pod or
from outside passes prerouting, then input or forward; one of the node passes output. A chain of type nat sees a
connection until one of them has translated it, and never one that is not tracked.
"""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.models.dataplanes.netfilter.chains import through
from svcpath.models.dataplanes.netfilter.flow import Branch, End, PacketWalk
from svcpath.models.dataplanes.netfilter.foreign import dropped_by_policy
from svcpath.models.dataplanes.table import TrafficOrigin


def walk_hooks(flow: PacketWalk, branch: Branch) -> Iterator[End]:
    """Where the branches of one packet end."""
    leaving = flow.packet.origin is TrafficOrigin.NODE and not flow.packet.arriving
    for after, verdict in _hook(flow, "output" if leaving else "prerouting", branch):
        if verdict in ("drop", "reject"):
            yield after, verdict
            continue
        local = flow.ends_here(after)
        if leaving and not local:
            yield after, verdict
            continue
        yield from _hook(flow, "input" if local else "forward", after)


def _hook(flow: PacketWalk, hook: str, branch: Branch) -> list[End]:
    live: list[End] = [(branch, "")]
    for base in flow.rules.base.get(hook, ()):
        if not flow.passes(base) or (not base.rules and base.policy == "accept"):
            continue
        following: list[End] = []
        for current, verdict in live:
            if verdict in ("drop", "reject") or (base.type == "nat" and (current.dnated or current.notrack)):
                following.append((current, verdict))
                continue
            for after, end in through(flow, base, current, 0):
                if not end and base.policy == "drop" and dropped_by_policy(base, after):
                    end = "drop"
                after.escapes = frozenset()
                following.append((after, end if end != "accept" else ""))
        live = following
    return live
