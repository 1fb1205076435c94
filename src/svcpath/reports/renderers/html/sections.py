"""Each kind of section as HTML."""

from __future__ import annotations

from svcpath.reports.document import (
    Cell,
    FindingCard,
    Ladder,
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
from svcpath.reports.records import Evidence, Hypothesis
from svcpath.reports.renderers.html import picture, timeline
from svcpath.reports.renderers.html.markup import MARKS, bar, block, command, escape, ids, sign, slug, tag
from svcpath.status import Status


def section(section_: Section) -> str:
    match section_:
        case Statement():
            return _statement(section_)
        case Path():
            return _path(section_)
        case Points():
            return _points(section_)
        case Table():
            return _table(section_)
        case Note(text):
            return tag("p", text, "note") + "\n"
        case FindingCard():
            return _finding(section_, shown=False)
        case Matrix():
            return _matrix(section_)
        case Ladder():
            return _ladder(section_)
        case Timeline():
            return timeline.render(section_)


def _statement(statement: Statement) -> str:
    chips = tag("span", statement.code, "chip") if statement.code else ""
    chips += tag("span", statement.confidence, "chip soft") if statement.confidence else ""
    shown = MARKS[statement.status]
    return (
        f'<section class="verdict {shown.css}"><p class="word">{sign(statement.status)}'
        f'{tag("strong", statement.word)}{chips}</p><p class="summary">{escape(statement.text)}</p></section>\n'
    )


def _path(path: Path) -> str:
    drawn = picture.render(path) if path.hops else ""
    failed = next((line for line in path.lines if line.status is Status.FAIL), None)
    opened = failed or next((line for line in path.lines if line.status is not Status.PASS and line.details), None)
    rows = []
    for line, place in zip(path.lines, ids([line.name for line in path.lines]), strict=True):
        shown = MARKS[line.status]
        after = "" if line.decisive else tag("span", "not decisive", "chip soft")
        inner = _inside(line.details) or tag("p", "Nothing more was found here.", "note")
        state = " open" if line is opened else ""
        quiet = "" if line.decisive else " beyond"
        rows.append(
            f'<details class="layer {shown.css}{quiet}"{state}><summary>{sign(line.status)}'
            f'<span class="name">{escape(line.name)}</span><span class="what">{escape(line.sentence)}</span>{after}</summary>'
            f'<div class="body" id="{place}">{inner}</div></details>\n'
        )
    return (
        f'{drawn}<section aria-label="{escape(path.title)}"><h2>{escape(path.title)}</h2>\n{"".join(rows)}</section>\n'
    )


def _inside(details: tuple[Section, ...]) -> str:
    """What a line opens to: the finding that decides stands open, else the first; the others open one by one."""
    cards = [detail for detail in details if isinstance(detail, FindingCard)]
    first = next((card for card in cards if card.decides), cards[0] if cards else None)
    return "".join(
        _finding(detail, shown=detail is first) if isinstance(detail, FindingCard) else section(detail)
        for detail in details
    )


def _points(points: Points) -> str:
    if points.plain and len(points.points) > 1 and all(_bare(point) for point in points.points):
        # The lines of one text, to copy whole.
        lines = "\n".join(escape(point.command) for point in points.points)
        return f'<section class="points"><h2>{escape(points.title)}</h2>{block(lines)}</section>\n'
    items = "".join(f"<li>{_point(point)}</li>" for point in points.points)
    kind = "ol" if points.numbered else "ul"
    plain = ' class="plain"' if points.plain or (len(points.points) == 1 and not points.numbered) else ""
    body = f"<{kind}{plain}>{items}</{kind}>" if items else ""
    return f'<section class="points"><h2>{escape(points.title)}</h2>{body}</section>\n'


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


def _table(table: Table) -> str:
    right = [i < len(table.align) and table.align[i] == "r" for i in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{" class=right" if right[i] else ""}>{escape(text)}</th>'
        for i, text in enumerate(table.columns)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=right' if i < len(right) and right[i] else ''}>{escape(text)}</td>"
            for i, text in enumerate(row)
        )
        + "</tr>\n"
        for row in table.rows
    )
    markup = f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>"
    label = table.title or ", ".join(table.columns)
    if table.title and len(table.rows) > 12:
        return f'<details class="fold"><summary><h2>{escape(table.title)}</h2> <span class="count">{len(table.rows)}</span></summary>{_scroller(markup, label)}</details>\n'
    title = f"<h2>{escape(table.title)}</h2>" if table.title else ""
    return f'<section class="wide">{title}{_scroller(markup, label)}</section>\n'


def _cell(cell: Cell, name: str) -> str:
    status = sign(cell.status) if cell.status else ""
    share = bar(cell.share) if cell.share is not None else ""
    below = tag("span", cell.below, "below") if cell.below else ""
    css = f' class="{MARKS[cell.status].css}"' if cell.status else ""
    scope = ' scope="row"' if name == "th" else ""
    return f"<{name}{scope}{css}>{status}{escape(cell.text)}{share}{below}</{name}>"


def _matrix(matrix: Matrix) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in matrix.columns)
    rows = "".join(
        "<tr>" + "".join(_cell(cell, "td" if i else "th") for i, cell in enumerate(row)) + "</tr>\n"
        for row in matrix.rows
    )
    note = tag("p", matrix.note, "note") if matrix.note else ""
    table = f'<table class="matrix"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>'
    return f'<section class="wide"><h2>{escape(matrix.title)}</h2>{_scroller(table, matrix.title)}{note}</section>\n'


