"""The one Document between views and renderers: what a report says, free of where it will be shown.

A view builds it from a result; a renderer turns it into one format and knows nothing else. All text is plain: each
renderer escapes for its own format, since names, log lines and rule comments are hostile input.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Mark(enum.Enum):
    """How something ended; the value is the word that carries it without colour."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTED = "not-tested"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Station:
    """One layer on the path. ``decisive`` false: said after the first fail."""

    name: str
    mark: Mark
    sentence: str
    decisive: bool = True


@dataclass(frozen=True, slots=True)
class Path:
    stations: tuple[Station, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """The verdict's own line: "FAULT at ports: ...", with the code and its standing."""

    mark: Mark
    word: str
    text: str
    code: str = ""
    standing: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One item of a list: a sentence, the command that shows it again, and the place in the evidence."""

    text: str
    command: str = ""
    place: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Points:
    """A titled list; ``plain`` leaves the bullets out (a list of one)."""

    title: str
    points: tuple[Point, ...]
    numbered: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """``align`` holds "l" or "r" per column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    text: str


Section = Path | Statement | Points | Table | Note


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    sections: tuple[Section, ...]
