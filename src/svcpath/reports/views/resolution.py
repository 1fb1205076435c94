"""A resolve report as a Document: one resolver as a ladder of queries; several as a table, where they part, what mends."""

from __future__ import annotations

from svcpath.reports.document import Document, Note, Point, Points, Section, Statement, Table
from svcpath.reports.resolve import (
    DivergenceRecord,
    MendRecord,
    NameRecord,
    OutcomeRecord,
    ResolveReport,
    ResolverRecord,
)
from svcpath.status import Status


def document(report: ResolveReport, *, verbose: bool = False) -> Document:
    sections: list[Section] = []
    for name in report.names:
        if len(report.names) > 1:
            sections.append(Note(name.name))
        if len(name.resolvers) == 1:
            sections.extend(_one(name.resolvers[0]))
        else:
            sections.append(table(name))
            if name.divergence is not None:
                sections.extend(_parting(name.divergence))
            if verbose:
                for each in name.resolvers:
                    sections.append(Note(f"{each.title}: {outcome(each)}"))
                    sections.extend(_ladder(each))
        if name.mends:
            sections.append(mends(name))
    return Document(title(report), tuple(sections), "resolution")


def title(report: ResolveReport) -> str:
    return report.names[0].name if len(report.names) == 1 else f"{len(report.names)} names"


def _said(outcome: OutcomeRecord) -> str:
    if outcome.resolves:
        # "?" stands for an answer that the evidence does not have.
        return ", ".join(one if one != "?" else "an address that is not known" for one in outcome.addresses)
    number = f" ({outcome.number})" if outcome.number is not None else ""
    flags = f" {', '.join(outcome.flags)}" if outcome.flags else ""
    return f'{outcome.code}{number} "{outcome.text}"{flags}'


def outcome(one: ResolverRecord) -> str:
    if one.outcome is not None:
        return _said(one.outcome)
    return "open: " + " or ".join(_said(each) for each in one.possible[:4])


def table(name: NameRecord) -> Table:
    rows = tuple((one.title, str(one.queries), outcome(one)) for one in name.resolvers)
    return Table(("resolver", "queries", "outcome"), rows, "lrl")


def _one(one: ResolverRecord) -> list[Section]:
    sections: list[Section] = [*_ladder(one)]
    if one.outcome is None:
        sections.append(Statement(Status.INCONCLUSIVE, "OPEN", outcome(one).removeprefix("open: ")))
        sections.append(Points("It hangs on", tuple(Point(text) for text in one.assumed[:6])))
        return sections
    status, word = (Status.PASS, "RESOLVES") if one.outcome.resolves else (Status.FAIL, "FAILS")
    sections.append(Statement(status, f"{word} with {one.title}", _said(one.outcome)))
    rule = Point(f"{one.outcome.rule} ({one.outcome.source})")
    sections.append(Points("Rule that ends it", (rule,), plain=True))
    sections.append(Note(f"{one.queries} queries; with silent servers it takes {one.seconds_with_silent_servers:g} s"))
    return sections


def _ladder(one: ResolverRecord) -> list[Section]:
    points = tuple(
        Point(
            f"+{step.sent:g} s  {step.name}.  "
            + ", ".join(f"{kind} {answer}" for kind, answer in step.answers.items()),
            after=f"{step.rule} ({step.source})" + "".join(f"; {note}" for note in step.notes),
        )
        for step in one.steps
    )
    return [Points("Queries", points, numbered=True)] if points else [Note("no query is sent")]


def _parting(one: DivergenceRecord) -> list[Section]:
    answers = ", ".join(f"{kind} {answer}" for kind, answer in one.candidate.answers.items())
    points = [Point(f"{one.candidate.name}.  {answers}")]
    points += [Point(f"{', '.join(side.resolvers)} {side.action} ({side.source})") for side in one.sides]
    return [Points(f"They part at candidate {one.position} of {one.of}", tuple(points))]


def mends(name: NameRecord) -> Table:
    failing = any(one.outcome is not None and not one.outcome.resolves for one in name.resolvers)
    title = "What would mend it, each re-run" if failing else "Nothing fails; what would save queries, each re-run"
    return Table(
        ("change", "what it leads to"),
        tuple((one.label, _mend(one)) for one in name.mends),
        title=title,
    )


def _mend(one: MendRecord) -> str:
    queries = f"{one.queries} queries" if one.queries else "no query"
    if not one.still_failing and not one.broken:
        return f"all resolve, {queries}"
    parts = [f"{', '.join(one.mended)} resolve now"] if one.mended else []
    if one.still_failing:
        parts.append(f"{', '.join(one.still_failing)} still fail")
    if one.broken:
        parts.append(f"{', '.join(one.broken)} no longer resolve")
    return "; ".join(parts) + f"; {queries}"
