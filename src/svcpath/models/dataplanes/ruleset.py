"""Rules of netfilter as data: what iptables and nftables both are once their spelling is gone.

A rule is its matches, all of which must hold, and one target. Whatever a parser did not understand becomes an
``opaque`` match or target that keeps the text, so that an evaluation can say "undecided" instead of guessing. Targets
and priorities are those of the kernel (include/uapi/linux/netfilter_ipv4.h: raw -300, mangle -150, nat dstnat -100,
filter 0, nat srcnat 100).
"""

from __future__ import annotations

import gc
import ipaddress
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

#: Characters of text that are split into lines at once.
_PIECE = 1 << 16


class Match(msgspec.Struct, frozen=True, gc=False):
    """One condition.

    kind: value
      source, destination: a prefix in text, or a tuple of prefixes (any of them)
      protocol: a tuple of names in lower case; dport, sport: a tuple of (low, high)
      source-type, destination-type: "LOCAL" and the like
      ct-state, ct-status: frozenset of names in lower case; mark: (value, mask)
      probability: float; recent-check: (name, seconds); recent-set: name
      in-interface, out-interface: name, "+" or "*" at the end as wildcard
      in-set: (fields, set name): the fields of the packet joined, looked up in a named set
      recalled: (set name): the client's address in an affinity set
      opaque: the text
    """

    kind: str
    value: Any
    negated: bool = False


class Rule(msgspec.Struct, frozen=True, gc=False):
    """One rule.

    target: argument
      jump, goto: chain; accept, drop, reject, return, masquerade, notrack, continue: None dnat: (address, port) with
      port 0 for unchanged; dnat-many: tuple of those; redirect: port; mark: (op, value, mask) remember: affinity set
      name vmap: (fields, map name); numgen: (modulus, ((index, target, argument), ...), mode) opaque: the text (could
      end the walk); snat, log, ... are ``continue``
    """

    line: int
    matches: tuple[Match, ...]
    target: str
    argument: Any = None
    comment: str = ""


def is_opaque(rules: Iterable[Rule]) -> bool:
    """Holds one of them something that was not understood?"""
    return any(rule.target == "opaque" or any(match.kind == "opaque" for match in rule.matches) for rule in rules)


class Element(NamedTuple):
    """One element of a map: its verdict and where it stands."""

    target: str
    argument: Any
    line: int
    comment: str = ""


class Chain(msgspec.Struct, eq=False):
    """Rules in order; ``hook`` is "" for a chain that is only jumped to. Filled by a parser, then left alone."""

    table: str
    name: str
    line: int = 0
    declared: bool = True
    hook: str = ""
    type: str = ""
    priority: int = 0
    policy: str = "accept"
    rules: list[Rule] = []
    index: Any = None


class Set:
    """A named set or verdict map of nftables. Keys are tuples of text, one item per field."""

    __slots__ = ("comment", "elements", "flags", "is_map", "line", "name", "prefixes", "table", "timeout")

    def __init__(self, table: str, name: str, line: int, *, is_map: bool) -> None:
        self.table = table
        self.name = name
        self.line = line
        self.is_map = is_map
        self.elements: dict[tuple[str, ...], Element] = {}
        self.prefixes: list[tuple[str, int]] = []
        self.flags: frozenset[str] = frozenset()
        self.timeout: int | None = None
        self.comment = ""


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """``enumerate(text.split("\\n"), 1)``, a piece at a time: with a dump of tens of megabytes the lines then fit the
    processor's cache, and the time grows with the size and not faster."""
    return enumerate(itertools.chain.from_iterable(_pieces(text)), 1)


def _pieces(text: str) -> Iterator[list[str]]:
    start = 0
    while (end := text.find("\n", start + _PIECE)) >= 0:
        yield text[start:end].split("\n")
        start = end + 1
    yield text[start:].split("\n")


class RuleTable:
    """``name`` as "ip nat": family and table."""

    __slots__ = ("chains", "family", "name", "sets")

    def __init__(self, family: str, name: str) -> None:
        self.family = family
        self.name = f"{family} {name}"
        self.chains: dict[str, Chain] = {}
        self.sets: dict[str, Set] = {}


class Ruleset:
    """Every table of one dump, and its text so that a rule can be shown as it stands."""

    __slots__ = ("_lines", "base", "damaged", "not_understood", "tables", "text", "variant")

    def __init__(self, text: str, lines: Sequence[str] | None = None) -> None:
        self.text = text
        self.tables: dict[str, RuleTable] = {}
        self.base: dict[str, list[Chain]] = {}
        self.not_understood: list[tuple[int, str, str]] = []
        self.damaged: list[tuple[int, str, str]] = []
        self.variant = ""
        self._lines = lines

    def table(self, family: str, name: str) -> RuleTable:
        key = f"{family} {name}"
        found = self.tables.get(key)
        if found is None:
            found = self.tables[key] = RuleTable(family, name)
        return found

    def line(self, number: int) -> str:
        """The text of a line, without the white space around it."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines[number - 1].strip() if 0 < number <= len(self._lines) else ""

    def seal(self) -> None:
        """Sort the base chains by hook and priority, once all chains are known."""
        self.base = {}
        for table in self.tables.values():
            for chain in table.chains.values():
                if chain.hook:
                    self.base.setdefault(chain.hook, []).append(chain)
        for chains in self.base.values():
            chains.sort(key=lambda chain: chain.priority)


_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
is_ipv4 = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}").fullmatch
#: Matches an IPv4 address in canonical text and a port of up to five digits.
is_ipv4_and_port = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}:\d{{1,5}}").fullmatch


@contextmanager
def collector_paused() -> Iterator[None]:
    """Reading a big dump makes hundreds of thousands of objects and no garbage: the cyclic collector would go through
    all of them again and again, for a third of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@lru_cache(maxsize=65536)
def address_value(text: str) -> tuple[int, int] | None:
    """(version, number) of an address; None if it is none."""
    if is_ipv4(text) is not None:
        first, second, third, fourth = text.split(".")
        return 4, int(first) << 24 | int(second) << 16 | int(third) << 8 | int(fourth)
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return address.version, int(address)


@lru_cache(maxsize=65536)
def prefix_value(text: str) -> tuple[int, int, int] | None:
    """(version, first, last) of a prefix, an address or a range "a-b"; None if it is none."""
    try:
        if "-" in text:
            first, last = (ipaddress.ip_address(part) for part in text.split("-", 1))
            return first.version, int(first), int(last)
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    return network.version, int(network.network_address), int(network.broadcast_address)


def host_and_port(text: str) -> tuple[str, str] | None:
    """The halves of a DNAT destination as iptables and nft print it: ``10.1.2.3``, ``10.1.2.3:80``, ``fd00::1``,
    ``[fd00::1]:80``. The port is decimal, or "" where there is none; None if the text has no such form."""
    if text[:1] == "[":
        host, bracket, rest = text[1:].partition("]")
        port = rest[1:] if rest[:1] == ":" else ""
        if not bracket or (rest and not port):
            return None
    elif text.count(":") > 1:
        host, port = text, ""
    else:
        host, colon, port = text.partition(":")
        if colon and not port:
            return None
    return None if port and not port.isdecimal() else (host, port)
