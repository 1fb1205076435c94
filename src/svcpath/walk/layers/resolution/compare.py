"""The name through the resolver models: whose lookup succeeds, where they diverge, and what would fix it.

CheckResult: a fault if the client's resolver is known (named with ``--resolver``, by the evidence, or by the container's
runtime) and fails; with an unknown client a fault if all fail and a warning if some do. Resolvers that never search
(Node's resolve4, nginx, dnspython's default) fail for every short name by design, so they count only when named.
"""

from __future__ import annotations

import msgspec

from svcpath.errors import UsageError
from svcpath.evidence.facts.request import Request
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.findings.shell import shell
from svcpath.models.resolvers import Fix, LookupOutcome, Resolution, World, canonical
from svcpath.models.resolvers.compare import fixes, line
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.names.client import Client
from svcpath.walk.names.surroundings import environment

#: The registry's name of musl up to 1.2.3.
OLD_MUSL = "musl-1.2.3"
#: Asked for an unknown client: one of each way to search.
SEARCHING = ("musl", OLD_MUSL, "glibc", "go", "c-ares", "hickory")


class ResolverResult(msgspec.Struct, frozen=True):
    """One name through one resolver."""

    name: str
    resolver: str
    resolution: Resolution
    fixes: tuple[Fix, ...] = ()

    @property
    def outcome(self) -> LookupOutcome | None:
        return self.resolution.outcome

    @property
    def fails(self) -> bool:
        return self.outcome is not None and not self.outcome.ok

    @property
    def resolves(self) -> bool:
        return self.outcome is not None and self.outcome.ok

    @property
    def candidates(self) -> tuple[str, ...]:
        """The names asked, in order."""
        return tuple(dict.fromkeys(query.name for query in self.resolution.trace.queries))


def resolvers_of(client: Client) -> tuple[str, ...]:
    """Registry names of the client's resolvers; a bare "musl" stands for both ways in which its versions end."""
    found: list[str] = []
    for given in client.resolvers:
        name = given.partition("(")[0].strip()
        try:
            key = canonical(name)
        except UsageError:
            continue
        found.append(key)
        if name.lower() == "musl":
            found.append(OLD_MUSL)
    return tuple(dict.fromkeys(found))


def look(client: Client, world: World) -> list[ResolverResult]:
    """Every name of the client through each of its resolvers (of an unknown client: through those that search)."""
    surroundings = environment(client)
    chosen = resolvers_of(client) or SEARCHING
    seen: list[ResolverResult] = []
    for name in client.names:
        lines = tuple(line(resolver, name, surroundings, world) for resolver in chosen)
        # Each change is a lookup for each resolver: only where one of them fails.
        fails = any(entry.resolves is False for entry in lines)
        helping = fixes(name, surroundings, world, lines) if fails else ()
        seen.extend(ResolverResult(name, entry.resolver, entry.resolution, helping) for entry in lines)
    return seen


def check(
    request: Request,
    client: Client,
    seen: list[ResolverResult],
    evidence: tuple[Evidence, ...],
) -> CheckResult:
    """``evidence`` is what the answers rest on: recorded ones, or the Corefile and its lines that shape them."""
    if not seen:
        return CheckResult(looked=False)
    findings: list[Finding] = []
    gaps: list[Gap] = []
    phrases: list[str] = []
    known = bool(resolvers_of(client))
    looked = False
    for name in client.names:
        mine = [result for result in seen if result.name == name]
        failing = [result for result in mine if result.fails]
        working = [result for result in mine if result.resolves]
        unsure = [result for result in mine if result.outcome is None]
        looked = looked or bool(failing or working)
        if failing:
            findings.append(_failure(request, client, name, failing, working, evidence, known=known))
        elif working:
            phrases.append(_phrase(working))
        if unsure:
            why = "; ".join(
                dict.fromkeys(
                    text for result in unsure for trace in result.resolution.traces[:1] for text in trace.assumed
                )
            )
            gaps.append(
                Gap(
                    "resolution",
                    f"what answers {name} for {', '.join(result.resolver for result in unsure)}",
                    why[:300] or "the answers are not known",
                    shell(
                        "kubectl -n {ns} exec {pod} -- getent ahosts {name}",
                        ns=request.client_namespace or request.namespace or "NAMESPACE",
                        pod=client.label if client.pod else "CLIENT-POD",
                        name=name,
                    ),
                )
            )
    return CheckResult(tuple(findings), tuple(gaps), "; ".join(phrases), looked=looked)


