"""A timeline on one axis: lanes of spans and moments, the budget's terms over them, and each connection below.

Lanes are SVG in percent of the axis, whole without JavaScript. Connections are columns, deflated (zlib) and in base64,
which the script inflates (DecompressionStream) and draws on a canvas: as bars, or above ``DENSE`` of them in view as
density; without JavaScript there is the density over the whole axis, and a table of how they ended.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections import Counter
from itertools import accumulate, groupby

from svcpath.plural import count
from svcpath.reports.document import Connections, Lane, Span, Timeline
from svcpath.reports.renderers.html.markup import MARKS, escape, sign, tag
from svcpath.status import Status

#: Above so many connections in view single bars say nothing.
DENSE = 5000
#: Seconds per unit of the columns: 0.1 ms, which 32 bits hold for four days.
UNIT = 0.0001
BINS = 160
WORST = (Status.FAIL, Status.WARN, Status.INCONCLUSIVE, Status.NOT_LOOKED_AT, Status.SKIPPED, Status.PASS)


def render(timeline: Timeline) -> str:
    length = max(timeline.end - timeline.start, 1e-9)
    parts = []
    for group, lanes in groupby(timeline.lanes, key=lambda lane: lane.group):
        parts.append(tag("h3", group, "group") if group else "")
        parts.extend(_lane(lane, timeline.start, length) for lane in lanes)
    terms = _terms(timeline.terms, timeline.start, length) if timeline.terms else ""
    connections = timeline.connections
    lane = _connections(connections, timeline.start, length) if connections else ""
    after = _legend(connections) + _columns(connections, timeline.start) if connections else ""
    return (
        f'<section class="wide timeline" data-start="{timeline.start:g}" data-end="{timeline.end:g}"><h2>{escape(timeline.title)}</h2>'
        f'<div class="tracks">{terms}{"".join(parts)}{lane}{_axis(timeline.start, length)}</div>{after}{_events(timeline)}</section>\n'
    )


def _x(at: float, start: float, length: float) -> float:
    return 100 * (at - start) / length


def _lane(lane: Lane, start: float, length: float) -> str:
    shapes = []
    for span in lane.spans:
        x, width = _x(span.start, start, length), 100 * (span.end - span.start) / length
        css = MARKS[span.status].css if span.status else "plain"
        title = f"{lane.name}: {span.text}, +{span.start:g} s to +{span.end:g} s"
        shapes.append(
            f'<rect class="{css}" x="{x:.3f}%" width="{max(width, 0.05):.3f}%" y="4" height="14" rx="2" '
            f'data-s="{span.start:.6g}" data-e="{span.end:.6g}"><title>{escape(title)}</title></rect>'
        )
        shapes.append(_label(span.text, x, width, span.start, span.end))
    events = sorted(lane.events, key=lambda event: event.at)
    for i, event in enumerate(events):
        x = _x(event.at, start, length)
        css = MARKS[event.status].css if event.status else "plain"
        title = f"{lane.name}: {event.text}, +{event.at:g} s"
        shapes.append(
            f'<line class="{css}" x1="{x:.3f}%" x2="{x:.3f}%" y1="0" y2="22" data-s="{event.at:.6g}">'
            f"<title>{escape(title)}</title></line>"
        )
        begins = [span.start for span in lane.spans if span.start > event.at]
        following = min([start + length, *begins, *(event.at for event in events[i + 1 : i + 2])])
        covered = any(span.start <= event.at < span.end for span in lane.spans)
        if not covered:
            shapes.append(_label(event.text, x, 100 * (following - event.at) / length, event.at, following))
    return (
        f'<div class="lane"><span class="label">{escape(lane.name)}</span>'
        f'<svg class="track" width="100%" height="22" role="img" aria-label="{escape(_in_words(lane))}">{"".join(shapes)}</svg></div>'
    )


def _label(text: str, x: float, width: float, start: float, end: float) -> str:
    """A label, hidden where it has no room on an axis about 1000 pixels long; the script measures again on each zoom."""
    tight = "" if len(text) * 0.66 + 0.7 < width else ' class="tight"'
    return f'<text{tight} x="{x:.3f}%" dx="4" y="15" data-s="{start:.6g}" data-r="{end:.6g}">{escape(text)}</text>'


def _in_words(lane: Lane) -> str:
    """The lane in words, for those who do not see it."""
    moments = [f"{span.text} from +{span.start:g} to +{span.end:g} s" for span in lane.spans]
    moments += [f"{event.text} at +{event.at:g} s" for event in lane.events]
    return f"{lane.name}: {'; '.join(moments) or 'nothing'}"


def _terms(terms: tuple[Span, ...], start: float, length: float) -> str:
    """The budget's own lane, and its ends as lines over all the others."""
    ends = sorted({at for term in terms for at in (term.start, term.end)})
    lines = "".join(
        f'<line x1="{_x(at, start, length):.3f}%" x2="{_x(at, start, length):.3f}%" y1="0" y2="100%" data-s="{at:.6g}"/>'
        for at in ends
    )
    lane = _lane(Lane("budget", "", terms), start, length).replace('class="lane"', 'class="lane terms"', 1)
    return f'<svg class="over" aria-hidden="true">{lines}</svg>{lane}'


def _axis(start: float, length: float) -> str:
    ticks = []
    for i in range(9):
        at = start + length * i / 8
        anchor = "start" if i == 0 else "end" if i == 8 else "middle"  # labels stay inside the axis
        ticks.append(f'<text x="{i * 12.5}%" y="14" text-anchor="{anchor}">{at:.4g} s</text>')
    return (
        '<div class="lane axis"><span class="label"></span>'
        f'<svg class="track" width="100%" height="18" aria-hidden="true">{"".join(ticks)}</svg></div>'
    )


