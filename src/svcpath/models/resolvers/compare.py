"""One name through several resolvers: who resolves it, where they diverge, and what would fix it.

Every claim is shown by running the models again: a fix is a changed name, resolv.conf or call, and its result is what
the same resolvers make of it in the same world.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from svcpath.models.resolvers import registry
from svcpath.models.resolvers.base import Answer, LookupOutcome, Query, Resolution, Trace, World, run
from svcpath.models.resolvers.environment import INET, UNSPEC, Environment, c_fields, split_lines


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One name that a resolver asked for: its answers by type (as a person says them) and the rule that led to it."""

    name: str
    answers: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    rule: str
    source: str
    sent: float
    queries: int

    @property
    def sentence(self) -> str:
        return ", ".join(f"{kind} {answer}" for kind, answer in self.answers)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One resolver's row of the comparison. ``outcome`` is None when it depends on chance or on an unknown answer; then
    ``outcomes`` lists what is possible and ``assumed`` what it depends on."""

    resolver: str
    title: str
    environment: Environment
    resolution: Resolution
    outcome: LookupOutcome | None
    outcomes: tuple[LookupOutcome, ...]
    assumed: tuple[str, ...]
    queries: int
    seconds: float

    @property
    def resolves(self) -> bool | None:
        return None if self.outcome is None else self.outcome.ok

    @property
    def silent_seconds(self) -> float:
        """A lookup of its own, run when it is asked for."""
        return silent_seconds(self.resolver, self.resolution.name, self.environment)


class ResolverGroup(msgspec.Struct, frozen=True):
    """Resolvers that do the same at the point where they diverge."""

    resolvers: tuple[str, ...]
    action: str
    source: str
    resolves: bool


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """The first candidate after which resolvers that asked the same names so far do different things."""

    position: int
    of: int
    candidate: Candidate
    sides: tuple[ResolverGroup, ...]
    apart: tuple[str, ...]


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """A change and what it leads to. ``fixed`` failed before and resolve now; ``still`` fail; ``broken`` resolved
    before. ``queries`` is what most of those that resolve send."""

    kind: str
    label: str
    name: str
    resolv_conf: str | None
    fixed: tuple[str, ...]
    still: tuple[str, ...]
    broken: tuple[str, ...]
    queries: int


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    lines: tuple[Line, ...]
    divergence: Divergence | None
    fixes: tuple[Fix, ...]

    def line(self, resolver: str) -> Line:
        return next(line for line in self.lines if line.resolver == resolver)


class SilentWorld:
    """Servers that never answer."""

    def answer(self, query: Query) -> Answer:
        return Answer("TIMEOUT")


def resolve(resolver: str, name: str, environment: Environment, world: World) -> Resolution:
    """One resolver's lookup of one name (UsageError for an unknown resolver)."""
    return run(registry.build(resolver, environment), name, world)


def silent_seconds(resolver: str, name: str, environment: Environment) -> float:
    """How long the lookup takes when no server answers: the longest of the ways it can go."""
    resolution = run(registry.build(resolver, environment), name, SilentWorld(), max_traces=8)
    return max(trace.outcome.seconds for trace in resolution.traces)


def line(resolver: str, name: str, environment: Environment, world: World) -> Line:
    resolver = registry.canonical(resolver)
    model = registry.build(resolver, environment)
    resolution = run(model, name, world)
    assumed = tuple(dict.fromkeys(reason for trace in resolution.traces for reason in trace.assumed))
    return Line(
        resolver=resolver,
        title=model.title,
        environment=environment,
        resolution=resolution,
        outcome=resolution.outcome,
        outcomes=resolution.outcomes,
        assumed=assumed,
        queries=max(len(trace.queries) for trace in resolution.traces),
        seconds=max(trace.outcome.seconds for trace in resolution.traces),
    )


def compare(
    name: str,
    environment: Environment,
    world: World,
    resolvers: Iterable[str] = registry.COMPARED,
    *,
    with_fixes: bool = True,
) -> Comparison:
    """The table of who resolves the name, the first point where they diverge, and what would fix it."""
    lines = tuple(line(resolver, name, environment, world) for resolver in resolvers)
    return Comparison(
        name=name,
        lines=lines,
        divergence=divergence(lines),
        fixes=fixes(name, environment, world, lines) if with_fixes else (),
    )


# --- the ladder ------------------------------------------------------------------------------------------------------


