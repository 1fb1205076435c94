"""Each kind of section as HTML."""

from __future__ import annotations

from svcpath.reports.document import (
    Cause,
    Cell,
    Claim,
    Exhibit,
    Ladder,
    Mark,
    Matrix,
    Note,
    Path,
    Point,
    Points,
    Rung,
    Section,
    Side,
    Statement,
    Table,
    Timeline,
)
from svcpath.reports.renderers.html import picture, timeline
from svcpath.reports.renderers.html.markup import MARKS, bar, block, command, escape, ids, sign, slug, tag


def section(one: Section) -> str:
    match one:
        case Statement():
            return _statement(one)
        case Path():
            return _path(one)
        case Points():
            return _points(one)
        case Table():
            return _table(one)
        case Note(text):
            return tag("p", text, "note") + "\n"
        case Claim():
            return _claim(one, shown=False)
        case Matrix():
            return _matrix(one)
        case Ladder():
            return _ladder(one)
        case Timeline():
            return timeline.render(one)


def _statement(one: Statement) -> str:
    chips = tag("span", one.code, "chip") if one.code else ""
    chips += tag("span", one.confidence, "chip soft") if one.confidence else ""
    shown = MARKS[one.mark]
    return (
        f'<section class="verdict {shown.css}"><p class="word">{sign(one.mark)}'
        f'{tag("strong", one.word)}{chips}</p><p class="summary">{escape(one.text)}</p></section>\n'
    )


def _path(one: Path) -> str:
    drawn = picture.render(one) if one.hops else ""
    failed = next((station for station in one.stations if station.mark is Mark.FAIL), None)
    opened = failed or next(
        (station for station in one.stations if station.mark is not Mark.PASS and station.details), None
    )
    rows = []
    for station, place in zip(one.stations, ids([each.name for each in one.stations]), strict=True):
        shown = MARKS[station.mark]
        after = "" if station.decisive else tag("span", "not decisive", "chip soft")
        inner = _inside(station.details) or tag("p", "Nothing more was found here.", "note")
        state = " open" if station is opened else ""
        quiet = "" if station.decisive else " beyond"
        rows.append(
            f'<details class="layer {shown.css}{quiet}"{state}><summary>{sign(station.mark)}'
            f'<span class="name">{escape(station.name)}</span><span class="what">{escape(station.sentence)}</span>{after}</summary>'
            f'<div class="body" id="{place}">{inner}</div></details>\n'
        )
    return f'{drawn}<section aria-label="{escape(one.title)}"><h2>{escape(one.title)}</h2>\n{"".join(rows)}</section>\n'


def _inside(details: tuple[Section, ...]) -> str:
    """What a station opens to: the claim that decides stands open, else the first; the others open one by one."""
    claims = [one for one in details if isinstance(one, Claim)]
    first = next((one for one in claims if one.chief), claims[0] if claims else None)
    return "".join(_claim(one, shown=one is first) if isinstance(one, Claim) else section(one) for one in details)


def _points(one: Points) -> str:
    if one.plain and len(one.points) > 1 and all(_bare(point) for point in one.points):
        # The lines of one text, to copy whole.
        lines = "\n".join(escape(point.command) for point in one.points)
        return f'<section class="points"><h2>{escape(one.title)}</h2>{block(lines)}</section>\n'
    items = "".join(f"<li>{_point(point)}</li>" for point in one.points)
    kind = "ol" if one.numbered else "ul"
    plain = ' class="plain"' if one.plain or (len(one.points) == 1 and not one.numbered) else ""
    body = f"<{kind}{plain}>{items}</{kind}>" if items else ""
    return f'<section class="points"><h2>{escape(one.title)}</h2>{body}</section>\n'


def _bare(point: Point) -> bool:
    return bool(point.command) and not (point.text or point.place or point.after)


def _point(point: Point) -> str:
    parts = [escape(point.text)] if point.text else []
    parts += [tag("span", point.place, "place")] if point.place else []
    parts += [command(point.command)] if point.command else []
    parts += [tag("span", point.after, "after")] if point.after else []
    return " ".join(parts)


