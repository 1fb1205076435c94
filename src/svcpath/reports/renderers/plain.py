"""Sections made to be opened and looked at, as lists and tables: for the forms that are read top to bottom."""

from __future__ import annotations

from collections import Counter

from svcpath.reports.document import FindingCard, Ladder, Matrix, Note, Path, Point, Points, Section, Table, Timeline
from svcpath.status import Status


def simpler(section: Section) -> tuple[Section, ...]:
    """The same facts in Path, Statement, Points, Table and Note alone."""
    match section:
        case FindingCard():
            return _finding(section)
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
        case Path(lines, hops) if hops or any(one.details for one in lines):
            opened = tuple(part for one in lines for each in one.details for part in simpler(each))
            return (Path(lines, title=section.title), *opened)
        case _:
            return (section,)


def _finding(card: FindingCard) -> tuple[Section, ...]:
    finding = card.finding
    share = f" ({finding.share})" if finding.share else ""
    points = [Point(piece.sentence, piece.command, piece.place) for piece in finding.evidence]
    points += [Point(text) for text in finding.details]
    points += [
        Point(f"{hypothesis.confidence.value}: {hypothesis.cause}", hypothesis.disproof, after=hypothesis.refutes)
        for hypothesis in finding.hypotheses
        if hypothesis.disproof or hypothesis.cause != card.title
    ]
    points += [Point(f"fix: {finding.remedy}")] if finding.remedy and finding.status is not Status.PASS else []
    layer = f" at {finding.layer}" if finding.layer else ""
    title = f"{finding.code} {finding.status.value}{layer}: {finding.sentence}{share}"
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