def ladder(trace: Trace) -> tuple[Candidate, ...]:
    """The names a trace asked for, in order, each with its answers and the rule that led to it."""
    rungs: list[Candidate] = []
    name = ""
    answers: dict[str, str] = {}
    notes: list[str] = []
    rule = source = ""
    sent, count = 0.0, 0

    def close() -> None:
        if count:
            rungs.append(
                Candidate(
                    name=name,
                    answers=tuple(answers.items()),
                    notes=tuple(dict.fromkeys(notes)),
                    rule=rule,
                    source=source,
                    sent=sent,
                    queries=count,
                )
            )

    for step in trace.steps:
        for query, answer in zip(step.batch.queries, step.answers, strict=True):
            if not count or query.name != name:
                close()
                name, answers, notes, count = query.name, {}, [], 0
                rule, source, sent = step.batch.rule.text, step.batch.rule.source, query.sent
            count += 1
            if not (answer.silent and query.type in answers):
                answers[query.type] = answer.label
            if answer.note:
                notes.append(answer.note)
    close()
    return tuple(rungs)


# --- where they diverge ----------------------------------------------------------------------------------------------


def divergence(lines: Iterable[Line]) -> Divergence | None:
    """Among the resolvers that start with the same name (most of those that search), the first candidate after which
    some stop and others go on, if their outcomes differ."""
    walks = {entry.resolver: (entry, ladder(entry.resolution.trace)) for entry in lines if entry.outcome is not None}
    starts: dict[str, list[str]] = {}
    for resolver, (_, rungs) in walks.items():
        if rungs:
            starts.setdefault(rungs[0].name.lower(), []).append(resolver)
    if not starts:
        return None
    main = max(starts.values(), key=lambda group: (_differ(walks, group), len(group)))
    apart = tuple(resolver for resolver in walks if resolver not in main)
    if not _differ(walks, main):
        return None
    names = {resolver: [rung.name.lower() for rung in walks[resolver][1]] for resolver in main}
    count = max(len(set(asked)) for asked in names.values())
    longest = max(len(asked) for asked in names.values())
    for position in range(longest):
        following = {
            resolver: asked[position + 1] if position + 1 < len(asked) else "" for resolver, asked in names.items()
        }
        if len(set(following.values())) > 1:
            return _parting(walks, main, following, position, count, apart)
    return _parting(walks, main, dict.fromkeys(main, ""), longest - 1, count, apart)


Walks = dict[str, tuple[Line, tuple[Candidate, ...]]]


def _differ(walks: Walks, group: Iterable[str]) -> bool:
    return len({walks[resolver][0].resolves for resolver in group}) > 1


def _parting(
    walks: Walks, main: list[str], following: dict[str, str], position: int, count: int, apart: tuple[str, ...]
) -> Divergence:
    sides: dict[tuple[str, str, bool], list[str]] = {}
    rung: Candidate | None = None
    for resolver in main:
        entry, rungs = walks[resolver]
        outcome = entry.resolution.trace.outcome
        if position < len(rungs) and (rung is None or len(rungs[position].answers) > len(rung.answers)):
            rung = rungs[position]
        if following[resolver]:
            after = rungs[position + 1]
            key = (f"goes on: {after.rule}", after.source, outcome.ok)
        else:
            key = (f"ends: {outcome.rule.text}", outcome.rule.source, outcome.ok)
        sides.setdefault(key, []).append(resolver)
    assert rung is not None
    return Divergence(
        position=position + 1,
        of=count,
        candidate=rung,
        sides=tuple(ResolverGroup(tuple(resolvers), *key) for key, resolvers in sides.items()),
        apart=apart,
    )


# --- what would fix it -----------------------------------------------------------------------------------------------


def fixes(name: str, environment: Environment, world: World, lines: Iterable[Line]) -> tuple[Fix, ...]:
    """Changes that make a failing resolver succeed, or that save queries for those that succeed, each re-run."""
    entries = [entry for entry in lines if entry.outcome is not None]
    if not entries:
        return ()
    found = []
    for kind, label, changed_name, changed in _options(name, environment, entries):
        fix = _try(kind, label, changed_name, changed, world, entries)
        fewer = fix.queries < max(entry.queries for entry in entries)
        if fix.fixed or (fewer and not fix.still and not fix.broken):
            found.append(fix)
    return tuple(found)


