"""Words of nft's printed grammar, one after the other, and the exception of a statement that is not understood.

Spelling: nftables src/scanner.l; durations as src/datatype.c prints them.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"[^"]*"|[{},]|[^\s{},"]+')
_DURATION = re.compile(r"(\d+)(ms|[wdhms])")
_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
#: Verdicts without an argument, in nft's words and ours.
VERDICTS = {"accept": "accept", "drop": "drop", "return": "return", "notrack": "notrack", "continue": "continue"}


class UnknownStatement(Exception):
    """A statement that is not understood."""


def seconds(text: str) -> int:
    """``3h``, ``2h59m58s``, ``120s``; also a bare number of seconds."""
    if text.isdecimal():
        return int(text)
    return int(sum(int(number) * _UNITS[unit] for number, unit in _DURATION.findall(text)))


class Tokens:
    """The words of one statement. Raises UnknownStatement when they end early or are others than expected."""

    __slots__ = ("items", "place")

    def __init__(self, text: str) -> None:
        if text.count('"') & 1:
            raise UnknownStatement(text)
        self.items: list[str] = _TOKEN.findall(text)
        self.place = 0

    def peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.items[place] if place < len(self.items) else ""

    def next(self) -> str:
        if self.place >= len(self.items):
            raise UnknownStatement("ends early")
        self.place += 1
        return self.items[self.place - 1]

    def accept(self, word: str) -> bool:
        if self.peek() == word:
            self.place += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise UnknownStatement(word)


def integer(text: str) -> int:
    """Decimal or 0x."""
    try:
        return int(text, 0)
    except ValueError:
        raise UnknownStatement(text) from None


def skip_counts(tokens: Tokens) -> None:
    """``12 bytes 840``, what follows ``counter packets``."""
    tokens.next()
    tokens.expect("bytes")
    tokens.next()
