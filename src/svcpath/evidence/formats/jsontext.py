"""JSON streams cut into documents without decoding them.

kubectl prints one document, documents one after the other (`get -w -o json`) or one per line (watch streams). A
document that is cut off or damaged must not take the others along, and of a cut List the complete items still count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]|"', re.DOTALL)
_BYTE = re.compile(r"\(byte (\d+)\)")


class Slice(msgspec.Struct, frozen=True):
    """Bytes of one value; ``complete`` is false when the text ended inside it."""

    data: bytes
    start: int
    line: int
    complete: bool = True


def values(data: bytes, start: int = 0) -> Iterator[Slice]:
    """The objects and arrays that follow each other from ``start``; anything between them is passed over."""
    depth = 0
    begin = counted = start
    line = line_of(data, start)
    for match in _TOKEN.finditer(data, start):
        token = match.group()[:1]
        if token in b"{[":
            if depth == 0:
                begin = match.start()
                line += data.count(b"\n", counted, begin)
                counted = begin
            depth += 1
        elif token in b"}]":
            if depth == 0:
                return
            depth -= 1
            if depth == 0:
                yield Slice(data[begin : match.end()], begin, line)
        elif token == b'"' and len(match.group()) == 1:
            break
    if depth:
        yield Slice(data[begin:], begin, line, complete=False)


def line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def place_of(data: bytes, message: str) -> tuple[int, int]:
    """Line and column of a msgspec.DecodeError's byte offset; (0, 0) when it names none."""
    match = _BYTE.search(message)
    if match is None:
        return 0, 0
    offset = min(int(match.group(1)), len(data))
    return line_of(data, offset), offset - (data.rfind(b"\n", 0, offset) + 1) + 1
