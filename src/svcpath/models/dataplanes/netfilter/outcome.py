"""The ends of all branches, added up to one answer: which backend gets which part, and what happens to the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from svcpath.models.dataplanes.netfilter.flow import UNPRINTED, Branch, End, PacketWalk
from svcpath.models.dataplanes.netfilter.masquerade import marks_own_traffic
from svcpath.models.dataplanes.ruleset import Ruleset
from svcpath.models.dataplanes.table import Backend, NotUnderstood, PacketOutcome, PacketVerdict, RuleMet, Share


def outcome(flow: PacketWalk, ends: Sequence[End], masquerades: Callable[[int], bool]) -> PacketOutcome:
    """``masquerades`` tells of a mark whether a packet that carries it leaves with the node's address."""
    shares: dict[Backend, list[Any]] = {}
    other: dict[PacketVerdict, float] = {}
    reached: list[Branch] = []
    for branch, verdict in ends:
        if verdict == "drop":
            kind = PacketVerdict.DROP
        elif verdict == "reject":
            kind = PacketVerdict.REJECT
        elif branch.backend is not None:
            hairpin = marks_own_traffic(flow, branch)
            share = shares.setdefault(branch.backend, [0.0, branch.backend_line, masquerades(branch.mark), hairpin])
            share[0] += branch.weight
            share[3] = share[3] and hairpin
            reached.append(branch)
            continue
        else:
            kind = PacketVerdict.ACCEPT if branch.accepted else PacketVerdict.NONE
        other[kind] = other.get(kind, 0.0) + branch.weight
    backends = tuple(
        Share(backend, _snap(weight), line, masquerade, hairpin)
        for backend, (weight, line, masquerade, hairpin) in shares.items()
    )
    lead = PacketVerdict.BACKENDS
    if not backends:
        lead = max(other, key=lambda kind: other[kind]) if other else PacketVerdict.NONE
    rest = tuple((kind, _snap(weight)) for kind, weight in other.items() if backends or kind is not lead)
    affinity, complete = _affinity(reached, len(backends))
    branches = [branch for branch, _ in ends]
    return PacketOutcome(
        verdict=lead,
        backends=backends,
        other=tuple(item for item in rest if item[1] > 0),
        affinity=affinity,
        affinity_complete=complete,
        rules=_met(flow.rules, branches),
        foreign=_unique([rule for branch in branches for rule in branch.foreign + branch.possible]),
        undecided=_unique([NotUnderstood(*item) for branch in branches for item in branch.undecided]),
    )


def _affinity(reached: list[Branch], backends: int) -> tuple[int | None, bool]:
    """The timeout (see PacketOutcome.affinity), and whether every backend recalls and remembers its clients."""
    recalls: tuple[tuple[str, int], ...] = ()
    complete = True
    for branch in reached:
        recalls = recalls or branch.recalls
        if branch.recalls or branch.remembers:
            complete = complete and branch.remembers in {name for name, _ in branch.recalls}
    if len({seconds for _, seconds in recalls}) > 1:
        complete = False
    if recalls and len(recalls) < backends and recalls[0][0] != UNPRINTED:
        complete = False
    return recalls[0][1] if recalls else (0 if not complete else None), complete


def _met(rules: Ruleset, branches: list[Branch]) -> tuple[RuleMet, ...]:
    seen: dict[tuple[int, str], RuleMet] = {}
    for branch in branches:
        trail = []
        node = branch.met
        while node is not None:
            rule, chain, node = node
            trail.append((rule.line, chain.name))
        for line, chain_name in reversed(trail):
            if (line, chain_name) not in seen:
                seen[line, chain_name] = RuleMet(line, chain_name, rules.line(line))
    return tuple(seen.values())


def _unique(items: list[Any]) -> tuple[Any, ...]:
    seen: dict[tuple[int, str], Any] = {}
    for item in items:
        seen.setdefault((item.line, item.chain), item)
    return tuple(seen.values())


@lru_cache(maxsize=4096)
def _snap(weight: float) -> Fraction:
    """The fraction that was meant: iptables rounds a probability to 31 bits, and branches multiply them."""
    near = Fraction(weight).limit_denominator(4096)
    return near if abs(float(near) - weight) < 2e-8 else Fraction(weight).limit_denominator(10**9)
