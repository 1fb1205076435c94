"""The statements of one nftables rule, and the elements of sets and maps.

Kept apart from the reading of blocks because this is nft's expression grammar (nftables src/parser_bison.y: rule, stmt,
expr) and nothing else; `nft -j` has a grammar of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import intern
from typing import Any

from svcpath.models.dataplanes.ruleset import Element, Match, Rule, address_value, canonical, prefix_value

_TOKEN = re.compile(r'"[^"]*"|[{},]|[^\s{},"]+')
_DURATION = re.compile(r"(\d+)(ms|[wdhms])")
_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_VERDICTS = {"accept": "accept", "drop": "drop", "return": "return", "notrack": "notrack", "continue": "continue"}
_PORT_WORDS = frozenset({"tcp", "udp", "sctp", "th", "udplite", "dccp"})
_OPERATORS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_PROTOCOL_NUMBERS = {"6": "tcp", "17": "udp", "132": "sctp", "1": "icmp", "58": "ipv6-icmp"}
_SERVICES = {"domain": 53, "http": 80, "https": 443, "ssh": 22, "mysql": 3306, "postgresql": 5432}
#: Statements that only count, log or tag: what follows them decides.
_OTHER_MATCHES = frozenset(
    {"limit", "icmp", "icmpv6", "ether", "socket", "osf", "exthdr", "vlan", "arp", "rt", "ipsec"}
)


class Unknown(Exception):
    """A statement that is not understood."""


def seconds(text: str) -> int:
    """``3h``, ``2h59m58s``, ``120s``; also a bare number of seconds."""
    if text.isdecimal():
        return int(text)
    return int(sum(int(number) * _UNITS[unit] for number, unit in _DURATION.findall(text)))


class _Tokens:
    __slots__ = ("items", "place")

    def __init__(self, text: str) -> None:
        if text.count('"') & 1:
            raise Unknown(text)
        self.items: list[str] = _TOKEN.findall(text)
        self.place = 0

    def peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.items[place] if place < len(self.items) else ""

    def next(self) -> str:
        if self.place >= len(self.items):
            raise Unknown("ends early")
        self.place += 1
        return self.items[self.place - 1]

    def accept(self, word: str) -> bool:
        if self.peek() == word:
            self.place += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise Unknown(word)


def rules_of(line: int, text: str) -> list[Rule]:
    """One printed rule. More than one comes back when it changes something and goes on (a mark, then a jump)."""
    tokens = _Tokens(text)
    matches: list[Match] = []
    effects: list[tuple[str, Any]] = []
    comment = ""
    while tokens.peek():
        word = tokens.next()
        if word == "comment":
            comment = tokens.next().strip('"')
        elif word == "counter":
            if tokens.accept("packets"):
                _skip_counts(tokens)
            elif tokens.accept("name"):
                tokens.next()
        elif (effect := _effect(word, tokens)) is not None:
            effects.append(effect)
        else:
            found = _match(word, tokens, effects)
            if found is not None:
                add_match(matches, found)
    held = tuple(matches)
    if not effects:
        return [Rule(line, held, "continue", None, comment)]
    return [Rule(line, held, target, argument, comment) for target, argument in effects]


def _skip_counts(tokens: _Tokens) -> None:
    """``12 bytes 840``"""
    tokens.next()
    tokens.expect("bytes")
    tokens.next()


def add_match(matches: list[Match], found: Match) -> None:
    """``tcp dport 80`` says two things: the protocol, and its port."""
    if found.kind == "with-protocol" and not found.value[1].negated:
        protocol = Match("protocol", (found.value[0],))
        if protocol not in matches:
            matches.append(protocol)
        matches.append(found.value[1])
    else:
        matches.append(found)


def _effect(word: str, tokens: _Tokens) -> tuple[str, Any] | None:
    if word in _VERDICTS:
        return _VERDICTS[word], None
    if word in ("jump", "goto"):
        return word, intern(tokens.next())
    if word == "reject":
        if tokens.accept("with"):
            tokens.next()
            while tokens.peek() and tokens.peek() != "comment":
                tokens.next()
        return "reject", None
    if word == "masquerade":
        if tokens.accept("to"):
            tokens.next()
        _nat_flags(tokens)
        return "masquerade", None
    if word == "dnat":
        return _dnat(tokens)
    if word == "snat":
        while tokens.peek() and tokens.peek() != "comment":
            tokens.next()
        return "continue", None
    if word == "redirect":
        port = "0"
        if tokens.accept("to"):
            port = tokens.next().lstrip(":").partition("-")[0]
        _nat_flags(tokens)
        if not port.isdecimal():
            raise Unknown(word)
        return "redirect", int(port)
    if word == "tproxy":
        while tokens.peek() and tokens.peek() not in ("comment", "accept", "meta"):
            tokens.next()
        return "tproxy", None
    if word in ("update", "add") and tokens.peek()[:1] == "@":
        name = tokens.next()[1:]
        tokens.expect("{")
        while not tokens.accept("}"):
            tokens.next()
        return "remember", name
    if word == "log":
        while tokens.peek() in ("prefix", "group", "level", "flags", "snaplen", "queue-threshold"):
            tokens.next()
            tokens.next()
        return "continue", None
    return None


def _nat_flags(tokens: _Tokens) -> None:
    while tokens.peek() in ("random", "fully-random", "persistent", ","):
        tokens.next()


def _dnat(tokens: _Tokens) -> tuple[str, Any]:
    if tokens.peek() in ("ip", "ip6"):
        tokens.next()
    tokens.expect("to")
    value = tokens.next()
    _nat_flags(tokens)
    return "dnat", host_and_port(value)


def host_and_port(value: str) -> tuple[str, int]:
    """``10.1.2.3:80``, ``[fd00::1]:80``, or either without a port."""
    if value[:1] == "[":
        host, bracket, rest = value[1:].partition("]")
        port = rest[1:] if rest[:1] == ":" else ""
        if not bracket or (rest and not port):
            raise Unknown(value)
    elif value.count(":") > 1:
        host, port = value, ""
    else:
        host, colon, port = value.partition(":")
        if colon and not port:
            raise Unknown(value)
    if (port and not port.isdecimal()) or int(port or 0) > 65535 or address_value(host) is None:
        raise Unknown(value)
    return canonical(host), int(port or 0)


def _match(word: str, tokens: _Tokens, effects: list[tuple[str, Any]]) -> Match | None:
    """A match, or None when the statement turned out to set something (then it is in ``effects``)."""
    if word in (
        "ip",
        "ip6",
        "meta",
        "th",
        "tcp",
        "udp",
        "sctp",
        "fib",
        "ct",
        "mark",
        "iifname",
        "oifname",
        "iif",
        "oif",
    ):
        if word == "meta" and tokens.peek() == "mark" and tokens.peek(1) == "set":
            tokens.next()
            tokens.next()
            effects.append(("mark", _mark_value(tokens)))
            return None
        if word == "meta" and tokens.peek() == "nftrace":
            for _ in range(3):
                tokens.next()
            return None
        if word == "ct" and tokens.peek() == "mark" and tokens.peek(1) == "set":
            raise Unknown("ct mark set")
        return _selection(word, tokens, effects)
    if word == "numgen":
        effects.append(_numgen(tokens))
        return None
    if word == "xt":
        return _xt(tokens, effects)
    if word in _OTHER_MATCHES:
        return _other(word, tokens)
    raise Unknown(word)


def _other(word: str, tokens: _Tokens) -> Match:
    """A match whose truth addresses and ports don't decide: kept as text up to the next verdict."""
    held = [word]
    while tokens.peek() and tokens.peek() not in ("counter", "comment", "jump", "goto", "reject", *_VERDICTS):
        held.append(tokens.next())
    return Match("other", " ".join(held))


