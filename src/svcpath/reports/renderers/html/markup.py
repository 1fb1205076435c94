"""Small pieces of HTML. All text goes through ``escape``: nothing from a document reaches the page another way."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

from svcpath.reports.renderers.text import printable
from svcpath.status import Status


class Shown(NamedTuple):
    """How a status looks: class, sign and word."""

    css: str
    sign: str
    word: str


MARKS = {
    Status.PASS: Shown("pass", "✔", "pass"),
    Status.WARN: Shown("warn", "!", "warn"),
    Status.FAIL: Shown("fail", "✖", "fail"),
    Status.INCONCLUSIVE: Shown("open", "?", "inconclusive"),
    Status.NOT_LOOKED_AT: Shown("none", "·", "not-looked-at"),
    Status.SKIPPED: Shown("none", "·", "skipped"),
}


def escape(text: str) -> str:
    """Text for content and for quoted attributes; control and direction characters are shown as escapes."""
    return html.escape(printable(text), quote=True)


def tag(name: str, text: str, css: str = "") -> str:
    """One element around plain text."""
    return f'<{name} class="{css}">{escape(text)}</{name}>' if css else f"<{name}>{escape(text)}</{name}>"


def sign(status: Status, *, word: bool = False) -> str:
    """The status as a sign; its word is there for screen readers, and for all with ``word``."""
    shown = MARKS[status]
    label = f"<b>{shown.word}</b>" if word else f'<span class="spoken">{shown.word}</span>'
    return f'<span class="mark {shown.css}"><i aria-hidden="true">{shown.sign}</i>{label}</span>'


def command(text: str) -> str:
    """A shell command on a line of its own; the script adds a button that copies it."""
    return block(escape(text))


def block(escaped: str) -> str:
    """Escaped text, of one line or several, that can be copied whole."""
    return f'<div class="command"><code>{escaped}</code></div>'


def bar(share: float, whole: int = 48) -> str:
    """A part of 1 as a bar; the text beside it says it in words."""
    width = max(0.0, min(1.0, share)) * whole
    return (
        f'<svg class="share" width="{whole}" height="6" aria-hidden="true">'
        f'<rect width="{whole}" height="6" class="rest"/><rect width="{width:.1f}" height="6" class="part"/></svg>'
    )


def slug(text: str) -> str:
    """A class or id that no text can break out of."""
    kept = "".join(character if character.isascii() and character.isalnum() else "-" for character in text.lower())
    return kept[:60] or "x"


def ids(names: Sequence[str]) -> tuple[str, ...]:
    """One id for each name in order, different even where names are alike."""
    taken: set[str] = set()
    found = []
    for i, name in enumerate(names):
        wanted = f"layer-{slug(name)}"
        found.append(wanted if wanted not in taken else f"{wanted}--{i}")
        taken.add(found[-1])
    return tuple(found)
