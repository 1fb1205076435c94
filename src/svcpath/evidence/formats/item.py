"""What a format gives back: facts with the line they start at, before anyone knows whose they are."""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.text import Damaged, Harm, Unplaced
from svcpath.plural import count


class Watched(msgspec.Struct, frozen=True):
    """The envelope of a watch event: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and when it was received."""

    type: str
    received: str = ""


class Item(msgspec.Struct, frozen=True, gc=False):
    """One fact of a file. ``line`` counts from 1, 0 is the whole file; ``listing`` as in Provenance.

    ``node`` and ``pod`` are set when the content itself names its owner.
    """

    kind: Kind
    value: Any
    line: int = 0
    listing: bool = False
    watched: Watched | None = None
    node: str = ""
    pod: str = ""


class Listing(msgspec.Struct, frozen=True):
    """A complete list that was seen, so that what is not in it is known not to exist.

    ``kind`` is None for a mixed List, which says nothing about kinds that it does not hold.
    """

    kind: Kind | None
    line: int = 0


def damaged(kind: str, why: str, *, line: int = 0, read: str = "", harm: Harm = Harm.LOST) -> Item:
    return Item(Kind.DAMAGED, Damaged(kind=kind, why=why, line=line, read=read, harm=harm), line=line)


def unplaced(why: str, size: int) -> Item:
    return Item(Kind.UNPLACED, Unplaced(why=why, size=size))


def not_understood(kind: str, lines: list[int], understood: int) -> list[Item]:
    """One Damaged item for the lines of a file of ``kind`` that did not parse."""
    if not lines:
        return []
    shown = ", ".join(str(number) for number in lines[:5]) + (", ..." if len(lines) > 5 else "")
    why = f"{count(len(lines), 'line')} not understood (line {shown})"
    return [damaged(kind, why, line=lines[0], read=f"{understood} of {understood + len(lines)} lines")]
