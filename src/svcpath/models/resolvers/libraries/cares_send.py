"""How a c-ares channel sends and retries one query: ares_process.c ares_send_query, process_answer, ares_requeue_query,
ares_calc_query_timeout; ares_metrics.c ares_metrics_server_timeout; ares_qcache.c (1.34)."""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Answer, Batch, Fork, Part, Query, ResolverRule, ask, choose
from svcpath.models.resolvers.libraries.cares_conf import CaresConfig

PROCESS = "c-ares ares_process.c process_answer (1.34)"
REQUEUE = ResolverRule(
    "no reply, SERVFAIL, NOTIMP or REFUSED: the next server, those that failed least first",
    "c-ares ares_process.c ares_requeue_query (1.34)",
)
TCP = ResolverRule("truncated: again over TCP", PROCESS)
BARE = ResolverRule(
    "a reply without the question is no message that c-ares takes: the next server is asked",
    "c-ares ares_process.c read_answers, handle_conn_error (1.34)",
)
NO_EDNS = ResolverRule("FORMERR without an OPT record: again without EDNS at the same server", PROCESS)
BAD = {"SERVFAIL": "ARES_ESERVFAIL", "NOTIMP": "ARES_ENOTIMP", "REFUSED": "ARES_EREFUSED"}
STATUSES = {"NXDOMAIN": "ARES_ENOTFOUND", "FORMERR": "ARES_EFORMERR", **BAD}
_UNANSWERED = ("UNREACHABLE", "CLOSED")
MINIMUM, MAXIMUM, SAMPLES = 0.25, 5.0, 3


class CaresResult(msgspec.Struct, frozen=True):
    status: str
    addresses: tuple[str, ...] = ()
    finished: float = 0.0
    records: int = 0


class _Pending:
    """One type of one name on its way."""

    def __init__(self, kind: str, now: float, transport: str) -> None:
        self.kind = kind
        self.clock = now
        self.transport = transport
        self.server = -1
        self.tries = 0
        self.status = ""
        self.edns = True
        self.fixed = False
        self.last = False
        self.expired = False