def _scroller(inner: str, label: str) -> str:
    """Wide tables scroll on their own, also by keyboard."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(label)}">{inner}</div>\n'


def _table(one: Table) -> str:
    right = [i < len(one.align) and one.align[i] == "r" for i in range(len(one.columns))]
    head = "".join(
        f'<th scope="col"{" class=right" if right[i] else ""}>{escape(text)}</th>' for i, text in enumerate(one.columns)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=right' if i < len(right) and right[i] else ''}>{escape(text)}</td>"
            for i, text in enumerate(row)
        )
        + "</tr>\n"
        for row in one.rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>"
    label = one.title or ", ".join(one.columns)
    if one.title and len(one.rows) > 12:
        return f'<details class="fold"><summary><h2>{escape(one.title)}</h2> <span class="count">{len(one.rows)}</span></summary>{_scroller(table, label)}</details>\n'
    title = f"<h2>{escape(one.title)}</h2>" if one.title else ""
    return f'<section class="wide">{title}{_scroller(table, label)}</section>\n'


def _cell(cell: Cell, name: str) -> str:
    mark = sign(cell.mark) if cell.mark else ""
    share = bar(cell.share) if cell.share is not None else ""
    below = tag("span", cell.below, "below") if cell.below else ""
    css = f' class="{MARKS[cell.mark].css}"' if cell.mark else ""
    scope = ' scope="row"' if name == "th" else ""
    return f"<{name}{scope}{css}>{mark}{escape(cell.text)}{share}{below}</{name}>"


def _matrix(one: Matrix) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in one.columns)
    rows = "".join(
        "<tr>" + "".join(_cell(cell, "td" if i else "th") for i, cell in enumerate(row)) + "</tr>\n" for row in one.rows
    )
    note = tag("p", one.note, "note") if one.note else ""
    table = f'<table class="matrix"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>'
    return f'<section class="wide"><h2>{escape(one.title)}</h2>{_scroller(table, one.title)}{note}</section>\n'


def _exhibit(held: tuple[Exhibit, ...]) -> str:
    """Neighbours that one command shows again, as one point."""
    said = "<br>".join(f"{escape(one.text)} {tag('span', _place(one), 'place') if one.path else ''}" for one in held)
    return f"<li>{said}{command(held[0].command) if held[0].command else ''}</li>"


def _place(one: Exhibit) -> str:
    return f"{one.path}:{one.line}" if one.line else one.path


def _exhibits(held: tuple[Exhibit, ...]) -> str:
    items: list[list[Exhibit]] = []
    for one in held:
        if items and one.command and items[-1][0].command == one.command:
            items[-1].append(one)
        else:
            items.append([one])
    return "".join(_exhibit(tuple(group)) for group in items)


def _listed(held: tuple[Exhibit, ...]) -> str:
    return f"<ul>{_exhibits(held)}</ul>" if held else ""


def _claim(one: Claim, *, shown: bool) -> str:
    share = tag("span", one.share, "chip soft") if one.share else ""
    chief = " chief" if one.chief else ""
    meaning = f'<p class="meaning">{tag("b", one.title)} {escape(one.meaning)}</p>' if one.meaning else ""
    details = "".join(f"<li>{escape(text)}</li>" for text in one.details)
    because = _exhibits(one.exhibits) + details
    evidence = f"<h4>Because</h4><ol>{because}</ol>" if because else ""
    causes = "".join(_cause(each, one.exhibits) for each in one.causes)
    hypotheses = f"<h4>Hypotheses</h4>{causes}" if causes else ""
    mend = f"<h4>Mend</h4><p>{escape(one.remedy)}</p>" if one.remedy and one.mark is not Mark.PASS else ""
    head = f"<h3>{sign(one.mark)}{escape(one.text)} {tag('span', one.code, 'chip')}{share}</h3>"
    inner = f"{meaning}{evidence}{hypotheses}{mend}"
    if inner:
        state = " open" if shown else ""
        head = f'<details{state}><summary>{head}</summary><div class="inner">{inner}</div></details>'
    return f'<article class="claim {MARKS[one.mark].css}{chief}">{head}</article>\n'


def _cause(one: Cause, told: tuple[Exhibit, ...]) -> str:
    """What supports it is told once: evidence that stands under Because already is only counted here."""
    fresh = tuple(each for each in one.supports if each not in told)
    again = len(one.supports) - len(fresh)
    supports = _listed(fresh)
    if again:
        supports = f'<p class="quiet">what stands under Because</p>{supports}'
    parts = [f"<dt>supports it</dt><dd>{supports}</dd>"] if supports else []
    parts += [f"<dt>against it</dt><dd>{_listed(one.against)}</dd>"] if one.against else []
    if one.command:
        parts.append(f"<dt>would refute it</dt><dd>{command(one.command)}{tag('span', one.refutes, 'after')}</dd>")
    body = f"<dl>{''.join(parts)}</dl>" if parts else ""
    return f'<div class="cause {slug(one.confidence)}"><p>{tag("span", one.confidence, "chip soft")} {escape(one.text)}</p>{body}</div>'


def _ladder(one: Ladder) -> str:
    shown = [side for side in one.sides if side.shown] or list(one.sides[:2])
    rest = [side for side in one.sides if side not in shown]
    pair = "".join(_side(side, one) for side in shown)
    more = "".join(
        f'<details class="fold"><summary>{sign(side.mark)}<span class="name">{escape(side.name)}</span> '
        f"{escape(side.end)}</summary>{_side(side, one)}</details>"
        for side in rest
    )
    return f'<section class="wide"><h2>{escape(one.title)}</h2><div class="ladders">{pair}</div>{more}</section>\n'


def _side(side: Side, one: Ladder) -> str:
    rungs = "".join(_rung(rung) for rung in side.rungs)
    body = f"<ol>{rungs}</ol>" if rungs else tag("p", "no query is sent", "note")
    rule = tag("span", side.rule, "after") if side.rule else ""
    return (
        f'<article class="ladder"><h3>{sign(side.mark)}{escape(side.name)}</h3>'
        f'<p class="ends" aria-hidden="true"><span>{escape(one.left)}</span><span>{escape(one.right)}</span></p>{body}'
        f'<p class="end {MARKS[side.mark].css}">{sign(side.mark)}{escape(side.end)} {rule}</p></article>'
    )


def _rung(rung: Rung) -> str:
    answers = "".join(
        f'<div class="answer"><span class="kind">{escape(kind)}</span> {escape(answer)}</div>'
        for kind, answer in rung.answers
    )
    here = ' class="parts"' if rung.parts else ""
    flag = tag("span", "they part here", "chip") if rung.parts else ""
    source = tag("span", rung.source, "place") if rung.source else ""
    rule = f'<p class="rule">{escape(rung.rule)} {source}</p>' if rung.rule else ""
    notes = "".join(tag("p", note, "rule") for note in rung.notes)
    return (
        f'<li{here}>{rule}<div class="query"><span class="at">{escape(rung.at)}</span> <b>{escape(rung.asked)}</b>{flag}'
        f"</div>{answers}{notes}</li>"
    )
