"""musl's resolver: Alpine and every static binary built with it.

Rules from src/network/{lookup_name,res_msend,resolvconf,res_mkquery,lookup_ipliteral}.c and getaddrinfo.c, versions
1.2.3 and 1.2.5 (1.2.4 and 1.2.6 have the same search and error logic as 1.2.5). What sets it apart: NXDOMAIN alone
goes on to the next candidate, enough dots mean the bare name alone, all servers are asked at once, and only NOERROR
and NXDOMAIN count as replies.
"""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import (
    Answer,
    Asking,
    Batch,
    Fork,
    LookupOutcome,
    Part,
    Query,
    ResolverRule,
    ask,
    choose,
)
from svcpath.models.resolvers.environment import (
    INET,
    Environment,
    octets,
)
from svcpath.models.resolvers.libc import musl_conf

TEXTS = {
    "EAI_NONAME": (-2, "Name does not resolve"),
    "EAI_AGAIN": (-3, "Try again"),
    "EAI_NODATA": (-5, "Name has no usable address"),
}

BARE_ONLY = ResolverRule(
    "the name has ndots dots or ends in a dot: only the bare name is asked, the search list is not used",
    "musl lookup_name.c name_from_dns_search",
)
FIRST_SUFFIX = ResolverRule(
    "fewer dots than ndots: the first search suffix is tried", "musl lookup_name.c name_from_dns_search"
)
NEXT = ResolverRule(
    "the last candidate does not exist (NXDOMAIN of either type): the next is tried",
    "musl lookup_name.c name_from_dns, name_from_dns_search",
)
BARE_LAST = ResolverRule(
    "the search list is used up (or empty): the bare name is asked", "musl lookup_name.c name_from_dns_search"
)
LITERAL = ResolverRule("the name is an address", "musl lookup_ipliteral.c __lookup_ipliteral")
BAD_SCOPE = ResolverRule(
    "the scope of the address is no number and no interface of a link-local address", "musl lookup_ipliteral.c"
)
HOSTS = ResolverRule("/etc/hosts has the name: DNS is not asked", "musl lookup_name.c name_from_hosts")
HOSTS_FAMILY = ResolverRule(
    "/etc/hosts has the name with another family only: DNS is not asked", "musl lookup_name.c name_from_hosts"
)
BAD_NAME = ResolverRule("the name is empty or longer than 254 bytes", "musl lookup_name.c __lookup_name")
TWO_DOTS = ResolverRule(
    "the name is empty apart from dots, or ends in two dots", "musl lookup_name.c name_from_dns_search"
)
UNSENDABLE = ResolverRule(
    "the name can't be encoded (label of 0 or over 63 bytes, or over 253 in all)", "musl res_mkquery.c"
)
FOUND = ResolverRule("an address of an asked type", "musl lookup_name.c name_from_dns")
NODATA = ResolverRule(
    "NOERROR without an address for every asked type ends the whole search: the next candidates are never asked",
    "musl lookup_name.c name_from_dns (NODATA), name_from_dns_search (if (cnt) return cnt)",
)
NO_NAME = ResolverRule("every candidate got NXDOMAIN", "musl lookup_name.c __lookup_name")
AGAIN = ResolverRule(
    "no NOERROR or NXDOMAIN reply for a type within the timeout: the lookup ends",
    "musl res_msend.c __res_msend_rc, lookup_name.c name_from_dns",
)
RESEND = ResolverRule(
    "retry interval over: every unanswered query goes to every server again", "musl res_msend.c __res_msend_rc"
)
SERVFAIL_RETRY = ResolverRule(
    "SERVFAIL: sent again at once, at most twice the number of queries per interval", "musl res_msend.c __res_msend_rc"
)
TCP = ResolverRule("truncated: asked again over TCP at that server", "musl res_msend.c __res_msend_rc (since 1.2.4)")
NO_TIME = ResolverRule("timeout:0: nothing is sent", "musl res_msend.c __res_msend_rc")
CRASH = ResolverRule("attempts:0: timeout / attempts divides by zero", "musl res_msend.c __res_msend_rc")


MISSING = Answer("TIMEOUT")
OVER_TCP = ("NOERROR", "NXDOMAIN", "TIMEOUT")


