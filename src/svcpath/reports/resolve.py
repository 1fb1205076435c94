"""The contract ``svcpath.resolve/v1``: what each resolver makes of each name, step by step."""

from __future__ import annotations

from svcpath.models.resolvers import Candidate, Comparison, Line, LookupOutcome, ladder
from svcpath.reports.records import Record

SCHEMA = "svcpath.resolve/v1"


class OutcomeRecord(Record, frozen=True, kw_only=True):
    """``addresses`` when it resolves, else ``code``, ``number`` and ``text`` as the application sees them."""

    resolves: bool
    addresses: tuple[str, ...]
    code: str
    number: int | None
    text: str
    flags: tuple[str, ...]
    rule: str
    source: str
    seconds: float


class StepRecord(Record, frozen=True, kw_only=True):
    """One name asked: its answers by type, the rule that led to it and where that rule was read."""

    name: str
    answers: dict[str, str]
    notes: tuple[str, ...]
    rule: str
    source: str
    sent: float
    queries: int


class ResolverRecord(Record, frozen=True, kw_only=True):
    """``outcome`` null: it depends on ``assumed``, and ``possible`` lists what can come out."""

    resolver: str
    title: str
    outcome: OutcomeRecord | None
    possible: tuple[OutcomeRecord, ...]
    assumed: tuple[str, ...]
    steps: tuple[StepRecord, ...]
    queries: int
    seconds_with_silent_servers: float


class SideRecord(Record, frozen=True, kw_only=True):
    resolvers: tuple[str, ...]
    action: str
    source: str
    resolves: bool


class DivergenceRecord(Record, frozen=True, kw_only=True):
    """Where resolvers part: after candidate ``position`` of ``of``."""

    position: int
    of: int
    candidate: StepRecord
    sides: tuple[SideRecord, ...]


class FixRecord(Record, frozen=True, kw_only=True):
    """A change, re-run through the models: who resolves now that did not, who still fails, who no longer resolves."""

    label: str
    name: str
    fixed: tuple[str, ...]
    still_failing: tuple[str, ...]
    broken: tuple[str, ...]
    queries: int


class NameRecord(Record, frozen=True, kw_only=True):
    name: str
    resolvers: tuple[ResolverRecord, ...]
    divergence: DivergenceRecord | None
    fixes: tuple[FixRecord, ...]


class ResolveReport(Record, frozen=True, kw_only=True):
    schema: str
    resolv_conf: str
    names: tuple[NameRecord, ...]


def report(comparisons: tuple[Comparison, ...], resolv_conf: str) -> ResolveReport:
    return ResolveReport(
        schema=SCHEMA, resolv_conf=resolv_conf, names=tuple(_name(comparison) for comparison in comparisons)
    )


def _name(comparison: Comparison) -> NameRecord:
    parting = comparison.divergence
    return NameRecord(
        name=comparison.name,
        resolvers=tuple(_resolver(line) for line in comparison.lines),
        divergence=None
        if parting is None
        else DivergenceRecord(
            position=parting.position,
            of=parting.of,
            candidate=_step(parting.candidate),
            sides=tuple(
                SideRecord(resolvers=side.resolvers, action=side.action, source=side.source, resolves=side.resolves)
                for side in parting.sides
            ),
        ),
        fixes=tuple(
            FixRecord(
                label=fix.label,
                name=fix.name,
                fixed=fix.fixed,
                still_failing=fix.still,
                broken=fix.broken,
                queries=fix.queries,
            )
            for fix in comparison.fixes
        ),
    )


def _resolver(line: Line) -> ResolverRecord:
    return ResolverRecord(
        resolver=line.resolver,
        title=line.title,
        outcome=_outcome(line.outcome) if line.outcome else None,
        possible=() if line.outcome else tuple(_outcome(outcome) for outcome in line.outcomes),
        assumed=line.assumed,
        steps=tuple(_step(rung) for rung in ladder(line.resolution.trace)),
        queries=line.queries,
        seconds_with_silent_servers=line.silent_seconds,
    )


def _outcome(outcome: LookupOutcome) -> OutcomeRecord:
    return OutcomeRecord(
        resolves=outcome.ok,
        addresses=outcome.addresses,
        code=outcome.code,
        number=outcome.number,
        text=outcome.text,
        flags=outcome.flags,
        rule=outcome.rule.text,
        source=outcome.rule.source,
        seconds=outcome.seconds,
    )


def _step(rung: Candidate) -> StepRecord:
    return StepRecord(
        name=rung.name,
        answers=dict(rung.answers),
        notes=rung.notes,
        rule=rung.rule,
        source=rung.source,
        sent=rung.sent,
        queries=rung.queries,
    )
