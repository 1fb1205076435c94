"""The expressions of one rule in `nft -j` (libnftables-json(5): statements and expressions, schema version 1).

Read by their structure. The two rules of an endpoint chain, of which a big table has tens of thousands, are recognised
by their bytes first, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import intern
from typing import Any

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.nftables.selectors import META_FIELDS, make_match
from svcpath.models.dataplanes.nftables.statements import add_match, combine_mark
from svcpath.models.dataplanes.nftables.tokens import VERDICTS, UnknownStatement
from svcpath.models.dataplanes.ruleset import Match, Rule, address_value

_PROTOCOLS = {name.encode(): Match("protocol", (name,)) for name in ("tcp", "udp", "sctp")}
_SOURCE_HEAD = b'[{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "'
_SOURCE_MIDDLE = b'"}}, {"jump": {"target": "'
_TARGET_TAIL = b'"}}]'
_DNAT_HEAD = b'[{"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": "'
_DNAT_MIDDLE = b'"}}, {"dnat": {"addr": "'
_DNAT_PORT = b'", "port": '
_DNAT_TAIL = b"}}]"
_IGNORED = frozenset({"counter", "log", "comment"})
#: What the structure of an expression of another shape brings.
OTHER_SHAPE = (UnknownStatement, KeyError, TypeError, ValueError, AttributeError, IndexError)
_FIELDS = {
    ("ip", "saddr"): "source",
    ("ip", "daddr"): "destination",
    ("ip6", "saddr"): "source",
    ("ip6", "daddr"): "destination",
    ("ip", "protocol"): "protocol",
    ("ip6", "nexthdr"): "protocol",
}
_META = {**META_FIELDS, "nfproto": "other meta nfproto"}


def endpoint_rule(number: int, expression: bytes) -> Rule | None:
    """One of the two rules of an endpoint chain, recognised by its bytes; None: to be read as any other."""
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


def rules_of(number: int, expression: list[dict[str, Any]], comment: str, *, others: bool = False) -> list[Rule]:
    """One rule. Raises one of OTHER_SHAPE where it is not understood; with ``others`` it is read as ``statements`` does."""
    matches: list[Match] = []
    effects: list[tuple[str, Any]] = []
    for statement in expression:
        ((kind, value),) = statement.items()
        try:
            if kind == "match":
                add_match(matches, _match(value))
            elif kind not in _IGNORED and (effect := _effect(kind, value, matches)) is not None:
                effects.append(effect)
        except OTHER_SHAPE:
            if not others:
                raise
            _pass_over(kind, value, matches, effects)
    conditions = tuple(matches)
    if not effects:
        return [Rule(number, conditions, "continue", None, comment)]
    return [Rule(number, conditions, target, argument, comment) for target, argument in effects]


def _pass_over(kind: str, value: Any, matches: list[Match], effects: list[tuple[str, Any]]) -> None:
    """A statement of others that could not be read: a condition, a change that lets the packet go on, or neither."""
    if kind in ("match", "meter"):
        matches.append(Match("other", kind))
    elif kind == "mangle" and value.get("key") == {"meta": {"key": "mark"}}:
        restored = value.get("value") == {"ct": {"key": "mark"}}
        effects.append(("mark", (0xFFFFFFFF, 0)) if restored else ("opaque", kind))
    elif kind in ("mangle", "flow", "dup", "last", "secmark", "ct helper", "ct timeout", "ct expectation"):
        effects.append(("continue", None))
    else:
        effects.append(("opaque", kind))


def _effect(kind: str, value: Any, matches: list[Match]) -> tuple[str, Any] | None:
    if kind in VERDICTS:
        return VERDICTS[kind], None
    if kind in ("jump", "goto"):
        return kind, intern(value["target"])
    if kind in ("reject", "masquerade", "tproxy"):
        return kind, None
    if kind == "dnat":
        return "dnat", _destination(value)
    if kind == "redirect":
        port = value["port"] if value and "port" in value else 0
        return "redirect", int(port["range"][0] if isinstance(port, dict) else port)
    if kind == "snat":
        return "continue", None
    if kind == "vmap":
        return _vmap(value)
    if kind == "mangle":
        return _mangle(value)
    if kind == "set":
        if value.get("stmt"):
            matches.append(Match("other", "set with a limit"))
        return "remember", value["set"].lstrip("@")
    if kind in ("limit", "quota", "ct count"):
        matches.append(Match("other", kind))
        return None
    if kind == "xt":
        return _xt(value, matches)
    raise UnknownStatement(kind)


def _xt(value: Any, matches: list[Match]) -> tuple[str, Any] | None:
    name = value.get("name", "") if isinstance(value, dict) else ""
    if isinstance(value, dict) and value.get("type") == "match":
        if name == "recent":
            matches.append(Match("xt-recent", name))
        elif name not in ("comment", "nfacct", "tcp", "udp", "conntrack"):
            matches.append(Match("other", f"xt match {name}"))
        return None
    raise UnknownStatement(f"xt {name}")


def _destination(value: dict[str, Any]) -> tuple[str, int]:
    address, port = value["addr"], value.get("port", 0)
    if not isinstance(address, str) or address_value(address) is None or not 0 <= int(port) < 65536:
        raise UnknownStatement("dnat")
    return text_form(address), int(port)


def _vmap(value: dict[str, Any]) -> tuple[str, Any]:
    key, data = value["key"], value["data"]
    if isinstance(key, dict) and "numgen" in key:
        generator = key["numgen"]
        if generator.get("offset", 0) or not isinstance(data, dict) or int(generator["mod"]) < 1:
            raise UnknownStatement("numgen")
        choices: list[tuple[int, str, Any]] = []
        for index, verdict in data["set"]:
            choices.append((int(index), *verdict_of(verdict)))
        return "numgen", (int(generator["mod"]), tuple(choices), generator["mode"])
    fields = tuple(_fields(key))
    if isinstance(data, str):
        return "vmap", (fields, data.lstrip("@"))
    elements = [(tuple(texts_of(item[0])), *verdict_of(item[1])) for item in data["set"]]
    return "vmap", (fields, tuple(elements))


def verdict_of(value: dict[str, Any]) -> tuple[str, Any]:
    ((kind, argument),) = value.items()
    if kind in ("jump", "goto"):
        return kind, intern(argument["target"])
    if kind in VERDICTS or kind == "reject":
        return kind, None
    raise UnknownStatement(kind)


def _mangle(value: dict[str, Any]) -> tuple[str, Any]:
    key = value["key"]
    if key == {"meta": {"key": "nftrace"}}:
        return "continue", None
    if key != {"meta": {"key": "mark"}}:
        raise UnknownStatement("mangle")
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
        raise UnknownStatement("mark")
    return combine_mark(clear, xor, operator, int(right))


def _match(value: dict[str, Any]) -> Match:
    left, operator, right = value["left"], value["op"], value["right"]
    mask = None
    if isinstance(left, dict) and "&" in left:
        left, mask = left["&"]
        if not isinstance(mask, int):
            raise UnknownStatement("&")
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
        raise UnknownStatement(kind)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _values(item)
    elif isinstance(value, dict) and "set" in value:
        for item in value["set"]:
            yield from _values(item)
    else:
        yield " . ".join(texts_of(value))


def texts_of(value: Any) -> list[str]:
    """One value in nft's own spelling, one text per part of a concatenation."""
    if isinstance(value, str):
        return [text_form(value)]
    if isinstance(value, int):
        return [str(value)]
    if isinstance(value, dict):
        if "concat" in value:
            return [text for part in value["concat"] for text in texts_of(part)]
        if "prefix" in value:
            return [f"{value['prefix']['addr']}/{value['prefix']['len']}"]
        if "range" in value:
            low, high = value["range"]
            return [f"{texts_of(low)[0]}-{texts_of(high)[0]}"]
        if "elem" in value:
            return texts_of(value["elem"]["val"])
    raise UnknownStatement("value")
