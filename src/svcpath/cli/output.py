"""``-o FORMAT[=FILE]``, several times: which forms a result is written in, and where each goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from svcpath.errors import EvidenceError, UsageError

if TYPE_CHECKING:
    from svcpath.reports.document import Document


class Output(msgspec.Struct, frozen=True):
    """One form; ``path`` None is standard output."""

    form: str
    path: Path | None


FORMS = ("terminal", "json", "markdown", "html", "sarif", "junit")
ALIASES = {"text": "terminal", "md": "markdown", "xml": "junit"}
HELP = "terminal, json, markdown, html, sarif or junit; several times."

#: Forms made to be opened or searched: they get the long Document where a result has one.
LONG = ("html", "sarif", "junit")


def parse(given: list[str] | None) -> tuple[Output, ...]:
    """Read the ``-o`` options; none means terminal. At most one may go to standard output."""
    outputs = []
    for text in given or ["terminal"]:
        form, _, path = text.partition("=")
        form = ALIASES.get(form.lower(), form.lower())
        if form not in FORMS:
            raise UsageError(f"-o {text}: no such format; there are {', '.join(FORMS)}")
        if "=" in text and not path:
            raise UsageError(f"-o {text}: name a file after the =")
        outputs.append(Output(form, Path(path) if path and path != "-" else None))
    if sum(1 for wanted in outputs if wanted.path is None) > 1:
        raise UsageError("only one -o can go to standard output; give the others a file: -o json=report.json")
    return tuple(outputs)


def write(
    outputs: tuple[Output, ...],
    document: Callable[[], Document],
    raw: Callable[[], bytes],
    page: Callable[[], Document] | None = None,
) -> None:
    """Write one result in each of its forms. ``page`` is the long Document, with all there is to open."""
    for wanted in outputs:
        if wanted.form == "json":
            content = raw()
        else:
            shown = page() if page is not None and wanted.form in LONG else document()
            content = _rendered(wanted, shown).encode("utf-8", "replace")
        if wanted.path is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            continue
        try:
            wanted.path.write_bytes(content)
        except OSError as error:
            raise EvidenceError(f"can't write {wanted.path}: {error.strerror}") from error


def _rendered(wanted: Output, document: Document) -> str:
    """Renderers are loaded when their form is asked for."""
    match wanted.form:
        case "html":
            from svcpath.reports.renderers import html

            return html.render(document)
        case "sarif":
            from svcpath.reports.renderers import sarif

            return sarif.render(document)
        case "junit":
            from svcpath.reports.renderers import junit

            return junit.render(document)
        case "markdown":
            from svcpath.reports.renderers import markdown

            return markdown.render(document)
        case _:
            from svcpath.reports.renderers import terminal

            return terminal.render(document, colour=_colour(wanted))


def _colour(wanted: Output) -> bool:
    """Colour on a terminal only, and never with NO_COLOR (no-color.org)."""
    return (
        wanted.path is None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
