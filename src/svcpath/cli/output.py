"""``-o FORMAT[=FILE]``, several times: which forms a result is written in, and where each goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from svcpath.errors import EvidenceError, UsageError
from svcpath.reports.document import Document
from svcpath.reports.renderers import markdown, terminal


@dataclass(frozen=True, slots=True)
class Output:
    """One form; ``path`` None is standard output."""

    form: str
    path: Path | None


FORMS = ("terminal", "json", "markdown")


def parse(given: list[str] | None) -> tuple[Output, ...]:
    """Read the ``-o`` options; none means terminal. At most one may go to standard output."""
    outputs = []
    for text in given or ["terminal"]:
        form, _, path = text.partition("=")
        form = {"text": "terminal", "md": "markdown"}.get(form.lower(), form.lower())
        if form not in FORMS:
            raise UsageError(f"-o {text}: no such format; there are {', '.join(FORMS)}")
        if "=" in text and not path:
            raise UsageError(f"-o {text}: name a file after the =")
        outputs.append(Output(form, Path(path) if path and path != "-" else None))
    if sum(1 for one in outputs if one.path is None) > 1:
        raise UsageError("only one -o can go to standard output; give the others a file: -o json=report.json")
    return tuple(outputs)


def write(outputs: tuple[Output, ...], document: Callable[[], Document], raw: Callable[[], bytes]) -> None:
    """Write one result in each of its forms."""
    for one in outputs:
        if one.form == "json":
            content = raw()
        elif one.form == "markdown":
            content = markdown.render(document()).encode("utf-8", "replace")
        else:
            content = terminal.render(document(), colour=_colour(one)).encode("utf-8", "replace")
        if one.path is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            continue
        try:
            one.path.write_bytes(content)
        except OSError as error:
            raise EvidenceError(f"can't write {one.path}: {error.strerror}") from error


def _colour(one: Output) -> bool:
    """Colour on a terminal only, and never with NO_COLOR (no-color.org)."""
    return (
        one.path is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
