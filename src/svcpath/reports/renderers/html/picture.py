"""The path as a picture: one card per hop in the order the packet meets them, with what judges it.

A card is coloured and marked by the worst of its layers; the first that fails says so, and what lies behind it is drawn
as not reached. Cards link to their layer, with or without JavaScript.
"""

from __future__ import annotations

import re

from svcpath.reports.document import Cell, HopCard, Path, StatusLine
from svcpath.reports.renderers.html.markup import MARKS, bar, escape, ids, sign, tag
from svcpath.status import Status

WORST = (Status.FAIL, Status.INCONCLUSIVE, Status.WARN, Status.PASS, Status.NOT_LOOKED_AT, Status.SKIPPED)


def render(path: Path) -> str:
    lines = {line.name: line for line in path.lines}
    places = dict(zip(lines, ids(list(lines)), strict=True))
    first = next((line.name for line in path.lines if line.status is Status.FAIL), "")
    # The layer that fails first may lie further down the way than one that fails after it: the packet ends at the
    # first hop that has the deciding layer.
    ends = next((i for i, hop in enumerate(path.hops) if first and first in hop.layers), len(path.hops))
    cards = "".join(_card(hop, i, ends, lines, places) for i, hop in enumerate(path.hops))
    return f'<nav class="picture" aria-label="the path of a connection"><ol>{cards}</ol></nav>\n'


def _card(hop: HopCard, i: int, ends: int, lines: dict[str, StatusLine], places: dict[str, str]) -> str:
    judged = [lines[name] for name in hop.layers if name in lines]
    worst = min(judged, key=lambda line: WORST.index(line.status), default=None)
    if i == ends:
        worst = next((line for line in judged if line.status is Status.FAIL), worst)
    status = worst.status if worst else None
    place = "ends" if i == ends else "behind" if i > ends else ""
    css = " ".join(part for part in ("hop", MARKS[status].css if status else "plain", place) if part)
    flag = {"ends": tag("span", "fails here", "flag"), "behind": tag("span", "behind the fault", "flag")}.get(place, "")
    name = f'<span class="who">{_broken(hop.name)}</span>'
    if worst is not None:
        name = f'<a class="who" href="#{places[worst.name]}">{_broken(hop.name)}</a>'
    facts = "".join(f"<li>{_fact(cell)}</li>" for cell in hop.facts)
    links = "".join(
        f'<a class="judge" href="#{places[line.name]}">{sign(line.status)}{escape(line.name)}</a>' for line in judged
    )
    return (
        f'<li class="{css}"><p class="kind">{sign(status) if status else ""}{escape(hop.kind)}{flag}</p>{name}'
        f"{f'<ul>{facts}</ul>' if facts else ''}{f'<p class=judges>{links}</p>' if links else ''}</li>"
    )


def _fact(cell: Cell) -> str:
    status = sign(cell.status) if cell.status else ""
    share = bar(cell.share, 24) if cell.share is not None else ""
    below = f'<span class="below">{share}{_broken(cell.below)}</span>' if cell.below or share else ""
    return f"{status}{_broken(cell.text)}{below}"


def _broken(text: str) -> str:
    """Names may break after a dot before they break anywhere else; addresses do not. An escape never holds a dot."""
    return re.sub(r"\.(?=[A-Za-z])", ".<wbr>", escape(text))
