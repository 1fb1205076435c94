"""The packet that is walked: what stays the same on its whole way, and what differs from branch to branch.

A walk branches where the kernel would throw dice (``statistic``, ``numgen``): each branch carries its weight and all
that it met, so that the answer can be added up from where the branches ended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from svcpath.models.dataplanes.ruleset import Chain, Rule, Ruleset, RuleTable, address_value
from svcpath.models.dataplanes.table import Backend, ForeignRule, TrafficOrigin


class RulePacket(NamedTuple):
    """The first packet of a new connection. ``address`` may be ANY_IPV4 or ANY_IPV6: some address of the node.

    ``known``: affinity sets may hold the client; else it is a new one.
    """

    source: str
    origin: TrafficOrigin
    protocol: str
    address: str
    port: int
    arriving: bool = False
    known: bool = False


class PacketWalk(msgspec.Struct, frozen=True):
    """One packet in one ruleset, as far as no rule changes it.

    ``family`` is "ip" or "ip6", ``protocol`` in lower case, ``source`` and ``local`` (the node's own addresses) as
    values. ``to_node``: the address the client sends to is the node's.
    """

    rules: Ruleset
    packet: RulePacket
    family: str
    protocol: str
    source: tuple[int, int] | None
    local: frozenset[tuple[int, int]]
    to_node: bool

    def table(self, chain: Chain) -> RuleTable:
        return self.rules.tables[chain.table]

    def passes(self, base: Chain) -> bool:
        """Does a packet of this family come by the table of this chain?"""
        family = base.table.partition(" ")[0]
        return family == self.family or family == "inet"

    def ends_here(self, branch: Branch) -> bool:
        """Is the node itself the destination, as it stands now?"""
        return is_local(branch.address, self.local) if branch.dnated else self.to_node


#: The name of an affinity list that the dump does not print (``xt`` matches of nft's listing).
UNPRINTED = "?"


class Branch:
    """One branch of the walk: the packet as the rules left it, and what it met.

    ``met`` is the trail, newest first: (rule, chain, what was before). ``recalls`` are the affinity sets that were asked
    on the way, ``remembers`` the one that is written. ``foreign`` took the packet, ``possible`` may take it;
    ``undecided`` are (line, text, chain). ``unsure`` are the bits of the mark that a rule may have set or not;
    ``escapes`` the ways out that it may have taken before, as ("accept" or "return", chain): what comes behind them
    may never have been met.
    """

    __slots__ = (
        "accepted",
        "address",
        "backend",
        "backend_chain",
        "backend_line",
        "dnated",
        "escapes",
        "foreign",
        "mark",
        "met",
        "notrack",
        "port",
        "possible",
        "recalls",
        "remembers",
        "undecided",
        "unsure",
        "weight",
    )

    def __init__(self, address: str, port: int) -> None:
        self.weight = 1.0
        self.address = address
        self.port = port
        self.mark = 0
        self.dnated = False
        self.notrack = False
        self.accepted = False
        self.backend: Backend | None = None
        self.backend_line = 0
        self.backend_chain: Chain | None = None
        self.met: tuple[Any, ...] | None = None
        self.recalls: tuple[tuple[str, int], ...] = ()
        self.remembers = ""
        self.foreign: tuple[ForeignRule, ...] = ()
        self.possible: tuple[ForeignRule, ...] = ()
        self.undecided: tuple[tuple[int, str, str], ...] = ()
        self.unsure = 0
        self.escapes: frozenset[tuple[str, str]] = frozenset()

    def fork(self, weight: float) -> Branch:
        other = Branch.__new__(Branch)
        for name in Branch.__slots__:
            setattr(other, name, getattr(self, name))
        other.weight = weight
        return other

    @property
    def state(self) -> tuple[Any, ...]:
        """The packet, and what it has gone through that decides its fate: all but its weight and its trail."""
        return (
            *(self.address, self.port, self.mark, self.dnated, self.notrack, self.accepted),
            *(self.backend, self.backend_line, self.recalls, self.remembers, self.unsure, self.escapes),
        )

    def join(self, other: Branch) -> None:
        """Take up a branch of the same state, with all that it met."""
        self.weight += other.weight
        self.met = _trail(self.met, other.met)
        self.foreign = _both(self.foreign, other.foreign)
        self.possible = _both(self.possible, other.possible)
        self.undecided = _both(self.undecided, other.undecided)

    def doubt(self, line: int, text: str, chain: Chain) -> None:
        """Something here was not understood and could change the answer."""
        self.undecided = (*self.undecided, (line, text, chain.name))

    def translate(self, target: tuple[str, int], line: int, chain: Chain) -> None:
        """A destination NAT; port 0 keeps the one the packet came with."""
        address, port = target
        self.backend = Backend(address, port or self.port)
        self.backend_line = line
        self.backend_chain = chain
        self.address = address
        self.port = port or self.port
        self.dnated = True

    def alter(self, rule: Rule, chain: Chain) -> None:
        """A rule that sets the mark or writes an affinity set, and lets the packet go on."""
        self.met = (rule, chain, self.met)
        if rule.target == "remember":
            self.remembers = rule.argument
            return
        clear, xor = rule.argument
        self.mark = (self.mark & ~clear & 0xFFFFFFFF) ^ xor
        self.unsure &= ~clear


def _both(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*first, *second))) if second else first


def _trail(first: tuple[Any, ...] | None, second: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The first trail, and upon it what the second has met since they parted."""
    known = set()
    node = first
    while node is not None:
        known.add(id(node))
        node = node[2]
    added = []
    while second is not None and id(second) not in known:
        added.append(second)
        second = second[2]
    for rule, chain, _ in reversed(added):
        first = (rule, chain, first)
    return first


#: A branch and the verdict it ended with: accept, drop, reject, or "" where it fell through the chain.
End = tuple[Branch, str]


def is_local(address: str, local: frozenset[tuple[int, int]]) -> bool:
    """One of the node's own addresses, or of the loopback."""
    value = address_value(address)
    if value is None:
        return False
    if value in local:
        return True
    return value == (6, 1) or (value[0] == 4 and value[1] >> 24 == 127)
