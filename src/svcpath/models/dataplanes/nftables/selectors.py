"""What does a rule look at? Selectors of the packet, and what they are compared with.

nftables src/parser_bison.y: primary_expr, relational_expr, concat_expr. ``make_match`` is shared with the JSON form,
which brings the same parts.
"""

from __future__ import annotations

from svcpath.models.dataplanes.nftables.tokens import Tokens, UnknownStatement, integer
from svcpath.models.dataplanes.ruleset import Match, prefix_value

#: What a key of ``meta`` is called in a Match, in text and in JSON.
META_FIELDS = {
    "l4proto": "protocol",
    "mark": "mark",
    "random": "random",
    "iifname": "in-interface",
    "oifname": "out-interface",
    "iif": "in-interface",
    "oif": "out-interface",
}
_PORT_WORDS = frozenset({"tcp", "udp", "sctp", "th", "udplite", "dccp"})
_OPERATORS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_PROTOCOL_NUMBERS = {"6": "tcp", "17": "udp", "132": "sctp", "1": "icmp", "58": "ipv6-icmp"}
_SERVICES = {"domain": 53, "http": 80, "https": 443, "ssh": 22, "mysql": 3306, "postgresql": 5432}


def read_fields(word: str, tokens: Tokens) -> tuple[str, ...]:
    """``ip daddr . tcp dport``: the selectors, joined or one alone; ``word`` is the first."""
    fields = [_field(word, tokens)]
    while tokens.accept("."):
        fields.append(_field(tokens.next(), tokens))
    return tuple(fields)


def comparison(fields: tuple[str, ...], tokens: Tokens) -> Match:
    """``!= 10.0.0.0/8``, ``& 0x4000 == 0x4000``, ``{ 80, 443 }``, ``@name``"""
    if tokens.peek() == "set":
        raise UnknownStatement("set")  # a statement that changes the field: no comparison
    mask = None
    if tokens.peek() in ("&", "and"):
        tokens.next()
        mask = integer(tokens.next())
    operator = tokens.next() if tokens.peek() in _OPERATORS else "=="
    return make_match(fields, operator, _values(tokens), mask)


def _field(word: str, tokens: Tokens) -> str:
    """The name of one selector; ``word`` is its first word."""
    if word in ("iifname", "oifname", "iif", "oif"):
        return "in-interface" if word[0] == "i" else "out-interface"
    if word == "mark":
        return "mark"
    name = tokens.next()
    if name == "option":
        raise UnknownStatement(name)
    if word in ("ip", "ip6"):
        fields = {"saddr": "source", "daddr": "destination", "protocol": "protocol", "nexthdr": "protocol"}
        return fields.get(name, f"other {word} {name}")
    if word == "meta":
        return META_FIELDS.get(name, f"other meta {name}")
    if word in _PORT_WORDS:
        prefix = "" if word == "th" else f"{word} "
        return f"{prefix}{name}" if name in ("dport", "sport") else f"other {word} {name}"
    if word == "ct":
        return {"state": "ct-state", "status": "ct-status"}.get(name, f"other ct {name}")
    if word == "fib":
        keys = [name]
        while tokens.accept("."):
            keys.append(tokens.next())
        result = tokens.next()
        if result == "type" and keys[0] in ("daddr", "saddr"):
            return "destination-type" if keys[0] == "daddr" else "source-type"
        return f"other fib {' '.join(keys)} {result}"
    raise UnknownStatement(word)


def _values(tokens: Tokens) -> list[str]:
    if tokens.accept("{"):
        values = []
        while not tokens.accept("}"):
            word = tokens.next()
            if word == ",":
                continue
            while tokens.peek() == ".":
                tokens.next()
                word += f" . {tokens.next()}"
            values.append(word)
        return values
    values = [tokens.next()]
    while tokens.peek() == ",":
        tokens.next()
        values.append(tokens.next())
    return values


def make_match(fields: tuple[str, ...], operator: str, values: list[str], mask: int | None = None) -> Match:
    """A selection in the words of ``ruleset.Match``."""
    negated = operator == "!="
    if operator not in ("==", "!=") and fields != ("random",):
        return Match("other", f"{' . '.join(fields)} {operator} {' '.join(values)}")
    if len(values) == 1 and values[0][:1] == "@":
        return Match("in-set", (fields, values[0][1:]), negated)
    if len(fields) > 1:
        return Match("in", (fields, frozenset(tuple(value.split(" . ")) for value in values)), negated)
    kind = fields[0]
    if kind in ("source", "destination"):
        for value in values:
            if prefix_value(value) is None:
                raise UnknownStatement(value)
        return Match(kind, values[0] if len(values) == 1 else tuple(values), negated)
    if kind == "protocol":
        return Match(kind, tuple(_PROTOCOL_NUMBERS.get(value, value) for value in values), negated)
    if kind.endswith(("dport", "sport")):
        match = Match(kind[-5:], tuple(port_range(value) for value in values), negated)
        return match if " " not in kind else Match("with-protocol", (kind.split(" ")[0], match))
    if kind in ("source-type", "destination-type"):
        return Match(kind, tuple(value.upper() for value in values), negated)
    if kind in ("ct-state", "ct-status"):
        return Match(kind, frozenset(values), negated)
    if kind == "mark":
        return Match(kind, (integer(values[0]), 0xFFFFFFFF if mask is None else mask), negated)
    if kind == "random" and operator == "<" and mask is not None:
        return Match("probability", integer(values[0]) / (mask + 1))
    if kind in ("in-interface", "out-interface"):
        names = tuple(value.strip('"') for value in values)
        return Match(kind, names[0] if len(names) == 1 else names, negated)
    if kind == "other meta nfproto":
        return Match("family", tuple(values), negated)
    return Match("other", f"{kind} {operator} {' '.join(values)}")


def port_range(text: str) -> tuple[int, int]:
    """(low, high) of ``80``, ``8000-8080`` or ``http``."""
    low, dash, high = text.partition("-")
    low = str(_SERVICES.get(low, low))
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise UnknownStatement(text)
    return int(low), int(high) if dash else int(low)
