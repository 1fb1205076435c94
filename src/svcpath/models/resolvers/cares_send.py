"""How a c-ares channel sends and retries one query: ares_process.c ares_send_query, process_answer, ares_requeue_query,
ares_calc_query_timeout; ares_metrics.c ares_metrics_server_timeout; ares_qcache.c (1.34)."""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Answer, Batch, Fork, Part, Query, Rule, ask, choose
from svcpath.models.resolvers.cares_conf import Config

PROCESS = "c-ares ares_process.c process_answer (1.34)"
REQUEUE = Rule(
    "no reply, SERVFAIL, NOTIMP or REFUSED: the next server, those that failed least first",
    "c-ares ares_process.c ares_requeue_query (1.34)",
)
TCP = Rule("truncated: again over TCP", PROCESS)
NO_EDNS = Rule("FORMERR without an OPT record: again without EDNS at the same server", PROCESS)
BAD = {"SERVFAIL": "ARES_ESERVFAIL", "NOTIMP": "ARES_ENOTIMP", "REFUSED": "ARES_EREFUSED"}
MINIMUM, MAXIMUM, SAMPLES = 0.25, 5.0, 3


class Result(msgspec.Struct, frozen=True):
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


class Channel:
    """Clock, server health, measured latency and query cache of one channel.

    ``check`` False is ARES_FLAG_NOCHECKRESP: an error reply is a result, not a reason to ask again.
    """

    def __init__(
        self, config: Config, types: tuple[str, ...], use_tcp: bool, *, edns: bool, check: bool = True
    ) -> None:
        self.config = config
        self.types = types
        self.transport = "tcp" if use_tcp else "udp"
        self.edns = edns
        self.check = check
        self.now = 0.0
        self.failures = [0] * len(config.servers)
        self.samples = [0] * len(config.servers)
        self.cache: dict[tuple[str, str], Result] = {}
        self.cleared = False

    def query(self, name: str, rule: Rule) -> Part[tuple[Result, ...]]:
        results: dict[str, Result] = {}
        for kind in self.types:
            cached = self.cache.get((name.lower(), kind))
            if cached is not None:
                results[kind] = msgspec.structs.replace(cached, finished=self.now)
        pending = [_Pending(kind, self.now, self.transport) for kind in self.types if kind not in results]
        while pending:
            due = min(item.clock for item in pending)
            group = [item for item in pending if item.clock - due < 0.02]
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
            answers = yield from ask(
                Batch(tuple(queries), rule, racy=any(item.tries for item in group) and len(self.failures) > 1)
            )
            rule = REQUEUE
            order, clear_first = yield from self._reading(group, queries, answers)
            for index in order:
                item, query, answer = group[index], queries[index], answers[index]
                if clear_first and index == order[-1]:
                    self.cleared = True
                result = self._process(item, query, answer)
                if result is None:
                    if answer.truncated or answer.rcode == "FORMERR":
                        rule = TCP if answer.truncated else NO_EDNS
                    continue
                results[item.kind] = result
                if result.status == "ARES_SUCCESS" and item.kind == "A" and result.addresses:
                    for other in pending:
                        other.tries = max(other.tries, 1_000_000)
                if answer.rcode in ("NOERROR", "NXDOMAIN"):
                    self.cache[name.lower(), item.kind] = result
            for item in pending:
                if item.tries >= 1_000_000 and item.kind not in results and item.status:
                    results[item.kind] = Result(item.status, (), item.clock)
            pending = [item for item in pending if item.kind not in results]
        self.now = max(result.finished for result in results.values())
        return tuple(results[kind] for kind in self.types)

    def _reading(
        self, group: list[_Pending], queries: list[Query], answers: tuple[Answer, ...]
    ) -> Part[tuple[list[int], bool]]:
        """In which order the two replies of a server are read: a good one clears the server's failures."""
        order = list(range(len(group)))
        if len(group) < 2 or len(self.failures) < 2 or self.config.rotate or queries[0].server != queries[1].server:
            return order, False
        failing = [i for i in order if (answers[i].rcode in BAD and self.check) or answers[i].silent]
        if len(failing) != 1 or any(answer.rcode == "TIMEOUT" for answer in answers):
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
        return min(range(len(self.failures)), key=lambda index: (self.failures[index], index))

    def _timeout(self, item: _Pending) -> float:
        """Five times the measured latency, at least 250 ms, once three replies came; doubled per round of servers."""
        base = self.config.timeout if self.samples[item.server] < SAMPLES else MINIMUM
        base = min(max(base, MINIMUM), MAXIMUM)
        rounds = min(item.tries, 64) // len(self.config.servers) if item.tries < 1_000_000 else 0
        return base * (1 << rounds)

    def _process(self, item: _Pending, query: Query, answer: Answer) -> Result | None:
        """The result of a reply, or None when the query goes out again."""
        if answer.rcode == "TIMEOUT":
            item.clock += query.timeout
            return self._again(item, "ARES_ETIMEOUT")
        if answer.rcode in ("UNREACHABLE", "CLOSED"):
            return self._again(item, "ARES_ECONNREFUSED")
        if answer.delay >= query.timeout:
            item.clock += query.timeout
            return self._again(item, "ARES_ETIMEOUT")
        item.clock += answer.delay
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
        return Result(_status(answer), answer.addresses, item.clock, answer.records)

    def _again(self, item: _Pending, status: str) -> Result | None:
        self.failures[item.server] += 1
        item.tries += 1
        item.status = status
        if item.tries < len(self.config.servers) * self.config.tries:
            if not self.config.rotate:
                if self.cleared:
                    self.failures[item.server] = 0
                item.server, item.fixed = self._healthiest(), True
            self.cleared = False
            return None
        self.cleared = False
        return Result(status, (), item.clock)


def _status(answer: Answer) -> str:
    if answer.rcode == "NOERROR":
        return "ARES_SUCCESS" if answer.addresses else "ARES_ENODATA"
    return {"NXDOMAIN": "ARES_ENOTFOUND", "FORMERR": "ARES_EFORMERR", **BAD}.get(answer.rcode, "ARES_SUCCESS")
