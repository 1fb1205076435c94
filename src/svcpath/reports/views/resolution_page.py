"""A resolve report with all there is to open: each resolver's ladder of queries, two of them side by side."""

from __future__ import annotations

from collections.abc import Iterator

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
        if name.mends:
            sections.append(resolution.mends(name))
    if report.resolv_conf:
        lines = tuple(Point(line) for line in report.resolv_conf.splitlines() if line.strip())
        sections.append(Points("resolv.conf", lines[:50]))
    return Document(resolution.title(report), tuple(sections), "resolution")


def status_of(one: ResolverRecord) -> Status:
    if one.outcome is None:
        return Status.INCONCLUSIVE
    return Status.PASS if one.outcome.resolves else Status.FAIL


def _statement(name: NameRecord, *, alone: bool) -> Statement:
    said = "" if alone else f"{name.name}: "
    if len(name.resolvers) == 1:
        only = name.resolvers[0]
        words = {Status.PASS: "RESOLVES", Status.FAIL: "FAILS"}
        status = status_of(only)
        return Statement(status, f"{words.get(status, 'OPEN')} with {only.title}", said + resolution.outcome(only))
    groups = {
        status: [one.title for one in name.resolvers if status_of(one) is status]
        for status in (Status.FAIL, Status.INCONCLUSIVE, Status.PASS)
    }
    if not groups[Status.FAIL] and not groups[Status.INCONCLUSIVE]:
        return Statement(Status.PASS, "RESOLVES", f"{said}all {len(name.resolvers)} resolvers find it")
    if not groups[Status.PASS] and not groups[Status.INCONCLUSIVE]:
        return Statement(Status.FAIL, "FAILS", f"{said}none of {len(name.resolvers)} resolvers finds it")
    parts = [f"{', '.join(groups[Status.FAIL])} fail"] if groups[Status.FAIL] else []
    parts += [f"{', '.join(groups[Status.INCONCLUSIVE])} open"] if groups[Status.INCONCLUSIVE] else []
    parts += [f"{', '.join(groups[Status.PASS])} resolve"] if groups[Status.PASS] else []
    decided = groups[Status.FAIL] and groups[Status.PASS]
    return Statement(
        Status.WARN if decided else Status.INCONCLUSIVE, "THEY PART" if decided else "OPEN", said + "; ".join(parts)
    )


def _ladder(name: NameRecord) -> Ladder:
    shown = _pair(name)
    sides = tuple(_side(one, name, one.resolver in shown) for one in name.resolvers)
    parting = name.divergence
    title = "Queries"
    if parting is not None:
        title = f"They part at candidate {parting.position} of {parting.of}"
    return Ladder(title, "client", "DNS server", sides)


def _pair(name: NameRecord) -> tuple[str, ...]:
    """One resolver of each side of the parting, else the first two."""
    if name.divergence is not None and len(name.divergence.sides) > 1:
        first = [side.resolvers[0] for side in name.divergence.sides if side.resolvers]
        return tuple(first[:2])
    return tuple(one.resolver for one in name.resolvers[:2])


def _side(one: ResolverRecord, name: NameRecord, shown: bool) -> Side:
    rule = f"{one.outcome.rule} ({one.outcome.source})" if one.outcome else ""
    if one.outcome is None and one.assumed:
        more = f"; and {len(one.assumed) - 3} more" if len(one.assumed) > 3 else ""
        rule = "it hangs on " + "; ".join(one.assumed[:3]) + more
    return Side(one.title, status_of(one), resolution.outcome(one), rule, tuple(_rungs(one, name)), shown)


def _rungs(one: ResolverRecord, name: NameRecord) -> Iterator[Rung]:
    asked = name.divergence.candidate.name if name.divergence else None
    for step in one.steps[:RUNGS]:
        answers = tuple(step.answers.items())
        parts = step.name == asked
        yield Rung(f"+{step.sent:g} s", f"{step.name}.", answers, step.rule, step.source, parts, step.notes)
    if len(one.steps) > RUNGS:
        yield Rung("", f"and {len(one.steps) - RUNGS} more in the JSON form", ())
