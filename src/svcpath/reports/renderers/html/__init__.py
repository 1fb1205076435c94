"""A Document as one self-contained HTML file, to open on call or attach to an incident.

The page reads whole without JavaScript; the script only adds what needs one (copy buttons, keeping a picture and its
layer together, zooming a timeline). A policy in the file (CSP Level 3) admits this very style and script by hash and
nothing else, so that text from a cluster can neither run nor load anything. Same document, same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
from itertools import groupby

from svcpath.reports.document import Document, FindingCard, Points, Section, Statement, Timeline
from svcpath.reports.renderers.html.markup import MARKS, escape, tag
from svcpath.reports.renderers.html.sections import section as rendered
from svcpath.reports.renderers.text import printable

__all__ = ["render"]


def render(document: Document) -> str:
    """The whole file, ended by a newline."""
    style, script = _asset("report.css"), _asset("report.js")
    if any(isinstance(section_, Timeline) for section_ in document.sections):
        script += _asset("timeline.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = printable(document.title)
    verdict = next((section_ for section_ in document.sections if isinstance(section_, Statement)), None)
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(f'{verdict.word}: {title}' if verdict else title)}</title>\n"
        f"<style>{style}</style>\n</head>\n"
    )
    return f"{head}<body>\n{_header(document, verdict)}<main>\n{_main(document)}</main>\n<script>{script}</script>\n</body>\n</html>\n"


def _header(document: Document, verdict: Statement | None) -> str:
    kind = tag("span", document.subject, "subject") if document.subject else ""
    tone = f' class="{MARKS[verdict.status].css}"' if verdict else ""
    return f"<header{tone}><div><h1>{escape(document.title)}</h1>{kind}</div></header>\n"


def _main(document: Document) -> str:
    """Neighbouring lists stand side by side where there is room; neighbouring findings share a heading."""
    parts: list[str] = []
    for kind, group in groupby(document.sections, key=_kind):
        inner = "".join(rendered(section_) for section_ in group)
        if kind is Points:
            inner = f'<div class="columns">\n{inner}</div>\n'
        elif kind is FindingCard:
            inner = f'<section class="findings"><h2>Findings</h2>{inner}</section>\n'
        parts.append(inner)
    return "".join(parts)


def _kind(section_: Section) -> type:
    return type(section_)


def _asset(name: str) -> str:
    return importlib.resources.files("svcpath.reports.renderers.html").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
