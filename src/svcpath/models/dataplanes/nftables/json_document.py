"""`nft -j list ruleset` as netfilter rules: the objects of the document (libnftables-json(5), schema version 1).

A line number here is the place of the object in the ``nftables`` array, counted from 1: nft prints all of it on one
line.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import intern
from typing import Any, overload

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.netfilter.ownership import is_own
from svcpath.models.dataplanes.nftables.json_expressions import (
    OTHER_SHAPE,
    endpoint_rule,
    rules_of,
    texts_of,
    verdict_of,
)
from svcpath.models.dataplanes.nftables.listing import check_targets
from svcpath.models.dataplanes.ruleset import Chain, Element, Match, Rule, Ruleset, Set, collector_paused, is_opaque

_EMPTY = msgspec.Raw(b"[]")
#: What an expression of another shape than the schema of this version has brings: it is kept, and said so.


class _Rule(msgspec.Struct):
    family: str = "ip"
    table: str = ""
    chain: str = ""
    comment: str = ""
    expr: msgspec.Raw = _EMPTY


class _Chain(msgspec.Struct):
    family: str = "ip"
    table: str = ""
    name: str = ""
    type: str = ""
    hook: str = ""
    prio: int = 0
    policy: str = "accept"


class _Set(msgspec.Struct):
    family: str = "ip"
    table: str = ""
    name: str = ""
    comment: str = ""
    flags: list[str] | str | None = None
    timeout: int | None = None
    elem: list[Any] | None = None


class _Table(msgspec.Struct):
    family: str = "ip"
    name: str = ""


class _Item(msgspec.Struct):
    """One object of the array: exactly one of these is set, or none for a kind without interest."""

    table: _Table | None = None
    chain: _Chain | None = None
    set: _Set | None = None
    map: _Set | None = None
    rule: _Rule | None = None
    element: Any = None
    metainfo: Any = None
    counter: Any = None
    quota: Any = None
    limit: Any = None
    synproxy: Any = None
    secmark: Any = None
    flowtable: Any = None
    helper: Any = msgspec.field(default=None, name="ct helper")
    time: Any = msgspec.field(default=None, name="ct timeout")
    expectation: Any = msgspec.field(default=None, name="ct expectation")

    @property
    def named(self) -> bool:
        """A named object, which rules speak of and no packet meets by itself."""
        kinds = (self.counter, self.quota, self.limit, self.synproxy, self.secmark, self.flowtable)
        return any(kind is not None for kind in (*kinds, self.helper, self.time, self.expectation))


class _Document(msgspec.Struct):
    nftables: list[_Item]


class _Lines(Sequence[str]):
    """The objects as text, decoded when one is asked for."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._items: list[msgspec.Raw] | None = None

    def _held(self) -> list[msgspec.Raw]:
        if self._items is None:
            self._items = msgspec.json.decode(self._data, type=dict[str, list[msgspec.Raw]]).get("nftables", [])
        return self._items

    def __len__(self) -> int:
        return len(self._held())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [bytes(item).decode("utf-8", "replace") for item in self._held()[place]]
        return bytes(self._held()[place]).decode("utf-8", "replace")


_DECODER = msgspec.json.Decoder(_Document)


def parse(text: str) -> Ruleset:
    """Read `nft -j list ruleset` or `nft -j list table`.

    Raises FormatError for text that is no JSON of nft, with the byte where it breaks where known.
    """
    data = text.encode("utf-8", "surrogatepass")
    try:
        document = _DECODER.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"no JSON of nft: {error}; give the output of nft -j list ruleset", line=1) from error
    rules = Ruleset(text, _Lines(data))
    with collector_paused():
        _read(rules, document)
        if not rules.tables:
            raise FormatError("no table in it: give the output of nft -j list ruleset", line=1)
        rules.seal()
        check_targets(rules)
    return rules


def _read(rules: Ruleset, document: _Document) -> None:
    for number, item in enumerate(document.nftables, 1):
        rule = item.rule
        if rule is not None:
            _add_rule(rules, number, rule)
        elif item.chain is not None:
            _add_chain(rules, number, item.chain)
        elif item.set is not None:
            _add_set(rules, number, item.set, is_map=False)
        elif item.map is not None:
            _add_set(rules, number, item.map, is_map=True)
        elif item.table is not None:
            rules.table(item.table.family, item.table.name)
        elif item.metainfo is None and not item.named:
            rules.damaged.append((number, rules.line(number), ""))


def _add_chain(rules: Ruleset, number: int, item: _Chain) -> None:
    table = rules.table(item.family, item.table)
    name = intern(item.name)
    chain = table.chains.get(name)
    if chain is None:
        chain = table.chains[name] = Chain(table.name, name, number)
    chain.declared = True
    chain.line = number
    chain.hook, chain.type, chain.priority, chain.policy = item.hook, item.type, item.prio, item.policy


def _add_rule(rules: Ruleset, number: int, item: _Rule) -> None:
    table = rules.tables.get(f"{item.family} {item.table}")
    if table is None:
        table = rules.table(item.family, item.table)
    chain = table.chains.get(item.chain)
    if chain is None:
        rules.damaged.append((number, f"no chain {item.chain}", item.chain))
        chain = table.chains[item.chain] = Chain(table.name, item.chain, number, declared=False)
    expression = bytes(item.expr)
    quick = endpoint_rule(number, expression)
    if quick is not None:
        chain.rules.append(quick)
        return
    try:
        found = rules_of(number, msgspec.json.decode(expression), item.comment, others=not is_own(chain))
    except OTHER_SHAPE:
        shown = rules.line(number)
        rules.not_understood.append((number, shown, chain.name))
        found = [Rule(number, (Match("opaque", shown),), "opaque", shown)]
    else:
        if is_opaque(found):
            rules.not_understood.append((number, rules.line(number), chain.name))
    chain.rules.extend(found)


def _add_set(rules: Ruleset, number: int, item: _Set, *, is_map: bool) -> None:
    table = rules.table(item.family, item.table)
    set_ = table.sets[item.name] = Set(table.name, item.name, number, is_map=is_map)
    set_.flags = frozenset([item.flags] if isinstance(item.flags, str) else item.flags or ())
    set_.timeout, set_.comment = item.timeout, item.comment
    for element in item.elem or ():
        try:
            key_value, verdict = element if is_map else (element, {"continue": None})
            key = tuple(texts_of(key_value))
            comment = ""
            if isinstance(key_value, dict) and "elem" in key_value:
                comment = str(key_value["elem"].get("comment", ""))
            target, argument = verdict_of(verdict)
        except OTHER_SHAPE:
            shown = msgspec.json.encode(element).decode()
            rules.not_understood.append((number, shown, item.name))
            continue
        if len(key) == 1 and ("/" in key[0] or "-" in key[0]):
            set_.prefixes.append((key[0], number))
        set_.elements[key] = Element(target, argument, number, comment)