def _xt(tokens: _Tokens, effects: list[tuple[str, Any]]) -> Match | None:
    """``xt match "recent"``: what nft prints for an extension of iptables that it can't put in words."""
    kind = tokens.next()
    name = tokens.next().strip('"')
    if kind == "match" and name == "recent":
        # Whether it remembers or recalls is not printed: in front of a translation it remembers.
        return Match("xt-recent", name)
    if kind == "match" and name in ("comment", "nfacct", "tcp", "udp", "conntrack"):
        return None
    if kind == "match":
        return Match("other", f"xt match {name}")
    if name in ("LOG", "NFLOG", "TRACE", "TCPMSS", "CHECKSUM", "CONNMARK"):
        effects.append(("continue", None))
        return None
    raise Unknown(f"xt target {name}")


def _field(word: str, tokens: _Tokens) -> str:
    """The name of one selector; ``word`` is its first word."""
    if word in ("iifname", "oifname", "iif", "oif"):
        return "in-interface" if word[0] == "i" else "out-interface"
    if word == "mark":
        return "mark"
    name = tokens.next()
    if word in ("ip", "ip6"):
        fields = {"saddr": "source", "daddr": "destination", "protocol": "protocol", "nexthdr": "protocol"}
        return fields.get(name, f"other {word} {name}")
    if word == "meta":
        fields = {
            "l4proto": "protocol",
            "mark": "mark",
            "random": "random",
            "iifname": "in-interface",
            "oifname": "out-interface",
            "iif": "in-interface",
            "oif": "out-interface",
        }
        return fields.get(name, f"other meta {name}")
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
    raise Unknown(word)


def _selection(word: str, tokens: _Tokens, effects: list[tuple[str, Any]]) -> Match | None:
    fields = [_field(word, tokens)]
    while tokens.accept("."):
        fields.append(_field(tokens.next(), tokens))
    if tokens.accept("vmap"):
        effects.append(("vmap", (tuple(fields), _map_argument(tokens))))
        return None
    mask = None
    if tokens.peek() in ("&", "and"):
        tokens.next()
        mask = _integer(tokens.next())
    operator = tokens.next() if tokens.peek() in _OPERATORS else "=="
    values = _values(tokens)
    return make_match(tuple(fields), operator, values, mask)


