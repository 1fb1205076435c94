"""A resolve report with all there is to open: each resolver's ladder of queries, two of them side by side."""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.plural import count
from svcpath.reports.document import Document, Ladder, Point, Points, Rung, Section, Side, Statement
from svcpath.reports.resolve import NameRecord, ResolveReport, ResolverRecord
from svcpath.reports.views import resolution
from svcpath.status import Status

#: Queries of one resolver that are drawn; the JSON form holds all.
RUNGS = 200


def page(report: ResolveReport) -> Document:
    sections: list[Section] = []
    for name in report.names:
        sections.append(_statement(name, alone=len(report.names) == 1))
        sections.append(_ladder(name))
        if len(name.resolvers) > 1:
            sections.append(resolution.table(name))
        if name.fixes:
            sections.append(resolution.fixes(name))
    if report.resolv_conf:
        lines = tuple(Point(line) for line in report.resolv_conf.splitlines() if line.strip())
        sections.append(Points("resolv.conf", lines[:50]))
    return Document(resolution.title(report), tuple(sections), "resolution")


def status_of(resolver: ResolverRecord) -> Status:
    if resolver.outcome is None:
        return Status.INCONCLUSIVE
    return Status.PASS if resolver.outcome.resolves else Status.FAIL


def _statement(name: NameRecord, *, alone: bool) -> Statement:
    prefix = "" if alone else f"{name.name}: "
    if len(name.resolvers) == 1:
        only = name.resolvers[0]
        words = {Status.PASS: "RESOLVES", Status.FAIL: "FAILS"}
        status = status_of(only)
        return Statement(
            status, f"{words.get(status, 'UNDETERMINED')} with {only.title}", prefix + resolution.outcome(only)
        )
    groups = {
        status: [resolver.title for resolver in name.resolvers if status_of(resolver) is status]
        for status in (Status.FAIL, Status.INCONCLUSIVE, Status.PASS)
    }
    if not groups[Status.FAIL] and not groups[Status.INCONCLUSIVE]:
        return Statement(Status.PASS, "RESOLVES", f"{prefix}of {count(len(name.resolvers), 'resolver')} all find it")
    if not groups[Status.PASS] and not groups[Status.INCONCLUSIVE]:
        return Statement(Status.FAIL, "FAILS", f"{prefix}none of {len(name.resolvers)} resolvers finds it")
    parts = [f"{', '.join(groups[Status.FAIL])} fail"] if groups[Status.FAIL] else []
    parts += [f"{', '.join(groups[Status.INCONCLUSIVE])} open"] if groups[Status.INCONCLUSIVE] else []
    parts += [f"{', '.join(groups[Status.PASS])} resolve"] if groups[Status.PASS] else []
    decided = groups[Status.FAIL] and groups[Status.PASS]
    return Statement(
        Status.WARN if decided else Status.INCONCLUSIVE,
        "RESOLVERS DIVERGE" if decided else "UNDETERMINED",
        prefix + "; ".join(parts),
    )


def _ladder(name: NameRecord) -> Ladder:
    shown = _pair(name)
    sides = tuple(_side(resolver, name, resolver.resolver in shown) for resolver in name.resolvers)
    parting = name.divergence
    title = "Queries"
    if parting is not None:
        title = f"Resolvers diverge at candidate {parting.position} of {parting.of}"
    return Ladder(title, "client", "DNS server", sides)


def _pair(name: NameRecord) -> tuple[str, ...]:
    """One resolver of each side of the parting, else the first two."""
    if name.divergence is not None and len(name.divergence.sides) > 1:
        first = [side.resolvers[0] for side in name.divergence.sides if side.resolvers]
        return tuple(first[:2])
    return tuple(resolver.resolver for resolver in name.resolvers[:2])


def _side(resolver: ResolverRecord, name: NameRecord, shown: bool) -> Side:
    rule = f"{resolver.outcome.rule} ({resolver.outcome.source})" if resolver.outcome else ""
    if resolver.outcome is None and resolver.assumed:
        more = f"; and {len(resolver.assumed) - 3} more" if len(resolver.assumed) > 3 else ""
        rule = "depends on " + "; ".join(resolver.assumed[:3]) + more
    return Side(
        resolver.title, status_of(resolver), resolution.outcome(resolver), rule, tuple(_rungs(resolver, name)), shown
    )


def _rungs(resolver: ResolverRecord, name: NameRecord) -> Iterator[Rung]:
    asked = name.divergence.candidate.name if name.divergence else None
    for step in resolver.steps[:RUNGS]:
        answers = tuple(step.answers.items())
        parts = step.name == asked
        yield Rung(f"+{step.sent:g} s", f"{step.name}.", answers, step.rule, step.source, parts, step.notes)
    if len(resolver.steps) > RUNGS:
        yield Rung("", f"and {len(resolver.steps) - RUNGS} more in the JSON form", ())