class Musl:
    """One process with one environment. ``version`` is "1.2.3" or older, or "1.2.4" and newer."""

    def __init__(self, environment: Environment, version: str = "1.2.5") -> None:
        self.environment = environment
        self.version = version
        self.modern = _version(version) >= (1, 2, 4)
        self.config = musl_conf.parse(environment.resolv_conf)
        self.types = environment.types

    @property
    def key(self) -> str:
        return "musl" if self.modern else "musl-1.2.3"

    @property
    def title(self) -> str:
        return "musl >= 1.2.4" if self.modern else "musl <= 1.2.3"

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        length = octets(name)
        if not 1 <= length <= 254:
            return self._fail("EAI_NONAME", BAD_NAME)
        literal = musl_conf.literal_of(name, self.environment.family)
        if literal is not None:
            if literal[1]:
                return LookupOutcome(ok=True, addresses=(literal[0],), rule=LITERAL)
            bad_scope = self.environment.family != INET and "%" in name
            return self._fail("EAI_NONAME", BAD_SCOPE) if bad_scope else self._fail("EAI_NODATA", LITERAL)
        found = self._hosts(name)
        if found is not None:
            if found:
                return LookupOutcome(ok=True, addresses=found, rule=HOSTS)
            return self._fail("EAI_NODATA", HOSTS_FAMILY)
        return (yield from self._search(name))

    def _fail(self, code: str, rule: ResolverRule, seconds: float = 0.0) -> LookupOutcome:
        if code == "EAI_NODATA" and not self.modern:
            code = "EAI_NONAME"
        number, text = TEXTS[code]
        return LookupOutcome(ok=False, code=code, number=number, text=text, rule=rule, seconds=seconds)

    def _hosts(self, name: str) -> tuple[str, ...] | None:
        """name_from_hosts: case-sensitive, every matching line, the name between blanks; a last line without newline
        does not match. None: not there; (): there with another family."""
        return musl_conf.hosts(self.environment.hosts, name, self.environment.family)

    def _search(self, name: str) -> Asking:
        config = self.config
        suffixes = () if name.count(".") >= config.ndots or name[-1] == "." else config.search
        bare = name[:-1] if name[-1] == "." else name
        if not bare or bare[-1] == ".":
            return self._fail("EAI_NONAME", TWO_DOTS)
        now = 0.0
        rule = FIRST_SUFFIX if suffixes else (BARE_ONLY if config.search else BARE_LAST)
        length = octets(bare)
        for suffix in suffixes:
            if len(suffix) >= 255 - length:
                continue
            outcome = yield from self._candidate(f"{bare}.{suffix}", now, rule)
            if isinstance(outcome, LookupOutcome):
                return outcome
            if outcome is not None:
                now = outcome
                rule = NEXT
        outcome = yield from self._candidate(bare, now, BARE_LAST if rule is NEXT else rule)
        if isinstance(outcome, LookupOutcome):
            return outcome
        return self._fail("EAI_NONAME", UNSENDABLE if outcome is None else NO_NAME, now if outcome is None else outcome)

    def _candidate(self, name: str, now: float, rule: ResolverRule) -> Part[LookupOutcome | float | None]:
        """One candidate: a LookupOutcome that ends the search, the time at which the next one starts, or None if it could
        not be encoded (skipped without a query)."""
        wire = name[:-1] if name[-1] == "." else name
        malformed = False
        if not self.modern and wire[-1:] == ".":
            malformed, wire = True, wire[:-1]
        if not sendable(wire):
            return None if self.modern else self._fail("EAI_NONAME", UNSENDABLE, now)
        config = self.config
        if config.timeout == 0:
            return self._fail("EAI_AGAIN", NO_TIME if config.attempts else CRASH, now)
        if config.attempts == 0:
            return LookupOutcome(
                ok=False, code="SIGFPE", number=-8, text="Floating point exception", rule=CRASH, seconds=now
            )
        servers = config.servers
        if malformed:
            wire += "."
        queries = tuple(
            [
                Query(wire, kind, server, "udp", now, config.timeout, False, malformed)
                for kind in self.types
                for server in servers
            ]
        )
        answers = self._heard(queries, (yield from ask(Batch(queries, rule))))
        if len(servers) == 1:
            latest = 0.0
            simple = True
            for answer in answers:
                if (
                    (answer.rcode != "NOERROR" and answer.rcode != "NXDOMAIN")
                    or answer.truncated
                    or answer.delay > 0.02
                ):
                    simple = False
                    break
                latest = max(latest, answer.delay)
            if simple:
                return self._judge(answers, now + latest, wire.isascii())
        replies, finished = yield from self._wait(queries, answers, now)
        return self._judge(replies, finished, wire.isascii())

    def _heard(self, queries: tuple[Query, ...], answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
        if not self.config.unheard:
            return answers
        pairs = zip(queries, answers, strict=True)
        return tuple(MISSING if query.server in self.config.unheard else answer for query, answer in pairs)

    def _judge(self, replies: tuple[Answer, ...], now: float, ascii_only: bool) -> LookupOutcome | float:
        """name_from_dns after __res_msend: A is looked at first, then AAAA. dns_parse.c steps over the question's name
        only as far as its bytes are below 128: a reply for a name with others holds no address."""
        addresses: tuple[str, ...] = ()
        for reply in replies:
            if reply.rcode == "NXDOMAIN":
                return now
            if reply.rcode != "NOERROR":
                return self._fail("EAI_AGAIN", AGAIN, now)
            addresses += reply.addresses
        if addresses and ascii_only:
            return LookupOutcome(ok=True, addresses=addresses, rule=FOUND, seconds=now)
        return self._fail("EAI_NODATA", NODATA, now)

    def _wait(
        self, queries: tuple[Query, ...], answers: tuple[Answer, ...], start: float
    ) -> Part[tuple[tuple[Answer, ...], float]]:
        """res_msend.c: resend every timeout/attempts, first NOERROR or NXDOMAIN of any server is final."""
        config = self.config
        interval = (1000 * config.timeout // config.attempts) / 1000
        deadline = start + config.timeout
        final: dict[str, Answer] = {}
        settled: dict[str, float] = {}
        arrivals: dict[str, list[tuple[float, Query, Answer]]] = {kind: [] for kind in self.types}
        now, batch, round_answers = start, queries, answers
        while True:
            for query, answer in zip(batch, round_answers, strict=True):
                if answer.rcode in ("NOERROR", "NXDOMAIN") and query.sent + answer.delay < deadline:
                    arrivals[query.type].append((query.sent + answer.delay, query, answer))
            yield from self._servfails(batch, round_answers, now, [k for k in self.types if not arrivals[k]])
            cut: list[tuple[str, Query]] = []
            for kind in self.types:
                due = [item for item in arrivals[kind] if item[0] <= now + interval]
                if due and kind not in final:
                    settled[kind], query, final[kind] = yield from self._first(kind, due)
                    if final[kind].truncated and self.modern:
                        cut.append((kind, query))
            if cut and not (yield from self._over_tcp(cut, final, settled)):
                return tuple(final.get(kind, MISSING) for kind in self.types), max(settled.values())
            if len(final) == len(self.types):
                return tuple(final[kind] for kind in self.types), min(max(settled.values()), deadline)
            now = round(now + interval, 3)
            if now >= deadline:
                return tuple(final.get(kind, MISSING) for kind in self.types), deadline
            batch = tuple(
                Query(queries[0].name, kind, server, "udp", now, deadline - now, False, queries[0].malformed)
                for kind in self.types
                if kind not in final
                for server in config.servers
            )
            round_answers = self._heard(batch, (yield from ask(Batch(batch, RESEND))))

    def _over_tcp(
        self, cut: list[tuple[str, Query]], final: dict[str, Answer], settled: dict[str, float]
    ) -> Part[bool]:
        """Truncated replies again over TCP; a failed connection or another rcode ends the whole wait."""
        queries = tuple(msgspec.structs.replace(query, transport="tcp", sent=settled[kind]) for kind, query in cut)
        answers = yield from ask(Batch(queries, TCP))
        failed = [kind for (kind, _), answer in zip(cut, answers, strict=True) if answer.rcode not in OVER_TCP]
        for (kind, _), answer in zip(cut, answers, strict=True):
            final[kind] = MISSING if kind in failed else answer
            settled[kind] += self.config.timeout if answer.silent else answer.delay
        if failed and len(failed) < len(cut) and final[cut[0][0]].rcode == "NXDOMAIN":
            # The failure ends the wait: whether the other reply is in by then decides what name_from_dns sees first.
            labels = ("the reply that says NXDOMAIN", "the failure")
            if (yield from choose(Fork(f"which comes first over TCP for {cut[0][1].name}", labels))):
                final[cut[0][0]] = MISSING
        elif failed:
            for kind, _ in cut:
                final[kind] = MISSING
        return not failed

    def _servfails(
        self, batch: tuple[Query, ...], answers: tuple[Answer, ...], now: float, open_types: list[str]
    ) -> Part[None]:
        """Immediate resends on SERVFAIL: the budget is shared; with several servers or slow replies how many happen
        before the good reply is packet order."""
        failing = [query for query, answer in zip(batch, answers, strict=True) if answer.rcode == "SERVFAIL"]
        budget = 2 * len(self.types)
        if not failing:
            return
        # A truncated reply beside it is asked for over TCP meanwhile, and may end the wait at any time.
        racy = len(self.config.servers) > 1 or len(failing) > 1 or any(answer.truncated for answer in answers)
        still = [query for query in failing if query.type in open_types]
        if not still:
            yield from ask(Batch(tuple(failing), SERVFAIL_RETRY, racy=True))
            return
        while budget > 0:
            again = still[: min(budget, len(still))]
            budget -= len(again)
            yield from ask(
                Batch(tuple(msgspec.structs.replace(query, sent=now) for query in again), SERVFAIL_RETRY, racy=racy)
            )

    def _first(self, kind: str, due: list[tuple[float, Query, Answer]]) -> Part[tuple[float, Query, Answer]]:
        """The reply that arrives first; among replies at the same time that differ, packet order decides."""
        earliest = min(item[0] for item in due)
        tied = [item for item in due if item[0] - earliest < 0.02]
        different: dict[tuple[object, ...], tuple[float, Query, Answer]] = {}
        for item in tied:
            different.setdefault((item[2].rcode, item[2].addresses, item[2].truncated), item)
        picks = list(different.values())
        if len(picks) == 1:
            return picks[0]
        labels = tuple(f"{item[1].server} ({item[2].label})" for item in picks)
        choice = yield from choose(Fork(f"which server's reply to {kind} {picks[0][1].name} arrives first", labels))
        return picks[choice]


def sendable(name: str) -> bool:
    """res_mkquery.c: at most 253 bytes, labels of 1 to 63 (the empty name is the root)."""
    if name == "":
        return True
    if octets(name) > 253:
        return False
    if len(name) <= 63 and "." not in name:
        return octets(name) <= 63
    return all(1 <= octets(label) <= 63 for label in name.split("."))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
