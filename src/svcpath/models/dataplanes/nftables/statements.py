"""The statements of one nftables rule: what it matches, and what it does.

Kept apart from the reading of blocks because this is nft's expression grammar (nftables src/parser_bison.y: rule, stmt)
and nothing else; `nft -j` has a grammar of its own.
"""

from __future__ import annotations

from sys import intern
from typing import Any

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.nftables.maps import map_argument, numgen
from svcpath.models.dataplanes.nftables.others import pass_over
from svcpath.models.dataplanes.nftables.selectors import comparison, read_fields
from svcpath.models.dataplanes.nftables.tokens import VERDICTS, Tokens, UnknownStatement, integer, skip_counts
from svcpath.models.dataplanes.ruleset import Match, Rule, address_value, host_and_port

#: Statements that only count, log or tag: what follows them decides.
_OTHER_MATCHES = frozenset(
    {"limit", "icmp", "icmpv6", "ether", "socket", "osf", "exthdr", "vlan", "arp", "rt", "ipsec"}
)


def rules_of(line: int, text: str, *, others: bool = False) -> list[Rule]:
    """One printed rule. More than one comes back when it changes something and goes on (a mark, then a jump).

    ``others``: the rule is none of kube-proxy's; a part of it that is not known is passed over (see ``others``), and what
    it does with the packet is read all the same. Raises UnknownStatement for a rule that can't be read.
    """
    tokens = Tokens(text)
    matches: list[Match] = []
    effects: list[tuple[str, Any]] = []
    comment = ""
    while tokens.peek():
        place = tokens.place
        try:
            comment = _statement(tokens, matches, effects) or comment
        except UnknownStatement:
            if not others:
                raise
            tokens.place = place
            pass_over(tokens, matches, effects)
    conditions = tuple(matches)
    if not effects:
        return [Rule(line, conditions, "continue", None, comment)]
    return [Rule(line, conditions, target, argument, comment) for target, argument in effects]


def _statement(tokens: Tokens, matches: list[Match], effects: list[tuple[str, Any]]) -> str:
    """Reads one statement into ``matches`` or ``effects``; returns the comment if it was one."""
    word = tokens.next()
    if word == "comment":
        return tokens.next().strip('"')
    if word == "counter":
        if tokens.accept("packets"):
            skip_counts(tokens)
        elif tokens.accept("name"):
            tokens.next()
    elif word in ("update", "add") and tokens.peek()[:1] == "@":
        _remember(tokens, matches, effects)
    elif (effect := _effect(word, tokens)) is not None:
        effects.append(effect)
    else:
        found = _match(word, tokens, effects)
        if found is not None:
            add_match(matches, found)
    return ""


def _remember(tokens: Tokens, matches: list[Match], effects: list[tuple[str, Any]]) -> None:
    """``update @affinity { ip saddr }``; with ``limit rate over`` or ``ct count over`` in it, it is a match too."""
    name = tokens.next()[1:]
    tokens.expect("{")
    words = []
    while not tokens.accept("}"):
        words.append(tokens.next())
    if {"limit", "count", "quota"} & set(words):
        matches.append(Match("other", " ".join(words)))
    effects.append(("remember", name))


def add_match(matches: list[Match], found: Match) -> None:
    """``tcp dport 80`` says two things: the protocol, and its port."""
    if found.kind == "with-protocol" and not found.value[1].negated:
        protocol = Match("protocol", (found.value[0],))
        if protocol not in matches:
            matches.append(protocol)
        matches.append(found.value[1])
    else:
        matches.append(found)


def _effect(word: str, tokens: Tokens) -> tuple[str, Any] | None:
    if word in VERDICTS:
        return VERDICTS[word], None
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
            raise UnknownStatement(word)
        return "redirect", int(port)
    if word == "tproxy":
        while tokens.peek() and tokens.peek() not in ("comment", "accept", "meta"):
            tokens.next()
        return "tproxy", None
    if word == "log":
        while tokens.peek() in ("prefix", "group", "level", "flags", "snaplen", "queue-threshold"):
            tokens.next()
            tokens.next()
        return "continue", None
    return None


def _nat_flags(tokens: Tokens) -> None:
    while tokens.peek() in ("random", "fully-random", "persistent", ","):
        tokens.next()


def _dnat(tokens: Tokens) -> tuple[str, Any]:
    if tokens.peek() in ("ip", "ip6"):
        tokens.next()
    tokens.expect("to")
    value = tokens.next()
    _nat_flags(tokens)
    return "dnat", destination(value)


def destination(value: str) -> tuple[str, int]:
    """``10.1.2.3:80``, ``[fd00::1]:80``, or either without a port."""
    halves = host_and_port(value)
    if halves is None:
        raise UnknownStatement(value)
    host, port = halves
    if int(port or 0) > 65535 or address_value(host) is None:
        raise UnknownStatement(value)
    return text_form(host), int(port or 0)


def _match(word: str, tokens: Tokens, effects: list[tuple[str, Any]]) -> Match | None:
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
            raise UnknownStatement("ct mark set")
        return _selection(word, tokens, effects)
    if word == "numgen":
        effects.append(numgen(tokens))
        return None
    if word == "xt":
        return _xt(tokens, effects)
    if word in _OTHER_MATCHES:
        return _other(word, tokens)
    raise UnknownStatement(word)


def _other(word: str, tokens: Tokens) -> Match:
    """A match whose truth addresses and ports don't decide: kept as text up to the next verdict."""
    words = [word]
    while tokens.peek() and tokens.peek() not in ("counter", "comment", "jump", "goto", "reject", *VERDICTS):
        words.append(tokens.next())
    return Match("other", " ".join(words))


def _xt(tokens: Tokens, effects: list[tuple[str, Any]]) -> Match | None:
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
    raise UnknownStatement(f"xt target {name}")


def _selection(word: str, tokens: Tokens, effects: list[tuple[str, Any]]) -> Match | None:
    fields = read_fields(word, tokens)
    if tokens.accept("vmap"):
        effects.append(("vmap", (fields, map_argument(tokens))))
        return None
    return comparison(fields, tokens)


def _mark_value(tokens: Tokens) -> tuple[int, int]:
    """(mask to clear, value to xor), as ruleset's ``mark``."""
    first = tokens.next()
    if first not in ("mark", "meta"):
        return 0xFFFFFFFF, integer(first)
    if first == "meta":
        tokens.expect("mark")
    clear, xor = 0, 0
    while tokens.peek() in ("|", "or", "&", "and", "^", "xor"):
        operator = tokens.next()
        clear, xor = combine_mark(clear, xor, operator, integer(tokens.next()))
    return clear, xor


def combine_mark(clear: int, xor: int, operator: str, number: int) -> tuple[int, int]:
    """One more operation on a mark."""
    if operator in ("|", "or"):
        return clear | number, (xor & ~number) | number
    if operator in ("&", "and"):
        return clear | (~number & 0xFFFFFFFF), xor & number
    return clear, xor ^ number
