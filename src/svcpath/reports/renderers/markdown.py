"""A Document as Markdown (GitHub flavour), to paste into an incident."""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.reports.document import Document, Note, Path, Point, Points, Section, Statement, Table
from svcpath.reports.renderers.plain import simpler
from svcpath.reports.renderers.terminal import MARKS
from svcpath.reports.renderers.text import printable

_SPECIAL = frozenset("\\`*_{}[]()<>#+-!|~&")


def render(document: Document) -> str:
    lines = [f"## {escape(document.title)}", ""]
    for whole in document.sections:
        for section in simpler(whole):
            lines.extend(_section(section))
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that Markdown and the HTML it becomes show as it is: no markup, no links, no tags, no mentions."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in printable(text)).replace(
        "@", "@\u2060"
    )


def code(text: str) -> str:
    """A code span around any text: its fence is longer than every run of backticks within."""
    shown = printable(text)
    longest = run = 0
    for character in shown:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _section(section: Section) -> Iterator[str]:
    match section:
        case Path(lines):
            yield "| | layer | what is |"
            yield "|---|---|---|"
            for line in lines:
                status = line.status.value if line.decisive else f"{line.status.value}, not decisive"
                yield f"| {MARKS[line.status]} {status} | {line.name} | {escape(line.sentence)} |"
            yield ""
        case Statement():
            tail = (
                f" ({section.code}" + (f", {section.confidence})" if section.confidence else ")")
                if section.code
                else ""
            )
            yield f"**{section.word}**: {escape(section.text)}.{tail}"
            yield ""
        case Points(title, points, numbered, _):
            yield f"**{escape(title)}**"
            yield ""
            for number, point in enumerate(points, 1):
                yield from _point(point, f"{number}." if numbered else "-")
            yield ""
        case Table():
            if section.title:
                yield f"**{escape(section.title)}**"
                yield ""
            yield "| " + " | ".join(escape(column) for column in section.columns) + " |"
            yield (
                "|"
                + "|".join(
                    "---:" if i < len(section.align) and section.align[i] == "r" else "---"
                    for i in range(len(section.columns))
                )
                + "|"
            )
            for row in section.rows:
                yield "| " + " | ".join(escape(cell) for cell in row) + " |"
            yield ""
        case Note(text):
            yield escape(text)
            yield ""


def _point(point: Point, bullet: str) -> Iterator[str]:
    parts = []
    if point.text:
        parts.append(escape(point.text))
    if point.place:
        parts.append(f"({code(point.place)})")
    if point.command and not point.text:
        parts.append(code(point.command))
    yield f"{bullet} {' '.join(parts)}"
    indent = " " * (len(bullet) + 1)
    if point.command and point.text:
        yield f"{indent}{code(point.command)}"
    if point.after:
        yield f"{indent}{escape(point.after)}"