class Channel:
    """Clock, server health, measured latency and query cache of one channel.

    ``check`` False is ARES_FLAG_NOCHECKRESP: an error reply is a result, not a reason to ask again. ``longest`` bounds
    one wait in seconds (0: it does not).
    """

    def __init__(
        self,
        config: CaresConfig,
        types: tuple[str, ...],
        use_tcp: bool,
        *,
        edns: bool,
        check: bool = True,
        longest: float = 0.0,
    ) -> None:
        self.config = config
        self.types = types
        self.transport = "tcp" if use_tcp else "udp"
        self.edns = edns
        self.check = check
        self.longest = longest or 1e9
        self.now = 0.0
        self.failures = [0] * len(config.servers)
        self.samples = [0] * len(config.servers)
        self.cache: dict[tuple[str, str], CaresResult] = {}
        self.cleared = False
        self.rule = REQUEUE

    def query(self, name: str, rule: ResolverRule) -> Part[tuple[CaresResult, ...]]:
        folded = name.lower()
        results: dict[str, CaresResult] = {}
        for kind in self.types:
            cached = self.cache.get((folded, kind))
            if cached is not None:
                results[kind] = msgspec.structs.replace(cached, finished=self.now)
        pending = [_Pending(kind, self.now, self.transport) for kind in self.types if kind not in results]
        if len(pending) == len(self.types) and not self.config.rotate:
            queries = self._first(name)
            answers = yield from ask(Batch(queries, rule))
            if all(answer.plain for answer in answers):
                return self._settle(folded, queries, answers)
            for item in pending:
                item.server = self._healthiest()
            pending = yield from self._read(folded, pending, pending, queries, answers, results)
            rule = self.rule
        while pending:
            due = min(item.clock for item in pending)
            group = [item for item in pending if item.clock - due < 0.02]
            if any(item.expired for item in group):
                pending, rule = self._expire(pending, group, results), REQUEUE
                continue
            queries = yield from self._queries(name, group)
            racy = any(item.tries for item in group) and len(self.failures) > 1
            answers = yield from ask(Batch(queries, rule, racy=racy))
            pending = yield from self._read(folded, pending, group, queries, answers, results)
            rule = self.rule
        self.now = max(result.finished for result in results.values())
        return tuple(results[kind] for kind in self.types)

    def _first(self, name: str) -> tuple[Query, ...]:
        """The first round of a name: every type to the healthiest server."""
        server = self._healthiest()
        timeout = self.config.timeout if self.samples[server] < SAMPLES else MINIMUM
        timeout = min(max(timeout, MINIMUM), MAXIMUM)
        address, now = self.config.servers[server], round(self.now, 3)
        return tuple([Query(name, kind, address, self.transport, now, timeout, self.edns) for kind in self.types])

    def _settle(self, folded: str, queries: tuple[Query, ...], answers: tuple[Answer, ...]) -> tuple[CaresResult, ...]:
        """Every type answered at once by NOERROR or NXDOMAIN: nothing to retry, nothing to choose."""
        server = self._healthiest()
        self.failures[server] = 0
        self.samples[server] += len(answers)
        results = tuple(
            [CaresResult(_status(answer), answer.addresses, self.now, answer.records) for answer in answers]
        )
        for query, result in zip(queries, results, strict=True):
            self.cache[folded, query.type] = result
        return results

    def _queries(self, name: str, group: list[_Pending]) -> Part[tuple[Query, ...]]:
        queries = []
        for item in group:
            if not item.fixed:
                item.server = yield from self._server()
            item.fixed = False
            queries.append(
                Query(
                    name,
                    item.kind,
                    self.config.servers[item.server],
                    item.transport,
                    round(item.clock, 3),
                    self._timeout(item),
                    self.edns and item.edns,
                )
            )
        return tuple(queries)

    def _read(
        self,
        folded: str,
        pending: list[_Pending],
        group: list[_Pending],
        queries: tuple[Query, ...],
        answers: tuple[Answer, ...],
        results: dict[str, CaresResult],
    ) -> Part[list[_Pending]]:
        """Take the replies of one round into account; what is left goes out again by ``self.rule``."""
        self.rule = REQUEUE
        order, clear_first = yield from self._reading(group, queries, answers)
        for index in order:
            item, query, answer = group[index], queries[index], answers[index]
            if clear_first and index == order[-1]:
                self.cleared = True
            result = self._process(item, query, answer)
            if result is None:
                if answer.bare:
                    self.rule = BARE
                elif answer.truncated or answer.rcode == "FORMERR":
                    self.rule = TCP if answer.truncated else NO_EDNS
                continue
            results[item.kind] = result
            if result.status == "ARES_SUCCESS" and item.kind == "A" and result.addresses:
                for other in pending:
                    other.last = True
            if answer.rcode in ("NOERROR", "NXDOMAIN"):
                self.cache[folded, item.kind] = result
        return [item for item in pending if item.kind not in results]

    def _expire(
        self, pending: list[_Pending], group: list[_Pending], results: dict[str, CaresResult]
    ) -> list[_Pending]:
        """A server fails when its time is over, and not when it was asked: a good reply between the two does not clear that."""
        for item in group:
            if item.expired:
                item.expired = False
                result = self._again(item, "ARES_ETIMEOUT")
                if result is not None:
                    results[item.kind] = result
        return [item for item in pending if item.kind not in results]

    def _reading(
        self, group: list[_Pending], queries: tuple[Query, ...], answers: tuple[Answer, ...]
    ) -> Part[tuple[list[int], bool]]:
        """In which order the two replies of a server are read: a good one clears the server's failures."""
        order = list(range(len(group)))
        if len(group) < 2 or queries[0].server != queries[1].server:
            return order, False
        if len(self.failures) < 2 or self.config.rotate:
            return sorted(order, key=lambda index: answers[index].rcode == "TIMEOUT"), False
        failing = [i for i in order if (answers[i].rcode in BAD and self.check) or answers[i].silent]
        if any(answer.rcode == "TIMEOUT" for answer in answers):
            return sorted(order, key=lambda index: answers[index].rcode == "TIMEOUT"), False
        if len(failing) != 1:
            return order, False
        bad = failing[0]
        labels = ("the failure first", "the good reply first", "the good reply before the failed query goes out again")
        pick = yield from choose(Fork(f"which reply for {queries[0].name} is read first", labels))
        if pick == 0:
            return [bad, 1 - bad], False
        return [1 - bad, bad], pick == 2

    def _server(self) -> Part[int]:
        servers = self.config.servers
        if self.config.rotate and len(servers) > 1:
            return (yield from choose(Fork("rotate picks a random server for each query", servers)))
        return self._healthiest()

    def _healthiest(self) -> int:
        if not any(self.failures):
            return 0
        return min(range(len(self.failures)), key=lambda index: (self.failures[index], index))

    def _timeout(self, item: _Pending) -> float:
        """Five times the measured latency, at least 250 ms, once three replies came; doubled per round of servers."""
        base = self.config.timeout if self.samples[item.server] < SAMPLES else MINIMUM
        base = min(max(base, MINIMUM), MAXIMUM)
        rounds = min(item.tries, 64) // len(self.config.servers)
        return min(base * (1 << rounds), self.longest)

    def _process(self, item: _Pending, query: Query, answer: Answer) -> CaresResult | None:
        """The result of a reply, or None when the query goes out again."""
        if answer.rcode == "TIMEOUT" or (answer.delay >= query.timeout and answer.rcode not in _UNANSWERED):
            item.clock += query.timeout
            item.expired = True
            return None
        if answer.rcode in _UNANSWERED:
            return self._again(item, "ARES_ECONNREFUSED")
        item.clock += answer.delay
        if answer.bare:
            return self._again(item, "ARES_EBADRESP")
        if answer.rcode == "FORMERR" and self.edns and item.edns:
            item.edns, item.fixed = False, True
            return None
        if answer.truncated and query.transport == "udp":
            item.transport = "tcp"
            if not self.config.rotate:
                item.server, item.fixed = self._healthiest(), True
            return None
        if answer.rcode in BAD and self.check:
            return self._again(item, BAD[answer.rcode])
        self.failures[item.server] = 0
        if answer.rcode in ("NOERROR", "NXDOMAIN"):
            self.samples[item.server] += 1
        return CaresResult(_status(answer), answer.addresses, item.clock, answer.records)

    def _again(self, item: _Pending, status: str) -> CaresResult | None:
        self.failures[item.server] += 1
        item.tries += 1
        item.status = status
        if item.tries < len(self.config.servers) * self.config.tries and not item.last:
            if not self.config.rotate:
                if self.cleared:
                    self.failures[item.server] = 0
                item.server, item.fixed = self._healthiest(), True
            self.cleared = False
            return None
        self.cleared = False
        return CaresResult(status, (), item.clock)


def _status(answer: Answer) -> str:
    if answer.rcode == "NOERROR":
        return "ARES_SUCCESS" if answer.addresses else "ARES_ENODATA"
    return STATUSES.get(answer.rcode, "ARES_SUCCESS")