def _evidence(pieces: list[Evidence]) -> str:
    """Neighbours that one command shows again, as one point."""
    lines = "<br>".join(
        f"{escape(piece.sentence)} {tag('span', piece.place, 'place') if piece.place else ''}" for piece in pieces
    )
    return f"<li>{lines}{command(pieces[0].command) if pieces[0].command else ''}</li>"


def _evidence_items(pieces: tuple[Evidence, ...]) -> str:
    groups: list[list[Evidence]] = []
    for piece in pieces:
        if groups and piece.command and groups[-1][0].command == piece.command:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return "".join(_evidence(group) for group in groups)


def _listed(pieces: tuple[Evidence, ...]) -> str:
    return f"<ul>{_evidence_items(pieces)}</ul>" if pieces else ""


def _finding(card: FindingCard, *, shown: bool) -> str:
    finding = card.finding
    share = tag("span", finding.share, "chip soft") if finding.share else ""
    decides = " decides" if card.decides else ""
    meaning = f'<p class="meaning">{tag("b", card.title)} {escape(card.meaning)}</p>' if card.meaning else ""
    details = "".join(f"<li>{escape(text)}</li>" for text in finding.details)
    items = _evidence_items(finding.evidence) + details
    evidence = f"<h4>Evidence</h4><ol>{items}</ol>" if items else ""
    causes = "".join(_hypothesis(hypothesis, finding.evidence) for hypothesis in finding.hypotheses)
    hypotheses = f"<h4>Hypotheses</h4>{causes}" if causes else ""
    fix = f"<h4>Fix</h4><p>{escape(finding.remedy)}</p>" if finding.remedy and finding.status is not Status.PASS else ""
    head = f"<h3>{sign(finding.status)}{escape(finding.sentence)} {tag('span', finding.code, 'chip')}{share}</h3>"
    inner = f"{meaning}{evidence}{hypotheses}{fix}"
    if inner:
        state = " open" if shown else ""
        head = f'<details{state}><summary>{head}</summary><div class="inner">{inner}</div></details>'
    return f'<article class="finding {MARKS[finding.status].css}{decides}">{head}</article>\n'


def _hypothesis(hypothesis: Hypothesis, shown: tuple[Evidence, ...]) -> str:
    """What supports it stands once: evidence that is shown under Evidence already is only counted here."""
    fresh = tuple(piece for piece in hypothesis.supports if piece not in shown)
    supports = _listed(fresh)
    if len(fresh) < len(hypothesis.supports):
        supports = f'<p class="quiet">what stands under Evidence</p>{supports}'
    parts = [f"<dt>supports it</dt><dd>{supports}</dd>"] if supports else []
    parts += [f"<dt>against it</dt><dd>{_listed(hypothesis.against)}</dd>"] if hypothesis.against else []
    if hypothesis.disproof:
        outcome = tag("span", hypothesis.refutes, "after")
        parts.append(f"<dt>to disprove</dt><dd>{command(hypothesis.disproof)}{outcome}</dd>")
    body = f"<dl>{''.join(parts)}</dl>" if parts else ""
    confidence = hypothesis.confidence.value
    chip = tag("span", confidence, "chip soft")
    return f'<div class="hypothesis {slug(confidence)}"><p>{chip} {escape(hypothesis.cause)}</p>{body}</div>'


def _ladder(ladder: Ladder) -> str:
    shown = [side for side in ladder.sides if side.shown] or list(ladder.sides[:2])
    rest = [side for side in ladder.sides if side not in shown]
    pair = "".join(_side(side, ladder) for side in shown)
    more = "".join(
        f'<details class="fold"><summary>{sign(side.status)}<span class="name">{escape(side.name)}</span> '
        f"{escape(side.end)}</summary>{_side(side, ladder)}</details>"
        for side in rest
    )
    return f'<section class="wide"><h2>{escape(ladder.title)}</h2><div class="ladders">{pair}</div>{more}</section>\n'


def _side(side: Side, ladder: Ladder) -> str:
    rungs = "".join(_rung(rung) for rung in side.rungs)
    body = f"<ol>{rungs}</ol>" if rungs else tag("p", "no query is sent", "note")
    rule = tag("span", side.rule, "after") if side.rule else ""
    return (
        f'<article class="ladder"><h3>{sign(side.status)}{escape(side.name)}</h3>'
        f'<p class="ends" aria-hidden="true"><span>{escape(ladder.left)}</span><span>{escape(ladder.right)}</span></p>{body}'
        f'<p class="end {MARKS[side.status].css}">{sign(side.status)}{escape(side.end)} {rule}</p></article>'
    )


def _rung(rung: Rung) -> str:
    answers = "".join(
        f'<div class="answer"><span class="kind">{escape(kind)}</span> {escape(answer)}</div>'
        for kind, answer in rung.answers
    )
    here = ' class="parts"' if rung.parts else ""
    flag = tag("span", "resolvers diverge here", "chip") if rung.parts else ""
    source = tag("span", rung.source, "place") if rung.source else ""
    rule = f'<p class="rule">{escape(rung.rule)} {source}</p>' if rung.rule else ""
    notes = "".join(tag("p", note, "rule") for note in rung.notes)
    return (
        f'<li{here}>{rule}<div class="query"><span class="at">{escape(rung.at)}</span> <b>{escape(rung.asked)}</b>{flag}'
        f"</div>{answers}{notes}</li>"
    )
