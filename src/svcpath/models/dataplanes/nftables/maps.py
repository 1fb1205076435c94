"""Elements of sets and verdict maps, named or written into the rule, and what numgen spreads over.

nftables src/parser_bison.y: set_elem_expr, verdict_map_expr, numgen_expr.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import intern
from typing import Any

from svcpath.evidence.facts.addresses import text_form
from svcpath.models.dataplanes.nftables.selectors import port_range
from svcpath.models.dataplanes.nftables.tokens import VERDICTS, Tokens, UnknownStatement, integer, skip_counts
from svcpath.models.dataplanes.ruleset import Element


def _verdict(tokens: Tokens) -> tuple[str, Any]:
    word = tokens.next()
    if word in ("jump", "goto"):
        return word, intern(tokens.next())
    if word in VERDICTS or word == "reject":
        return word, None
    raise UnknownStatement(word)


def map_argument(tokens: Tokens) -> str | tuple[tuple[tuple[str, ...], str, Any], ...]:
    """``@name``, or the anonymous map itself."""
    if tokens.peek()[:1] == "@":
        return tokens.next()[1:]
    tokens.expect("{")
    entries = []
    while not tokens.accept("}"):
        if tokens.accept(","):
            continue
        key = [tokens.next()]
        while tokens.accept("."):
            key.append(tokens.next())
        tokens.expect(":")
        entries.append((tuple(key), *_verdict(tokens)))
    return tuple(entries)


def numgen(tokens: Tokens) -> tuple[str, Any]:
    """``numgen random mod 2 vmap { 0 : goto A, 1 : goto B }``, as ``ruleset.Rule`` has it."""
    mode = tokens.next()
    tokens.expect("mod")
    modulus = integer(tokens.next())
    offset = integer(tokens.next()) if tokens.accept("offset") else 0
    if mode not in ("random", "inc") or not tokens.accept("vmap") or modulus < 1 or offset:
        raise UnknownStatement("numgen")
    choice_map = map_argument(tokens)
    if isinstance(choice_map, str):
        raise UnknownStatement("numgen")
    choices: list[tuple[int, str, Any]] = []
    for key, verb, argument in choice_map:
        low, high = port_range(key[0])
        choices.extend((index, verb, argument) for index in range(low, min(high, modulus) + 1))
    return "numgen", (modulus, tuple(choices), mode)


def elements(text: str, line: int, *, is_map: bool) -> Iterator[tuple[tuple[str, ...], Element]]:
    """Elements as they stand on one printed line, comma after comma."""
    tokens = Tokens(text)
    while tokens.peek():
        if tokens.accept(","):
            continue
        key = [text_form(tokens.next())]
        comment = ""
        while tokens.accept("."):
            key.append(text_form(tokens.next()))
        while tokens.peek() in ("comment", "timeout", "expires", "counter"):
            word = tokens.next()
            if word == "comment":
                comment = tokens.next().strip('"')
            elif word == "counter":
                if tokens.accept("packets"):
                    skip_counts(tokens)
            else:
                tokens.next()
        if is_map and not tokens.peek():
            raise UnknownStatement(text)
        target: tuple[str, Any] = ("continue", None)
        if tokens.accept(":"):
            target = _verdict(tokens)
        elif is_map:
            raise UnknownStatement(text)
        yield tuple(key), Element(target[0], target[1], line, comment)