def _events(timeline: Timeline) -> str:
    """Everything on the lanes in order of time, as a table to read."""
    moments = [(event.at, lane.name, event.text, event.status) for lane in timeline.lanes for event in lane.events]
    moments += [
        (s.start, lane.name, f"{s.text} ({s.end - s.start:.4g} s)", s.status)
        for lane in timeline.lanes
        for s in lane.spans
    ]
    moments.sort(key=lambda row: (row[0], row[1], row[2]))
    rows = "".join(
        f'<tr><td class="right">+{at:.3f}</td><td>{escape(name)}</td><td>{sign(status) if status else ""}{escape(text)}</td></tr>\n'
        for at, name, text, status in moments
    )
    return (
        f'<details class="fold"><summary>All moments in order <span class="count">{len(moments)}</span></summary>'
        '<div class="scroll" tabindex="0" role="group" aria-label="all moments"><table><thead><tr>'
        '<th scope="col" class="right">s</th><th scope="col">where</th><th scope="col">what</th></tr></thead>'
        f"<tbody>\n{rows}</tbody></table></div></details>"
    )


def _connections(connections: Connections, start: float, length: float) -> str:
    return (
        '<h3 class="group">Connections</h3><div class="lane connections"><span class="label">'
        f'{count(len(connections.starts), "connection")}</span><div class="field">{_density(connections, start, length)}</div></div>'
    )


def _legend(connections: Connections) -> str:
    items = "".join(f"<li>{sign(status)}{escape(text)}</li>" for text, status in connections.outcomes)
    return f'<ul class="legend">{items}</ul>{_counts(connections)}'


def _columns(connections: Connections, start: float) -> str:
    """What the script draws: names as escaped HTML in JSON, and the columns."""
    order = sorted(
        range(len(connections.starts)),
        key=lambda i: (connections.starts[i], connections.lengths[i], connections.backend[i]),
    )
    header = {
        "count": len(order),
        "unit": UNIT,
        "origin": start,
        "dense": DENSE,
        "outcomes": [[escape(text), MARKS[status].css] for text, status in connections.outcomes],
        "backends": [escape(name) for name in connections.backends],
    }
    names = json.dumps(header, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<script type="application/json" class="held-names">{names}</script>'
        f'<script type="text/plain" class="held-columns">{_packed(connections, order, start)}</script>'
    )


def _packed(connections: Connections, order: list[int], start: float) -> str:
    """Starts as differences (32 bits), lengths (32), backends (16), outcomes (8), little endian, deflated."""
    starts = [max(0, round((connections.starts[i] - start) / UNIT)) for i in order]
    steps = [now - before for before, now in zip([0, *starts], starts, strict=False)]
    lengths = [min(max(0, round(connections.lengths[i] / UNIT)), 0xFFFFFFFF) for i in order]
    n = len(order)
    raw = struct.pack(f"<{n}I", *steps) + struct.pack(f"<{n}I", *lengths)
    raw += struct.pack(f"<{n}H", *(connections.backend[i] for i in order)) + bytes(
        connections.outcome[i] for i in order
    )
    return base64.b64encode(zlib.compress(raw, 9)).decode()


def _density(connections: Connections, start: float, length: float) -> str:
    """How many connections were under way, by outcome, in ``BINS`` parts of the axis."""
    changes = [[0] * (BINS + 1) for _ in connections.outcomes]
    for at, took, outcome in zip(connections.starts, connections.lengths, connections.outcome, strict=True):
        first = min(max(int((at - start) / length * BINS), 0), BINS - 1)
        last = min(max(int((at + took - start) / length * BINS), first), BINS - 1)
        changes[outcome][first] += 1
        changes[outcome][last + 1] -= 1
    counts = [list(accumulate(row))[:BINS] for row in changes]
    most = max((sum(column) for column in zip(*counts, strict=True)), default=0) or 1
    paths = []
    below = [0] * BINS
    # What failed stands on the ground line, where it is seen.
    order = sorted(range(len(counts)), key=lambda i: WORST.index(connections.outcomes[i][1]))
    for status, row in ((connections.outcomes[i][1], counts[i]) for i in order):
        steps = []
        for i, open_now in enumerate(row):
            if open_now:
                top = 100 * (1 - (below[i] + open_now) / most)
                steps.append(f"M{i} {top:.1f}h1v{100 * open_now / most:.1f}h-1z")
            below[i] += open_now
        paths.append(f'<path class="{MARKS[status].css}" d="{"".join(steps)}"/>')
    return (
        f'<svg class="density" width="100%" height="140" viewBox="0 0 {BINS} 100" preserveAspectRatio="none" role="img" '
        f'aria-label="connections under way over time, at most {most} at once">{"".join(paths)}</svg>'
    )


def _counts(connections: Connections) -> str:
    counted = Counter(zip(connections.backend, connections.outcome, strict=True))
    head = "".join(f'<th scope="col" class="right">{escape(text)}</th>' for text, _ in connections.outcomes)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f'<td class="right">{counted[i, j]}</td>' for j in range(len(connections.outcomes)))
        + "</tr>\n"
        for i, name in enumerate(connections.backends)
    )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="how connections ended"><table><thead><tr>'
        f'<th scope="col">connections to</th>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>'
    )
