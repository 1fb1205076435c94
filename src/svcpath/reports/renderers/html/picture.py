"""The path as a picture: one card per hop in the order the packet meets them, with what judges it.

A card is coloured and marked by the worst of its layers; the first that fails says so, and what lies behind it is drawn
as not reached. Cards link to their layer, with or without JavaScript.
"""

from __future__ import annotations

import re

from svcpath.reports.document import Cell, Hop, Mark, Path, Station
from svcpath.reports.renderers.html.markup import MARKS, bar, escape, ids, sign, tag

WORST = (Mark.FAIL, Mark.INCONCLUSIVE, Mark.WARN, Mark.PASS, Mark.NOT_LOOKED_AT, Mark.SKIPPED)


def render(one: Path) -> str:
    stations = {station.name: station for station in one.stations}
    places = dict(zip(stations, ids(list(stations)), strict=True))
    first = next((station.name for station in one.stations if station.mark is Mark.FAIL), "")
    # The layer that fails first may lie further down the way than one that fails after it: the packet ends at the
    # first hop that has the deciding layer.
    ends = next((i for i, hop in enumerate(one.hops) if first and first in hop.stations), len(one.hops))
    cards = "".join(_card(hop, i, ends, stations, places) for i, hop in enumerate(one.hops))
    return f'<nav class="picture" aria-label="the path of a connection"><ol>{cards}</ol></nav>\n'


def _card(hop: Hop, i: int, ends: int, stations: dict[str, Station], places: dict[str, str]) -> str:
    judged = [stations[name] for name in hop.stations if name in stations]
    worst = min(judged, key=lambda station: WORST.index(station.mark), default=None)
    if i == ends:
        worst = next((station for station in judged if station.mark is Mark.FAIL), worst)
    mark = worst.mark if worst else None
    place = "ends" if i == ends else "behind" if i > ends else ""
    css = " ".join(part for part in ("hop", MARKS[mark].css if mark else "plain", place) if part)
    flag = {"ends": tag("span", "fails here", "flag"), "behind": tag("span", "behind the fault", "flag")}.get(place, "")
    name = f'<span class="who">{_broken(hop.name)}</span>'
    if worst is not None:
        name = f'<a class="who" href="#{places[worst.name]}">{_broken(hop.name)}</a>'
    facts = "".join(f"<li>{_fact(cell)}</li>" for cell in hop.facts)
    links = "".join(
        f'<a class="station" href="#{places[station.name]}">{sign(station.mark)}{escape(station.name)}</a>'
        for station in judged
    )
    return (
        f'<li class="{css}"><p class="kind">{sign(mark) if mark else ""}{escape(hop.kind)}{flag}</p>{name}'
        f"{f'<ul>{facts}</ul>' if facts else ''}{f'<p class=stations>{links}</p>' if links else ''}</li>"
    )


def _fact(cell: Cell) -> str:
    mark = sign(cell.mark) if cell.mark else ""
    share = bar(cell.share, 24) if cell.share is not None else ""
    below = f'<span class="below">{share}{_broken(cell.below)}</span>' if cell.below or share else ""
    return f"{mark}{_broken(cell.text)}{below}"


def _broken(text: str) -> str:
    """Names may break after a dot before they break anywhere else; addresses do not. An escape never holds a dot."""
    return re.sub(r"\.(?=[A-Za-z])", ".<wbr>", escape(text))