def _integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise Unknown(text) from None


def _values(tokens: _Tokens) -> list[str]:
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
    """A selection in the words of ``ruleset.Match``; shared with the JSON form, which brings the same parts."""
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
                raise Unknown(value)
        return Match(kind, values[0] if len(values) == 1 else tuple(values), negated)
    if kind == "protocol":
        return Match(kind, tuple(_PROTOCOL_NUMBERS.get(value, value) for value in values), negated)
    if kind.endswith(("dport", "sport")):
        match = Match(kind[-5:], tuple(_port_range(value) for value in values), negated)
        return match if " " not in kind else Match("with-protocol", (kind.split(" ")[0], match))
    if kind in ("source-type", "destination-type"):
        return Match(kind, tuple(value.upper() for value in values), negated)
    if kind in ("ct-state", "ct-status"):
        return Match(kind, frozenset(values), negated)
    if kind == "mark":
        return Match(kind, (_integer(values[0]), 0xFFFFFFFF if mask is None else mask), negated)
    if kind == "random" and operator == "<" and mask is not None:
        return Match("probability", _integer(values[0]) / (mask + 1))
    if kind in ("in-interface", "out-interface"):
        names = tuple(value.strip('"') for value in values)
        return Match(kind, names[0] if len(names) == 1 else names, negated)
    if kind == "other meta nfproto":
        return Match("family", tuple(values), negated)
    return Match("other", f"{kind} {operator} {' '.join(values)}")


def _port_range(text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    low = str(_SERVICES.get(low, low))
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise Unknown(text)
    return int(low), int(high) if dash else int(low)


def _mark_value(tokens: _Tokens) -> tuple[int, int]:
    """(mask to clear, value to xor), as ruleset's ``mark``."""
    first = tokens.next()
    if first not in ("mark", "meta"):
        return 0xFFFFFFFF, _integer(first)
    if first == "meta":
        tokens.expect("mark")
    clear, xor = 0, 0
    while tokens.peek() in ("|", "or", "&", "and", "^", "xor"):
        operator = tokens.next()
        clear, xor = combine_mark(clear, xor, operator, _integer(tokens.next()))
    return clear, xor


def combine_mark(clear: int, xor: int, operator: str, number: int) -> tuple[int, int]:
    if operator in ("|", "or"):
        return clear | number, (xor & ~number) | number
    if operator in ("&", "and"):
        return clear | (~number & 0xFFFFFFFF), xor & number
    return clear, xor ^ number


def _verdict(tokens: _Tokens) -> tuple[str, Any]:
    word = tokens.next()
    if word in ("jump", "goto"):
        return word, intern(tokens.next())
    if word in _VERDICTS or word == "reject":
        return word, None
    raise Unknown(word)


def _map_argument(tokens: _Tokens) -> str | tuple[tuple[tuple[str, ...], str, Any], ...]:
    """``@name``, or the anonymous map itself."""
    if tokens.peek()[:1] == "@":
        return tokens.next()[1:]
    tokens.expect("{")
    held = []
    while not tokens.accept("}"):
        if tokens.accept(","):
            continue
        key = [tokens.next()]
        while tokens.accept("."):
            key.append(tokens.next())
        tokens.expect(":")
        held.append((tuple(key), *_verdict(tokens)))
    return tuple(held)


def _numgen(tokens: _Tokens) -> tuple[str, Any]:
    mode = tokens.next()
    tokens.expect("mod")
    modulus = _integer(tokens.next())
    offset = _integer(tokens.next()) if tokens.accept("offset") else 0
    if mode not in ("random", "inc") or not tokens.accept("vmap") or modulus < 1 or offset:
        raise Unknown("numgen")
    held = _map_argument(tokens)
    if isinstance(held, str):
        raise Unknown("numgen")
    choices: list[tuple[int, str, Any]] = []
    for key, verb, argument in held:
        low, high = _port_range(key[0])
        choices.extend((index, verb, argument) for index in range(low, min(high, modulus) + 1))
    return "numgen", (modulus, tuple(choices), mode)


def elements(text: str, line: int, *, is_map: bool) -> Iterator[tuple[tuple[str, ...], Element]]:
    """Elements as they stand on one printed line, comma after comma."""
    tokens = _Tokens(text)
    while tokens.peek():
        if tokens.accept(","):
            continue
        key = [canonical(tokens.next())]
        comment = ""
        while tokens.accept("."):
            key.append(canonical(tokens.next()))
        while tokens.peek() in ("comment", "timeout", "expires", "counter"):
            word = tokens.next()
            if word == "comment":
                comment = tokens.next().strip('"')
            elif word == "counter":
                if tokens.accept("packets"):
                    _skip_counts(tokens)
            else:
                tokens.next()
        if is_map and not tokens.peek():
            raise Unknown(text)
        target: tuple[str, Any] = ("continue", None)
        if tokens.accept(":"):
            target = _verdict(tokens)
        elif is_map:
            raise Unknown(text)
        yield tuple(key), Element(target[0], target[1], line, comment)
