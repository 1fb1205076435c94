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
        case Path(lines, hops) if hops or any(line.details for line in lines):
            opened = tuple(part for line in lines for detail in line.details for part in simpler(detail))
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


def _ladder(ladder: Ladder) -> tuple[Section, ...]:
    sections: list[Section] = []
    for side in ladder.sides:
        points = tuple(
            Point(
                f"{rung.at}  {rung.asked}  " + ", ".join(f"{kind} {answer}" for kind, answer in rung.answers),
                after="; ".join((f"{rung.rule} ({rung.source})" if rung.source else rung.rule, *rung.notes)),
            )
            for rung in side.rungs
        )
        sections.append(Points(f"{side.name}: {side.end}", points, numbered=True))
    return tuple(sections)


def _timeline(timeline: Timeline) -> tuple[Section, ...]:
    """What happened, in order, and how connections ended on each backend."""
    moments = [(event.at, lane.name, event.text) for lane in timeline.lanes for event in lane.events]
    moments += [
        (span.start, lane.name, f"{span.text} until +{span.end:g}") for lane in timeline.lanes for span in lane.spans
    ]
    rows = tuple((f"+{at:.2f}", name, text) for at, name, text in sorted(moments))
    sections: list[Section] = [Table(("s", "where", "what"), rows, "r", timeline.title)]
    if timeline.terms:
        terms = tuple((term.text, f"{term.end - term.start:g}") for term in timeline.terms)
        sections.append(Table(("term", "seconds"), terms, "lr"))
    connections = timeline.connections
    if connections is not None:
        counts = Counter(zip(connections.backend, connections.outcome, strict=True))
        table = tuple(
            (backend, *(str(counts[i, j]) for j in range(len(connections.outcomes))))
            for i, backend in enumerate(connections.backends)
        )
        columns = ("connections to", *(text for text, _ in connections.outcomes))
        sections.append(Table(columns, table, "l" + "r" * len(connections.outcomes)))
    return tuple(sections)
