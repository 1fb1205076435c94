"""The one Document between views and renderers: what a report says, free of where it will be shown.

A view builds it from a result; a renderer turns it into one format and knows nothing else. All text is plain: each
renderer escapes for its own format, since names, log lines and rule comments are hostile input. A view writes its result
in one of two lengths: what is read from top to bottom (terminal, Markdown), or all there is to open and to search (HTML,
SARIF, JUnit); every form can show either.
"""

from __future__ import annotations

import msgspec

from svcpath.reports.records import Finding
from svcpath.status import Status


class StatusLine(msgspec.Struct, frozen=True):
    """A name, how it ended, and why: a layer, a node, a scenario. ``decisive`` false: it stands after the first that failed.
    ``details`` is what it opens to, for forms that can open something."""

    name: str
    status: Status
    sentence: str
    decisive: bool = True
    details: tuple[Section, ...] = ()


class Cell(msgspec.Struct, frozen=True):
    """A short text, how it ended, a share of 1 to draw as a bar, and smaller text below."""

    text: str
    status: Status | None = None
    share: float | None = None
    below: str = ""


class HopCard(msgspec.Struct, frozen=True):
    """A hop as it is drawn: its kind in words, its own name, what is known of it, the names of the layers that judge it."""

    kind: str
    name: str
    facts: tuple[Cell, ...]
    layers: tuple[str, ...]


class Path(msgspec.Struct, frozen=True):
    """``hops`` is the picture; without it the lines are all there is. ``title`` says what the lines are."""

    lines: tuple[StatusLine, ...]
    hops: tuple[HopCard, ...] = ()
    title: str = "Layers"


class Statement(msgspec.Struct, frozen=True):
    """The verdict's own line: "FAULT at ports: ...", with the code and its confidence."""

    status: Status
    word: str
    text: str
    code: str = ""
    confidence: str = ""


class Point(msgspec.Struct, frozen=True):
    """One item of a list: a sentence, the command that shows it again, and the place in the evidence."""

    text: str
    command: str = ""
    place: str = ""
    after: str = ""


class Points(msgspec.Struct, frozen=True):
    """A titled list; ``plain`` leaves the bullets out (a list of one)."""

    title: str
    points: tuple[Point, ...]
    numbered: bool = False
    plain: bool = False


class Table(msgspec.Struct, frozen=True):
    """``align`` holds "l" or "r" per column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str = ""
    title: str = ""


class Note(msgspec.Struct, frozen=True):
    text: str


class FindingCard(msgspec.Struct, frozen=True):
    """One finding in full. ``title``, ``meaning`` and ``help`` are the catalogue's; ``decides``: the verdict names it."""

    finding: Finding
    title: str = ""
    meaning: str = ""
    help: str = ""
    decides: bool = False


class Matrix(msgspec.Struct, frozen=True):
    """A table whose cells carry statuses; the first cell of a row is its heading."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


class Rung(msgspec.Struct, frozen=True):
    """One step of a ladder: the rule that led there, what is asked and answered. ``parts``: here resolvers diverge."""

    at: str
    asked: str
    answers: tuple[tuple[str, str], ...]
    rule: str = ""
    source: str = ""
    parts: bool = False
    notes: tuple[str, ...] = ()


class Side(msgspec.Struct, frozen=True):
    """One party's ladder with its end. ``shown``: one of those that stand side by side at first."""

    name: str
    status: Status
    end: str
    rule: str
    rungs: tuple[Rung, ...]
    shown: bool = False


class Ladder(msgspec.Struct, frozen=True):
    title: str
    left: str
    right: str
    sides: tuple[Side, ...]


class Span(msgspec.Struct, frozen=True):
    """Part of a lane, in seconds."""

    start: float
    end: float
    text: str
    status: Status | None = None


class LaneEvent(msgspec.Struct, frozen=True):
    """A moment on a lane, in seconds."""

    at: float
    text: str
    status: Status | None = None


class Lane(msgspec.Struct, frozen=True):
    name: str
    group: str
    spans: tuple[Span, ...] = ()
    events: tuple[LaneEvent, ...] = ()


class Connections(msgspec.Struct, frozen=True):
    """Columns, one entry per connection or request: when it began and how long it took (seconds), and indices into
    ``outcomes`` and ``backends``."""

    starts: tuple[float, ...]
    lengths: tuple[float, ...]
    outcome: tuple[int, ...]
    backend: tuple[int, ...]
    outcomes: tuple[tuple[str, Status], ...]
    backends: tuple[str, ...]


class Timeline(msgspec.Struct, frozen=True):
    """One axis in seconds from ``start`` to ``end``. ``terms`` are drawn over it: the measured parts of a budget."""

    title: str
    start: float
    end: float
    lanes: tuple[Lane, ...]
    connections: Connections | None = None
    terms: tuple[Span, ...] = ()


Section = Path | Statement | Points | Table | Note | FindingCard | Matrix | Ladder | Timeline


class Document(msgspec.Struct, frozen=True):
    """``subject`` says in a few words what kind of result it is ("diagnosis", "drift")."""

    title: str
    sections: tuple[Section, ...]
    subject: str = ""
