"""How hickory 0.25 asks: A, and AAAA of the same candidate when A gave nothing.

Rules from hickory-resolver 0.25.2 lookup_ip.rs rt_then_swap; caching_client.rs inner_lookup; name_server_pool.rs; and
hickory-proto retry_dns_handle.rs.
"""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Answer, Batch, Fork, LookupOutcome, Part, Query, ResolverRule, ask, choose
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

SECOND_TYPE = ResolverRule("A gave nothing: AAAA of the same candidate", "hickory lookup_ip.rs rt_then_swap (0.25.2)")
CHASE = ResolverRule("a CNAME without address: its target is asked", "hickory caching_client.rs inner_lookup (0.25.2)")
RESEND = ResolverRule(
    "no reply: sent again, attempts + 1 times in all", "hickory name_server_pool.rs, retry_dns_handle.rs (0.25.2)"
)
TCP = ResolverRule("truncated: again over TCP", "hickory name_server_pool.rs (0.25.2)")
FOUND = ResolverRule("an address", "hickory lookup_ip.rs LookupIpFuture (0.25.2)")
MAX_CHAIN = 8


class Hickory025Lookup:
    """One lookup: its clock and what it has cached."""

    def __init__(self, config: HickoryConfig, hosts: dict[tuple[str, str], tuple[str, ...]], family: str) -> None:
        self.config = config
        self.hosts = hosts
        self.types: tuple[str, ...] = ("A",) if family == INET else ("AAAA",) if family == INET6 else ("A", "AAAA")
        self.now = 0.0
        self.cache: dict[tuple[str, str], CandidateFailure] = {}

    def candidate(
        self, name: str, rule: ResolverRule, failure: CandidateFailure
    ) -> Part[tuple[LookupOutcome | None, CandidateFailure]]:
        for index, kind in enumerate(self.types):
            result = yield from self._ask(name, kind, SECOND_TYPE if index else rule)
            if isinstance(result, LookupOutcome):
                return result, failure
            failure = result
        return None, failure

    def _ask(self, name: str, kind: str, rule: ResolverRule) -> Part[LookupOutcome | CandidateFailure]:
        hosts = self.hosts.get((name, kind))
        if hosts:
            return LookupOutcome(ok=True, addresses=hosts, rule=HOSTS, seconds=self.now)
        loopback = special(name, kind)
        if loopback:
            return LookupOutcome(ok=True, addresses=loopback, rule=SPECIAL, seconds=self.now)
        if reserved(name):
            return no_records(name, kind)
        asked = name
        for _ in range(MAX_CHAIN):
            if (asked, kind) in self.cache:
                return no_records(name, kind)
            answer = yield from self._send(asked, kind, rule)
            if answer.silent:
                text = "request timed out" if answer.rcode != "CLOSED" else "stream closed"
                return CandidateFailure(text, "timeout" if answer.rcode != "CLOSED" else "io")
            if answer.addresses:
                return LookupOutcome(ok=True, addresses=answer.addresses, rule=FOUND, seconds=self.now)
            if answer.rcode == "NXDOMAIN" or not answer.cname:
                if answer.rcode in ("NXDOMAIN", "NOERROR") and not answer.lame:
                    self.cache[asked, kind] = no_records(asked, kind)
                return no_records(asked, kind)
            asked, rule = answer.cname.lower().removesuffix("."), CHASE
            if reserved(asked):
                return no_records(asked, kind)
        return no_records(name, kind)

    def _send(self, name: str, kind: str, rule: ResolverRule) -> Part[Answer]:
        """Two servers at a time, up to attempts + 1 times; the reply that counts is a matter of timing."""
        answer = Answer("TIMEOUT")
        for _ in range(self.config.attempts + 1):
            answer = yield from self._round(name, kind, rule)
            rule = RESEND
            if not answer.silent:
                return answer
        return answer

    def _round(self, name: str, kind: str, rule: ResolverRule) -> Part[Answer]:
        servers = list(self.config.servers)
        while servers:
            group, servers = servers[:2], servers[2:]
            queries = tuple(
                Query(name, kind, server, "udp", round(self.now, 3), float(self.config.timeout), self.config.edns)
                for server in group
            )
            answers = yield from ask(Batch(queries, rule, racy=len(self.config.servers) > 1))
            usable = [a for a in answers if a.rcode not in ("TIMEOUT", "UNREACHABLE")]
            if not usable:
                self.now += self.config.timeout
                rule = RESEND
                continue
            answer = yield from self._pick(name, usable)
            self.now += answer.delay
            if not answer.truncated:
                return answer
            query = msgspec.structs.replace(queries[0], transport="tcp", sent=round(self.now, 3))
            (answer,) = yield from ask(Batch((query,), TCP))
            if answer.rcode == "TIMEOUT":
                self.now += self.config.timeout
            return answer
        return Answer("TIMEOUT")

    def _pick(self, name: str, usable: list[Answer]) -> Part[Answer]:
        good = [answer for answer in usable if answer.addresses]
        different = {(answer.rcode, answer.addresses): answer for answer in usable}
        if len(different) == 1:
            return usable[0]
        failing = [answer for answer in usable if not answer.addresses]
        if good and all(answer.rcode not in ("NXDOMAIN", "NOERROR") for answer in failing):
            different = {(answer.rcode, answer.addresses): answer for answer in good}
        picks = list(different.values())
        if len(picks) == 1:
            return picks[0]
        choice = yield from choose(Fork(f"which server's reply for {name} counts", tuple(a.label for a in picks)))
        return picks[choice]