def _try(kind: str, label: str, name: str, environment: Environment, world: World, entries: list[Line]) -> Fix:
    fixed: list[str] = []
    still: list[str] = []
    broken: list[str] = []
    sent: list[int] = []
    for entry in entries:
        resolution = run(registry.build(entry.resolver, environment), name, world, max_traces=16)
        outcome = resolution.outcome
        ok = outcome is not None and outcome.ok
        if ok:
            sent.append(len(resolution.trace.queries))
        if ok and not entry.resolves:
            fixed.append(entry.resolver)
        elif not ok:
            (broken if entry.resolves else still).append(entry.resolver)
    return Fix(
        kind=kind,
        label=label,
        name=name,
        resolv_conf=environment.resolv_conf,
        fixed=tuple(fixed),
        still=tuple(still),
        broken=tuple(broken),
        queries=max(sorted(set(sent)), key=sent.count, default=0),
    )


def _options(name: str, environment: Environment, entries: list[Line]) -> list[tuple[str, str, str, Environment]]:
    conf = environment.resolv_conf or ""
    suffixes = search_list(conf)
    bare = name.removesuffix(".")
    dots = bare.count(".")
    options: list[tuple[str, str, str, Environment]] = []
    if not name.endswith("."):
        options.append(("trailing-dot", "trailing dot", f"{name}.", environment))
    for suffix in sorted((s for s in suffixes if bare.lower().endswith(f".{s.lower()}")), key=len, reverse=True)[:1]:
        short = bare[: -len(suffix) - 1]
        options.append(("short-name", f"short name ({short})", short, environment))
    found = sorted({n for entry in entries if entry.resolves for n in _found_at(entry) if n.lower() != bare.lower()})
    for full in found[:1]:
        options.append(("full-name", f"full name ({full}.)", f"{full}.", environment))
    if dots and not name.endswith("."):
        options.append(("ndots", f"ndots:{dots}", name, _conf(environment, with_ndots(conf, dots))))
    more = dots + 1
    options.append(("ndots", f"ndots:{more}", name, _conf(environment, with_ndots(conf, more))))
    blamed = [suffix for suffix in suffixes if any(_ends_under(entry, bare, suffix) for entry in entries)]
    for suffix in blamed or suffixes[3:4]:
        fewer = _conf(environment, without_search(conf, suffix))
        options.append(("search", f"search list without {suffix}", name, fewer))
    if environment.family == UNSPEC:
        ipv4 = msgspec.structs.replace(environment, family=INET)
        options.append(("code", "asking for IPv4 alone (AF_INET)", name, ipv4))
    return options


def _conf(environment: Environment, conf: str) -> Environment:
    return msgspec.structs.replace(environment, resolv_conf=conf)


def _found_at(entry: Line) -> list[str]:
    rungs = ladder(entry.resolution.trace)
    return [rungs[-1].name] if rungs else []


def _ends_under(entry: Line, bare: str, suffix: str) -> bool:
    """A failing walk that stopped at the candidate with this suffix."""
    rungs = ladder(entry.resolution.trace)
    wanted = f"{bare}.{suffix}".removesuffix(".").lower()
    return not entry.resolves and bool(rungs) and rungs[-1].name.lower().rstrip(".") == wanted.rstrip(".")


# --- resolv.conf as text ---------------------------------------------------------------------------------------------


def search_list(conf: str) -> tuple[str, ...]:
    """The last search (or domain) line's suffixes, before any resolver's limits."""
    suffixes: tuple[str, ...] = ()
    for text in split_lines(conf):
        words = c_fields(text)
        if words and words[0] == "search":
            suffixes = tuple(words[1:])
        elif len(words) > 1 and words[0] == "domain":
            suffixes = (words[1],)
    return suffixes


def with_ndots(conf: str, ndots: int) -> str:
    """The same file with ndots set once."""
    kept = [
        re.sub(r"(?<=\s)ndots:\S*", "", text).rstrip() if c_fields(text)[:1] == ["options"] else text
        for text in split_lines(conf)
    ]
    kept = [text for text in kept if text.strip() != "options"]
    return "\n".join([*kept, f"options ndots:{ndots}", ""])


def without_search(conf: str, suffix: str) -> str:
    """The same file with one suffix less."""
    lines = []
    for text in split_lines(conf):
        words = c_fields(text)
        if words and words[0] in ("search", "domain"):
            left = [word for word in words[1:] if word != suffix]
            lines.extend([" ".join(["search", *left])] if left else [])
        else:
            lines.append(text)
    return "\n".join([*lines, ""])
