"""Sections made to be opened and looked at, told as lists and tables: for the forms that are read top to bottom."""

from __future__ import annotations

from collections import Counter

from svcpath.reports.document import (
    Claim,
    Exhibit,
    Ladder,
    Mark,
    Matrix,
    Note,
    Path,
    Point,
    Points,
    Section,
    Table,
    Timeline,
)


def simpler(section: Section) -> tuple[Section, ...]:
    """The same facts in Path, Statement, Points, Table and Note alone."""
    match section:
        case Claim():
            return _claim(section)
        case Matrix(title, columns, rows, note):
            cells = tuple(
                tuple(
                    " ".join(part for part in (cell.text, f"({cell.below})" if cell.below else "") if part)
                    for cell in row
                )
                for row in rows
            )
            table = Table(columns, cells, title=title)
            return (table, Note(note)) if note else (table,)
        case Ladder():
            return _ladder(section)
        case Timeline():
            return _timeline(section)
        case Path(stations, hops) if hops or any(one.details for one in stations):
            opened = tuple(part for one in stations for each in one.details for part in simpler(each))
            return (Path(stations, title=section.title), *opened)
        case _:
            return (section,)


def _point(one: Exhibit) -> Point:
    place = f"{one.path}:{one.line}" if one.path and one.line else one.path
    return Point(one.text, one.command, place)


def _claim(one: Claim) -> tuple[Section, ...]:
    share = f" ({one.share})" if one.share else ""
    points = [_point(each) for each in one.exhibits] + [Point(text) for text in one.details]
    points += [
        Point(f"{each.confidence}: {each.text}", each.command, after=each.refutes)
        for each in one.causes
        if each.command or each.text != one.title
    ]
    points += [Point(f"mend: {one.remedy}")] if one.remedy and one.mark is not Mark.PASS else []
    title = f"{one.code} {one.mark.value}{f' at {one.about}' if one.about else ''}: {one.text}{share}"
    return (Points(title, tuple(points)),)


def _ladder(one: Ladder) -> tuple[Section, ...]:
    sections: list[Section] = []
    for side in one.sides:
        points = tuple(
            Point(
                f"{rung.at}  {rung.asked}  " + ", ".join(f"{kind} {answer}" for kind, answer in rung.answers),
                after="; ".join((f"{rung.rule} ({rung.source})" if rung.source else rung.rule, *rung.notes)),
            )
            for rung in side.rungs
        )
        sections.append(Points(f"{side.name}: {side.end}", points, numbered=True))
    return tuple(sections)


def _timeline(one: Timeline) -> tuple[Section, ...]:
    """What happened, in order, and how connections ended on each backend."""
    told = [(event.at, lane.name, event.text) for lane in one.lanes for event in lane.events]
    told += [(span.start, lane.name, f"{span.text} until +{span.end:g}") for lane in one.lanes for span in lane.spans]
    rows = tuple((f"+{at:.2f}", name, text) for at, name, text in sorted(told))
    sections: list[Section] = [Table(("s", "where", "what"), rows, "r", one.title)]
    if one.terms:
        terms = tuple((term.text, f"{term.end - term.start:g}") for term in one.terms)
        sections.append(Table(("term", "seconds"), terms, "lr"))
    held = one.connections
    if held is not None:
        counts = Counter(zip(held.backend, held.outcome, strict=True))
        table = tuple(
            (backend, *(str(counts[i, j]) for j in range(len(held.outcomes))))
            for i, backend in enumerate(held.backends)
        )
        columns = ("connections to", *(text for text, _ in held.outcomes))
        sections.append(Table(columns, table, "l" + "r" * len(held.outcomes)))
    return tuple(sections)
