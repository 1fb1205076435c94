"""`nft -j list ruleset` as netfilter rules (libnftables-json(5), schema version 1).

A line number here is the place of the object in the ``nftables`` array, counted from 1: nft prints all of it on one
line. Expressions are read by their structure; the two rules of an endpoint chain, of which a big table has tens of
thousands, are recognised by their bytes first, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import intern
from typing import Any, overload

import msgspec

from svcpath.errors import FormatError
from svcpath.models.dataplanes.nft_statements import Unknown, add_match, combine_mark, make_match
from svcpath.models.dataplanes.nftables import check_targets
from svcpath.models.dataplanes.ruleset import (
    Chain,
    Element,
    Match,
    Rule,
    Ruleset,
    Set,
    address_value,
    canonical,
    collector_paused,
)

_EMPTY = msgspec.Raw(b"[]")
_PROTOCOLS = {name.encode(): Match("protocol", (name,)) for name in ("tcp", "udp", "sctp")}
_SOURCE_HEAD = b'[{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "'
_SOURCE_MIDDLE = b'"}}, {"jump": {"target": "'
_TARGET_TAIL = b'"}}]'
_DNAT_HEAD = b'[{"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": "'
_DNAT_MIDDLE = b'"}}, {"dnat": {"addr": "'
_DNAT_PORT = b'", "port": '
_DNAT_TAIL = b"}}]"
_NO_ARGUMENT = {"accept": "accept", "drop": "drop", "return": "return", "notrack": "notrack", "continue": "continue"}
_IGNORED = frozenset({"counter", "log", "quota", "comment", "ct count"})
_FIELDS = {
    ("ip", "saddr"): "source",
    ("ip", "daddr"): "destination",
    ("ip6", "saddr"): "source",
    ("ip6", "daddr"): "destination",
    ("ip", "protocol"): "protocol",
    ("ip6", "nexthdr"): "protocol",
}
_META = {
    "l4proto": "protocol",
    "mark": "mark",
    "random": "random",
    "iifname": "in-interface",
    "oifname": "out-interface",
    "iif": "in-interface",
    "oif": "out-interface",
    "nfproto": "other meta nfproto",
}


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
        elif item.metainfo is None:
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
    quick = _endpoint_rule(number, expression)
    if quick is not None:
        chain.rules.append(quick)
        return
    try:
        chain.rules.extend(_rules_of(number, msgspec.json.decode(expression), item.comment))
    except (Unknown, KeyError, TypeError, IndexError, ValueError, AttributeError):
        # An expression of another shape than the schema of this version has: kept, and said so.
        shown = rules.line(number)
        rules.not_understood.append((number, shown, chain.name))
        chain.rules.append(Rule(number, (Match("opaque", shown),), "opaque", shown))


def _endpoint_rule(number: int, expression: bytes) -> Rule | None:
    if expression.startswith(_SOURCE_HEAD):
        head, middle, tail = expression[len(_SOURCE_HEAD) :].partition(_SOURCE_MIDDLE)
        if middle and tail.endswith(_TARGET_TAIL) and b'"' not in (name := tail[: -len(_TARGET_TAIL)]):
            address = head.decode("ascii", "replace")
            if address_value(address) is not None:
                return Rule(number, (Match("source", address),), "jump", intern(name.decode("utf-8", "replace")))
    elif expression.startswith(_DNAT_HEAD):
        protocol, middle, tail = expression[len(_DNAT_HEAD) :].partition(_DNAT_MIDDLE)
        match = _PROTOCOLS.get(protocol)
        address_bytes, port_key, port = tail.partition(_DNAT_PORT)
        if match is not None and middle and port_key and port.endswith(_DNAT_TAIL):
            digits = port[: -len(_DNAT_TAIL)]
            address = address_bytes.decode("ascii", "replace")
            if digits.isdigit() and address_value(address) is not None:
                return Rule(number, (match,), "dnat", (address, int(digits)))
    return None


def _rules_of(number: int, expression: list[dict[str, Any]], comment: str) -> list[Rule]:
    matches: list[Match] = []
    effects: list[tuple[str, Any]] = []
    for statement in expression:
        ((kind, value),) = statement.items()
        if kind == "match":
            add_match(matches, _match(value))
        elif kind not in _IGNORED:
            effect = _effect(kind, value, matches)
            if effect is not None:
                effects.append(effect)
    held = tuple(matches)
    if not effects:
        return [Rule(number, held, "continue", None, comment)]
    return [Rule(number, held, target, argument, comment) for target, argument in effects]


def _effect(kind: str, value: Any, matches: list[Match]) -> tuple[str, Any] | None:
    if kind in _NO_ARGUMENT:
        return _NO_ARGUMENT[kind], None
    if kind in ("jump", "goto"):
        return kind, intern(value["target"])
    if kind in ("reject", "masquerade", "tproxy"):
        return kind, None
    if kind == "dnat":
        return "dnat", _destination(value)
    if kind == "redirect":
        return "redirect", int(value["port"]) if value and "port" in value else 0
    if kind == "snat":
        return "continue", None
    if kind == "vmap":
        return _vmap(value)
    if kind == "mangle":
        return _mangle(value)
    if kind == "set":
        return "remember", value["set"].lstrip("@")
    if kind == "limit":
        matches.append(Match("other", "limit"))
        return None
    if kind == "xt":
        return _xt(value, matches)
    raise Unknown(kind)


def _xt(value: Any, matches: list[Match]) -> tuple[str, Any] | None:
    name = value.get("name", "") if isinstance(value, dict) else ""
    if isinstance(value, dict) and value.get("type") == "match":
        if name == "recent":
            matches.append(Match("xt-recent", name))
        elif name not in ("comment", "nfacct", "tcp", "udp", "conntrack"):
            matches.append(Match("other", f"xt match {name}"))
        return None
    raise Unknown(f"xt {name}")


def _destination(value: dict[str, Any]) -> tuple[str, int]:
    address, port = value["addr"], value.get("port", 0)
    if not isinstance(address, str) or address_value(address) is None or not 0 <= int(port) < 65536:
        raise Unknown("dnat")
    return canonical(address), int(port)


def _vmap(value: dict[str, Any]) -> tuple[str, Any]:
    key, data = value["key"], value["data"]
    if isinstance(key, dict) and "numgen" in key:
        generator = key["numgen"]
        if generator.get("offset", 0) or not isinstance(data, dict) or int(generator["mod"]) < 1:
            raise Unknown("numgen")
        choices: list[tuple[int, str, Any]] = []
        for index, verdict in data["set"]:
            choices.append((int(index), *_verdict(verdict)))
        return "numgen", (int(generator["mod"]), tuple(choices), generator["mode"])
    fields = tuple(_fields(key))
    if isinstance(data, str):
        return "vmap", (fields, data.lstrip("@"))
    held = [(tuple(_texts(item[0])), *_verdict(item[1])) for item in data["set"]]
    return "vmap", (fields, tuple(held))


def _verdict(value: dict[str, Any]) -> tuple[str, Any]:
    ((kind, argument),) = value.items()
    if kind in ("jump", "goto"):
        return kind, intern(argument["target"])
    if kind in _NO_ARGUMENT or kind == "reject":
        return kind, None
    raise Unknown(kind)


def _mangle(value: dict[str, Any]) -> tuple[str, Any]:
    key = value["key"]
    if key == {"meta": {"key": "nftrace"}}:
        return "continue", None
    if key != {"meta": {"key": "mark"}}:
        raise Unknown("mangle")
    return "mark", _mark(value["value"])


def _mark(value: Any) -> tuple[int, int]:
    """(mask to clear, value to xor) of a nested expression such as {"|": [{"meta": ...}, 16384]}."""
    if isinstance(value, int):
        return 0xFFFFFFFF, value
    if value == {"meta": {"key": "mark"}}:
        return 0, 0
    ((operator, (left, right)),) = value.items()
    clear, xor = _mark(left)
    if operator not in ("|", "&", "^"):
        raise Unknown("mark")
    return combine_mark(clear, xor, operator, int(right))


def _match(value: dict[str, Any]) -> Match:
    left, operator, right = value["left"], value["op"], value["right"]
    mask = None
    if isinstance(left, dict) and "&" in left:
        left, mask = left["&"]
        if not isinstance(mask, int):
            raise Unknown("&")
    fields = tuple(_fields(left))
    return make_match(fields, "==" if operator == "in" else operator, list(_values(right)), mask)


def _fields(key: Any) -> Iterator[str]:
    ((kind, value),) = key.items()
    if kind == "concat":
        for part in value:
            yield from _fields(part)
    elif kind == "payload":
        protocol, field = value["protocol"], value["field"]
        name = _FIELDS.get((protocol, field))
        if name is None:
            name = field if protocol == "th" else f"{protocol} {field}"
            if field not in ("dport", "sport"):
                name = f"other {protocol} {field}"
        yield name
    elif kind == "meta":
        yield _META.get(value["key"], f"other meta {value['key']}")
    elif kind == "ct":
        yield {"state": "ct-state", "status": "ct-status"}.get(value["key"], f"other ct {value['key']}")
    elif kind == "fib":
        flags = value["flags"] if isinstance(value["flags"], list) else [value["flags"]]
        if value["result"] == "type" and flags and flags[0] in ("daddr", "saddr"):
            yield "destination-type" if flags[0] == "daddr" else "source-type"
        else:
            yield f"other fib {' '.join(flags)} {value['result']}"
    else:
        raise Unknown(kind)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _values(item)
    elif isinstance(value, dict) and "set" in value:
        for item in value["set"]:
            yield from _values(item)
    else:
        yield " . ".join(_texts(value))


def _texts(value: Any) -> list[str]:
    """One value in nft's own spelling, one text per part of a concatenation."""
    if isinstance(value, str):
        return [canonical(value)]
    if isinstance(value, int):
        return [str(value)]
    if isinstance(value, dict):
        if "concat" in value:
            return [text for part in value["concat"] for text in _texts(part)]
        if "prefix" in value:
            return [f"{value['prefix']['addr']}/{value['prefix']['len']}"]
        if "range" in value:
            low, high = value["range"]
            return [f"{_texts(low)[0]}-{_texts(high)[0]}"]
        if "elem" in value:
            return _texts(value["elem"]["val"])
    raise Unknown("value")


def _add_set(rules: Ruleset, number: int, item: _Set, *, is_map: bool) -> None:
    table = rules.table(item.family, item.table)
    held = table.sets[item.name] = Set(table.name, item.name, number, is_map=is_map)
    held.flags = frozenset([item.flags] if isinstance(item.flags, str) else item.flags or ())
    held.timeout, held.comment = item.timeout, item.comment
    for element in item.elem or ():
        try:
            key_value, verdict = element if is_map else (element, {"continue": None})
            key = tuple(_texts(key_value))
            comment = ""
            if isinstance(key_value, dict) and "elem" in key_value:
                comment = str(key_value["elem"].get("comment", ""))
            target, argument = _verdict(verdict)
        except (Unknown, KeyError, TypeError, IndexError, ValueError, AttributeError):
            shown = msgspec.json.encode(element).decode()
            rules.not_understood.append((number, shown, item.name))
            continue
        if len(key) == 1 and ("/" in key[0] or "-" in key[0]):
            held.prefixes.append((key[0], number))
        held.elements[key] = Element(target, argument, number, comment)
