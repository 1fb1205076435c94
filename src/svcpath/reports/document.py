"""The one Document between views and renderers: what a report says, free of where it will be shown.

A view builds it from a result; a renderer turns it into one format and knows nothing else. All text is plain: each
renderer escapes for its own format, since names, log lines and rule comments are hostile input. A view writes its result
in one of two lengths: what is read from top to bottom (terminal, Markdown), or all there is to open and to search (HTML,
SARIF, JUnit); every form can show either.
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
    """One layer on the path. ``decisive`` false: said after the first fail. ``details`` is what it opens to, for forms
    that can open something."""

    name: str
    mark: Mark
    sentence: str
    decisive: bool = True
    details: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A short text, how it ended, a part of 1 to draw as a bar, and smaller text below."""

    text: str
    mark: Mark | None = None
    share: float | None = None
    below: str = ""


@dataclass(frozen=True, slots=True)
class Hop:
    """A thing on the way, as it is drawn: its kind in words, its own name, what is known of it, the names of the
    stations that judge it."""

    kind: str
    name: str
    facts: tuple[Cell, ...]
    stations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """``hops`` is the picture; without it the stations are all there is. ``title`` says what stations are."""

    stations: tuple[Station, ...]
    hops: tuple[Hop, ...] = ()
    title: str = "Layers"


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


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One piece of evidence: its sentence, the command that shows it again, and where it stands. ``line`` 0: the whole."""

    text: str
    command: str = ""
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Cause:
    """A hypothesis: what supports it, what is against it, and the command that would refute it with what it must show."""

    text: str
    standing: str
    supports: tuple[Exhibit, ...] = ()
    against: tuple[Exhibit, ...] = ()
    command: str = ""
    refutes: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One finding in full. ``title``, ``meaning`` and ``help`` are the catalogue's; ``chief``: the verdict rests on it."""

    code: str
    mark: Mark
    text: str
    about: str = ""
    share: str = ""
    title: str = ""
    meaning: str = ""
    help: str = ""
    details: tuple[str, ...] = ()
    remedy: str = ""
    exhibits: tuple[Exhibit, ...] = ()
    causes: tuple[Cause, ...] = ()
    chief: bool = False


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table whose cells carry marks; the first cell of a row is its heading."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a ladder: the rule that led there, what is asked and answered. ``parts``: here parties part."""

    at: str
    asked: str
    answers: tuple[tuple[str, str], ...]
    rule: str = ""
    source: str = ""
    parts: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One party's ladder with its end. ``shown``: one of those that stand side by side at first."""

    name: str
    mark: Mark
    end: str
    rule: str
    rungs: tuple[Rung, ...]
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Ladder:
    title: str
    left: str
    right: str
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a lane, in seconds."""

    start: float
    end: float
    text: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A moment on a lane, in seconds."""

    at: float
    text: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    name: str
    group: str
    spans: tuple[Span, ...] = ()
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Connections:
    """Columns, one entry per connection or request: when it began and how long it took (seconds), and indices into
    ``outcomes`` and ``backends``."""

    starts: tuple[float, ...]
    lengths: tuple[float, ...]
    outcome: tuple[int, ...]
    backend: tuple[int, ...]
    outcomes: tuple[tuple[str, Mark], ...]
    backends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """One axis in seconds from ``start`` to ``end``. ``terms`` are drawn over it: the measured parts of a budget."""

    title: str
    start: float
    end: float
    lanes: tuple[Lane, ...]
    connections: Connections | None = None
    terms: tuple[Span, ...] = ()


Section = Path | Statement | Points | Table | Note | Claim | Matrix | Ladder | Timeline


@dataclass(frozen=True, slots=True)
class Document:
    """``subject`` says in a few words what kind of result it is ("diagnosis", "drift")."""

    title: str
    sections: tuple[Section, ...]
    subject: str = ""
