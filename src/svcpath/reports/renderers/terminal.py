"""A Document for a terminal: statuses carry the meaning, colour only repeats it."""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.reports.document import Document, Note, Path, Point, Points, Section, Statement, Table
from svcpath.reports.renderers.plain import simpler
from svcpath.reports.renderers.text import printable
from svcpath.status import Status

MARKS = {
    Status.PASS: "✔",
    Status.WARN: "!",
    Status.FAIL: "✖",
    Status.INCONCLUSIVE: "?",
    Status.NOT_LOOKED_AT: "·",
    Status.SKIPPED: "·",
}
COLOURS = {
    Status.PASS: "32",
    Status.WARN: "33",
    Status.FAIL: "31;1",
    Status.INCONCLUSIVE: "35",
    Status.NOT_LOOKED_AT: "2",
    Status.SKIPPED: "2",
}


def render(document: Document, *, colour: bool = False) -> str:
    """Lines ended by newlines. ``colour`` adds SGR sequences; without it the output is plain text."""
    lines = [_paint(printable(document.title), "1", colour), ""]
    for whole in document.sections:
        for section in simpler(whole):
            lines.extend(_section(section, colour))
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


def _paint(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


def _section(section: Section, colour: bool) -> Iterator[str]:
    match section:
        case Path(lines):
            width = max(len(line.name) for line in lines)
            for line in lines:
                status = (
                    line.status if line.decisive or line.status in (Status.FAIL, Status.WARN) else Status.NOT_LOOKED_AT
                )
                sign = MARKS[line.status] if line.decisive else "·"
                before = "" if line.status is not Status.NOT_LOOKED_AT else "not looked at: "
                after = (
                    ""
                    if line.decisive or line.status in (Status.NOT_LOOKED_AT, Status.SKIPPED, Status.PASS)
                    else f" ({line.status.value}, not decisive)"
                )
                text = f"{line.name:<{width}}  {before}{printable(line.sentence)}{after}"
                yield f"{_paint(sign, COLOURS[status], colour)} {text}"
            yield ""
        case Statement():
            tail = f"  {section.code}" if section.code else ""
            tail += f", {section.confidence}" if section.confidence else ""
            yield f"{_paint(section.word, COLOURS[section.status], colour)}: {printable(section.text)}.{tail}"
            yield ""
        case Points(title, points, numbered, plain):
            yield printable(title)
            for number, point in enumerate(points, 1):
                yield from _point(point, f"{number} " if numbered else "" if plain else "- ")
            yield ""
        case Table():
            if section.title:
                yield printable(section.title)
            yield from _table(section)
            yield ""
        case Note(text):
            yield printable(text)
            yield ""


def _point(point: Point, bullet: str) -> Iterator[str]:
    indent = " " * (2 + len(bullet))
    if point.text:
        place = f"  [{printable(point.place)}]" if point.place else ""
        yield f"  {bullet}{printable(point.text)}{place}"
        if point.command:
            yield f"{indent}{printable(point.command)}"
    elif point.command:
        yield f"  {printable(point.command)}"
    if point.after:
        yield f"  {indent if point.text else ''}{printable(point.after)}"


def _table(table: Table) -> Iterator[str]:
    rows = [table.columns, *table.rows]
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    for row in cells:
        parts = []
        for i, cell in enumerate(row):
            right = i < len(table.align) and table.align[i] == "r"
            parts.append(cell.rjust(widths[i]) if right else cell.ljust(widths[i]))
        yield "  ".join(parts).rstrip()
