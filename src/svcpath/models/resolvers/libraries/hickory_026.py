"""How hickory 0.26 asks: AAAA and A of a candidate at the same time, each on its own until it has an answer.

Rules from hickory-resolver 0.26.3 lookup_ip.rs multi_lookup (Ipv6AndIpv4 is the default strategy), caching_client.rs
inner_lookup, and hickory-net 0.26.3 retry_dns_handle.rs. What one try is made of is in hickory_pool.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from svcpath.models.resolvers.base import Answer, Batch, Fork, LookupOutcome, Part, ResolverRule, ask, choose
from svcpath.models.resolvers.environment import INET, INET6
from svcpath.models.resolvers.libraries.hickory_conf import HickoryConfig
from svcpath.models.resolvers.libraries.hickory_names import (
    HOSTS,
    SPECIAL,
    CandidateFailure,
    no_records,
    reserved,
    special,
)
from svcpath.models.resolvers.libraries.hickory_pool import Pool, Task, Wait

Result = tuple[LookupOutcome | CandidateFailure, float]

CHASE = ResolverRule("a CNAME without address: its target is asked", "hickory caching_client.rs inner_lookup (0.26.3)")
CHASE_ON = ResolverRule(
    "an alias reached through an alias: its addresses in the same reply do not count, its target is asked",
    "hickory caching_client.rs handle_noerror (0.26.3)",
)
AGAIN = ResolverRule(
    "an error other than 'no records': asked again, attempts + 1 times in all", "hickory retry_dns_handle.rs (0.26.3)"
)
FOUND = ResolverRule("an address of either type", "hickory lookup_ip.rs multi_lookup (0.26.3)")
MAX_CHAIN = 8
RCODES = {
    "FORMERR": "Form Error",
    "SERVFAIL": "Server Failure",
    "NOTIMP": "Not Implemented",
    "REFUSED": "Query Refused",
    "YXDOMAIN": "Name should not exist",
    "YXRRSET": "RR Set should not exist",
    "NXRRSET": "RR Set does not exist",
    "NOTAUTH": "Not authorized",
    "NOTZONE": "Name not in zone",
    "BADVERS": "Bad option versions",
}


class Hickory026Lookup:
    """One lookup: its clock, its servers and what it has cached."""

    def __init__(self, config: HickoryConfig, hosts: dict[tuple[str, str], tuple[str, ...]], family: str) -> None:
        self.config = config
        self.hosts = hosts
        self.types: tuple[str, ...] = ("A",) if family == INET else ("AAAA",) if family == INET6 else ("AAAA", "A")
        self.now = 0.0
        self.pool = Pool(config)
        # The name of which the error speaks: an alias shares that of its target.
        self.cache: dict[tuple[str, str], str] = {}

    def candidate(
        self, name: str, rule: ResolverRule, failure: CandidateFailure
    ) -> Part[tuple[LookupOutcome | None, CandidateFailure]]:
        """Both types side by side: one that succeeds is enough; if both fail the error is that of AAAA."""
        self.pool.next_candidate(self.now)
        answers: tuple[Answer, ...] = ()
        if len(self.types) == 2 and self._unknown(name):
            batch = self.pool.together(name, self.types, rule, self.now)
            answers = (yield from ask(batch)) if batch else ()
            if answers and all(answer.plain and not answer.cname for answer in answers):
                return self._plain(name, answers, failure)
        results = yield from side_by_side([self._ask(name, kind, rule) for kind in self.types], answers)
        self.now = max(ended for _, ended in results)
        found = [result for result, _ in results if isinstance(result, LookupOutcome)]
        if not found:
            return None, next(result for result, _ in results if isinstance(result, CandidateFailure))
        rules = {outcome.rule for outcome in found}
        addresses = tuple(address for outcome in found for address in outcome.addresses)
        why = next((r for r in (SPECIAL, HOSTS) if r in rules), FOUND)
        return LookupOutcome(ok=True, addresses=addresses, rule=why, seconds=self.now), failure

    def _unknown(self, name: str) -> bool:
        """Whether neither type is answered without a query."""
        if reserved(name) or special(name, "A"):
            return False
        return all((name, kind) not in self.hosts and (name, kind) not in self.cache for kind in self.types)

    def _plain(
        self, name: str, answers: tuple[Answer, ...], failure: CandidateFailure
    ) -> tuple[LookupOutcome | None, CandidateFailure]:
        """Both replied at once, with records or without: nothing goes on that could meet (most lookups end so)."""
        addresses: tuple[str, ...] = ()
        for kind, answer in zip(self.types, answers, strict=True):
            self.pool.note(self.config.servers[0], kind, answer, self.now)
            addresses += answer.addresses
            if not answer.addresses:
                self.cache[name, kind] = name
        if addresses:
            return LookupOutcome(ok=True, addresses=addresses, rule=FOUND, seconds=self.now), failure
        return None, _denied(name, self.types[0])

    def _ask(self, name: str, kind: str, rule: ResolverRule) -> Task[Result]:
        now = self.now
        hosts = self.hosts.get((name, kind))
        if hosts:
            return LookupOutcome(ok=True, addresses=hosts, rule=HOSTS), now
        loopback = special(name, kind)
        if loopback:
            return LookupOutcome(ok=True, addresses=loopback, rule=SPECIAL), now
        chain = [name]
        asked, failure = name, _denied(name, kind)
        for _ in range(MAX_CHAIN):
            asked = chain[-1]
            failure = _denied(asked, kind)
            if reserved(asked):
                break
            cached = self.cache.get((asked, kind))
            if cached is not None:
                failure = _denied(cached, kind)
                asked = cached
                break
            answer, now = yield from self._send(asked, kind, rule, now)
            if isinstance(answer, CandidateFailure):
                return answer, now
            onward = answer.cname
            if answer.addresses and answer.alias and len(chain) > 1:
                onward = answer.alias
            elif answer.addresses:
                return LookupOutcome(ok=True, addresses=answer.addresses, rule=FOUND), now
            if answer.rcode == "NXDOMAIN" or not onward:
                if answer.lame:
                    return failure, now
                break
            chain.append(onward.lower().removesuffix("."))
            rule = CHASE if answer.cname else CHASE_ON
        else:
            chain.pop()
        for link in chain:
            self.cache.setdefault((link, kind), asked)
        return failure, now

    def _send(
        self, name: str, kind: str, rule: ResolverRule, now: float
    ) -> Task[tuple[Answer | CandidateFailure, float]]:
        """Tries until there is a reply that says that the name has records or has none."""
        failure = CandidateFailure("no connections available", "io")
        for _ in range(self.config.attempts + 1):
            answer, now = yield from self.pool.attempt(name, kind, rule, now)
            if isinstance(answer, CandidateFailure):
                failure = answer
            elif answer.rcode in ("NOERROR", "NXDOMAIN"):
                return answer, now
            else:
                failure = CandidateFailure(
                    f"DNS error: error response: {RCODES.get(answer.rcode, answer.rcode)}", "rcode"
                )
            rule = AGAIN
        return failure, now


def _denied(name: str, kind: str) -> CandidateFailure:
    plain = no_records(name, kind)
    return CandidateFailure(f"DNS error: {plain.text}", plain.code)


def side_by_side(tasks: Sequence[Task[Result]], first: tuple[Answer, ...] = ()) -> Part[list[Result]]:
    """Lookups in one task: whichever is due earliest is served first; what they send at one time is one batch. ``first``
    are the answers to the query that each begins with, where they are known."""
    waiting: list[Batch | Fork | Wait | None] = [None] * len(tasks)
    results: dict[int, Result] = {}

    def resume(index: int, sent: tuple[Answer, ...] | int | None) -> None:
        try:
            waiting[index] = next(tasks[index]) if sent is None else tasks[index].send(sent)
        except StopIteration as stop:
            waiting[index] = None
            results[index] = stop.value

    for index in range(len(tasks)):
        resume(index, None)
    for index, answer in enumerate(first):
        resume(index, (answer,))
    while len(results) < len(tasks):
        fork = next(((index, fork) for index, fork in enumerate(waiting) if isinstance(fork, Fork)), None)
        if fork is not None:
            resume(fork[0], (yield from choose(fork[1])))
            continue
        batches = [(index, batch) for index, batch in enumerate(waiting) if isinstance(batch, Batch)]
        earliest = min((batch.queries[0].sent for _, batch in batches), default=math.inf)
        late = [(wait.until, index) for index, wait in enumerate(waiting) if isinstance(wait, Wait)]
        if late and min(late)[0] <= earliest:
            resume(min(late)[1], ())
            continue
        due = [(index, batch) for index, batch in batches if batch.queries[0].sent == earliest]
        due = [(index, batch) for index, batch in due if batch.rule is due[0][1].rule]
        queries = tuple(query for _, batch in due for query in batch.queries)
        answers = yield from ask(Batch(queries, due[0][1].rule, racy=any(batch.racy for _, batch in due)))
        for index, batch in due:
            resume(index, answers[: len(batch.queries)])
            answers = answers[len(batch.queries) :]
    return [results[index] for index in range(len(tasks))]