def _phrase(working: list[ResolverResult]) -> str:
    result = working[0]
    outcome = result.outcome
    if outcome is None:
        return ""
    who = result.resolver if len(working) == 1 else f"{len(working)} resolvers"
    return f"{result.name} -> {', '.join(outcome.addresses[:4])} ({who}, {count(len(result.resolution.trace.queries), 'query')})"


def _failure(
    request: Request,
    client: Client,
    name: str,
    failing: list[ResolverResult],
    working: list[ResolverResult],
    evidence: tuple[Evidence, ...],
    *,
    known: bool,
) -> Finding:
    first = failing[0]
    stop = first.candidates[-1] if first.candidates else name
    code = _code(client, failing, working)
    words = "; ".join(f"{result.resolver}: {_error(result)}" for result in _by_outcome(failing))
    others = ""
    if working:
        outcome = working[0].outcome
        addresses = ", ".join(outcome.addresses[:3]) if outcome else ""
        others = f"; {', '.join(result.resolver for result in working)} resolve {addresses}"
    answer = _answer(first, stop)
    search = '; search list holds "."' if code == "SP103" else ""
    return finding(
        code,
        Status.FAIL if known or not working else Status.WARN,
        f"{name} fails at {stop} ({answer}): {words}{others}{search}",
        evidence=(
            *client.conf_evidence,
            *evidence[:3],
        ),
        confidence=Confidence.SUPPORTED,
        details=_details(code, failing, working),
        remedy=_fix(code, failing),
        share="every lookup of this name"
        if not working
        else f"clients with {', '.join(result.resolver for result in failing)}",
        names={
            "namespace": request.client_namespace or request.namespace or "NAMESPACE",
            "pod": client.label if client.pod else "CLIENT-POD",
            "name": name,
        },
    )


def _by_outcome(failing: list[ResolverResult]) -> list[ResolverResult]:
    """One of each different error."""
    kept: dict[tuple[object, ...], ResolverResult] = {}
    for result in failing:
        if result.outcome is not None:
            kept.setdefault(result.outcome.same, result)
    return list(kept.values())


def _error(result: ResolverResult) -> str:
    outcome = result.outcome
    if outcome is None:
        return "open"
    number = f" ({outcome.number})" if outcome.number is not None else ""
    return f'{outcome.code}{number} "{outcome.text}"'


def _answer(result: ResolverResult, stop: str) -> str:
    labels = [
        answer.label
        for step in result.resolution.trace.steps
        for query, answer in zip(step.batch.queries, step.answers, strict=True)
        if query.name == stop
    ]
    return ", ".join(dict.fromkeys(labels)) or "not asked"


def _code(client: Client, failing: list[ResolverResult], working: list[ResolverResult]) -> str:
    conf = client.conf or ""
    searches = [line.split()[1:] for line in conf.splitlines() if line.startswith(("search ", "search\t"))]
    if searches and "." in searches[-1] and any(result.resolver == OLD_MUSL for result in failing):
        return "SP103"
    return "SP102" if working else "SP101"


def _details(code: str, failing: list[ResolverResult], working: list[ResolverResult]) -> tuple[str, ...]:
    details = []
    for result in _by_outcome(failing):
        outcome = result.outcome
        if outcome is None:
            continue
        last = len(result.candidates)
        order = ", ".join(result.candidates)
        details.append(f"{result.resolver} asks {order}: it stops at candidate {last}; {outcome.rule.text}")
    if code == "SP103":
        details.append(
            'the bad entry is "." in search, and the result depends on the musl version; measured with 1.2.3: a malformed '
            "query and EAI_AGAIN once the timeout is over (public reports of it name EAI_NONAME)"
        )
    if working:
        result = working[0]
        details.append(
            f"{result.resolver} asks {', '.join(result.candidates)}: candidate {len(result.candidates)} has the address"
        )
    return tuple(details)


def _fix(code: str, failing: list[ResolverResult]) -> str:
    """The changes that, re-run through the models, let every resolver succeed; else those that help some."""
    if code == "SP103":
        return 'remove the bad entry "." from the search line (kubelet --resolv-conf) and recreate the Pod'
    fixes = [fix for fix in failing[0].fixes if fix.fixed]
    whole = [fix.label for fix in fixes if not fix.still and not fix.broken]
    labels = whole or [f"{fix.label} (for {', '.join(fix.fixed)})" for fix in fixes]
    return f"{', or '.join(labels)} (each re-run through the models)" if labels else ""
