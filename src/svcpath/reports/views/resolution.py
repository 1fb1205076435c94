"""A resolve report as a Document: one resolver as a ladder of queries; several as a table, where they diverge, what fixes it."""

from __future__ import annotations

from svcpath.reports.document import Document, Note, Point, Points, Section, Statement, Table
from svcpath.reports.resolve import (
    DivergenceRecord,
    FixRecord,
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
                for resolver in name.resolvers:
                    sections.append(Note(f"{resolver.title}: {outcome(resolver)}"))
                    sections.extend(_ladder(resolver))
        if name.fixes:
            sections.append(fixes(name))
    return Document(title(report), tuple(sections), "resolution")


def title(report: ResolveReport) -> str:
    return report.names[0].name if len(report.names) == 1 else f"{len(report.names)} names"


def _said(outcome: OutcomeRecord) -> str:
    if outcome.resolves:
        # "?" stands for an answer that the evidence does not have.
        return ", ".join(address if address != "?" else "an address that is not known" for address in outcome.addresses)
    number = f" ({outcome.number})" if outcome.number is not None else ""
    flags = f" {', '.join(outcome.flags)}" if outcome.flags else ""
    return f'{outcome.code}{number} "{outcome.text}"{flags}'


def outcome(resolver: ResolverRecord) -> str:
    if resolver.outcome is not None:
        return _said(resolver.outcome)
    return "open: " + " or ".join(_said(outcome) for outcome in resolver.possible[:4])


def table(name: NameRecord) -> Table:
    rows = tuple((resolver.title, str(resolver.queries), outcome(resolver)) for resolver in name.resolvers)
    return Table(("resolver", "queries", "outcome"), rows, "lrl")


def _one(resolver: ResolverRecord) -> list[Section]:
    sections: list[Section] = [*_ladder(resolver)]
    if resolver.outcome is None:
        sections.append(Statement(Status.INCONCLUSIVE, "UNDETERMINED", outcome(resolver).removeprefix("open: ")))
        sections.append(Points("Depends on", tuple(Point(text) for text in resolver.assumed[:6])))
        return sections
    status, word = (Status.PASS, "RESOLVES") if resolver.outcome.resolves else (Status.FAIL, "FAILS")
    sections.append(Statement(status, f"{word} with {resolver.title}", _said(resolver.outcome)))
    rule = Point(f"{resolver.outcome.rule} ({resolver.outcome.source})")
    sections.append(Points("Rule that ends it", (rule,), plain=True))
    sections.append(
        Note(f"{resolver.queries} queries; with silent servers it takes {resolver.seconds_with_silent_servers:g} s")
    )
    return sections


def _ladder(resolver: ResolverRecord) -> list[Section]:
    points = tuple(
        Point(
            f"+{step.sent:g} s  {step.name}.  "
            + ", ".join(f"{kind} {answer}" for kind, answer in step.answers.items()),
            after=f"{step.rule} ({step.source})" + "".join(f"; {note}" for note in step.notes),
        )
        for step in resolver.steps
    )
    return [Points("Queries", points, numbered=True)] if points else [Note("no query is sent")]


def _parting(divergence: DivergenceRecord) -> list[Section]:
    answers = ", ".join(f"{kind} {answer}" for kind, answer in divergence.candidate.answers.items())
    points = [Point(f"{divergence.candidate.name}.  {answers}")]
    points += [Point(f"{', '.join(side.resolvers)} {side.action} ({side.source})") for side in divergence.sides]
    return [Points(f"Resolvers diverge at candidate {divergence.position} of {divergence.of}", tuple(points))]


def fixes(name: NameRecord) -> Table:
    failing = any(resolver.outcome is not None and not resolver.outcome.resolves for resolver in name.resolvers)
    title = "What would fix it, each re-run" if failing else "Nothing fails; what would save queries, each re-run"
    return Table(
        ("change", "what it leads to"),
        tuple((fix.label, _fix(fix)) for fix in name.fixes),
        title=title,
    )


def _fix(fix: FixRecord) -> str:
    queries = f"{fix.queries} queries" if fix.queries else "no query"
    if not fix.still_failing and not fix.broken:
        return f"all resolve, {queries}"
    parts = [f"{', '.join(fix.fixed)} resolve now"] if fix.fixed else []
    if fix.still_failing:
        parts.append(f"{', '.join(fix.still_failing)} still fail")
    if fix.broken:
        parts.append(f"{', '.join(fix.broken)} no longer resolve")
    return "; ".join(parts) + f"; {queries}"
