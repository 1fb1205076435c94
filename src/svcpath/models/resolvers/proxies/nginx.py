"""nginx's own resolver, used for names known only at run time (variables, ``resolve``).

Rules from src/core/ngx_resolver.c ngx_resolve_name_locked, ngx_resolver_send_query, ngx_resolver_process_a,
ngx_resolver_resend (1.22). Literal upstream names are resolved once at start by libc instead.
"""

from __future__ import annotations

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
from svcpath.models.resolvers.environment import Environment, ipv4_literal, ipv6_literal
from svcpath.models.resolvers.libc import glibc_conf

PROCESS = "nginx ngx_resolver.c ngx_resolver_process_a (1.22)"
ASKED = ResolverRule(
    "only the name itself, in lower case: no search list, no hosts file, no ndots", "nginx ngx_resolver.c (1.22)"
)
CHASE = ResolverRule("a CNAME without address: its target is asked", PROCESS)
RESEND = ResolverRule(
    "no reply: sent again to the next server after 5 s", "nginx ngx_resolver.c ngx_resolver_resend (1.22)"
)
TCP = ResolverRule("truncated: again over TCP", "nginx ngx_resolver.c ngx_resolver_process_a (1.22)")
FOUND = ResolverRule("addresses, and no type failed", PROCESS)
FAILED = ResolverRule("one type's error code fails the name, also when the other type has addresses", PROCESS)
TIMED_OUT = ResolverRule(
    "a type without a reply (a FORMERR is only logged) fails the name",
    "nginx ngx_resolver.c ngx_resolver_timeout_handler (1.22)",
)
LITERAL = ResolverRule("the name is an address", "nginx ngx_inet.c ngx_parse_addr (1.22)")
CODES = {
    "FORMERR": (1, "Format error"),
    "SERVFAIL": (2, "Server failure"),
    "NXDOMAIN": (3, "Host not found"),
    "NOTIMP": (4, "Unimplemented"),
    "REFUSED": (5, "Operation refused"),
    "TIMEOUT": (110, "Operation timed out"),
}
RESEND_SECONDS, MAX_CHAIN = 5.0, 50


class Nginx:
    """``servers`` are those of the resolver directive (else resolv.conf's, which nginx itself does not read)."""

    key = "nginx"
    title = "nginx resolver"

    def __init__(
        self, environment: Environment, servers: tuple[str, ...] = (), *, ipv6: bool = True, timeout: float = 30.0
    ) -> None:
        self.servers = servers or glibc_conf.read(environment, (2, 36)).servers
        self.types: tuple[str, ...] = ("A", "AAAA") if ipv6 else ("A",)
        self.timeout = timeout

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        v6 = ipv6_literal(name.strip("[]"))
        literal = ipv4_literal(name) or (v6[0] if v6 else "")
        if literal:
            return LookupOutcome(ok=True, addresses=(literal,), rule=LITERAL)
        asked, rule, now = name.lower().removesuffix("."), ASKED, 0.0
        for _ in range(MAX_CHAIN):
            answers, now = yield from self._ask(asked, rule, now)
            failing = list(dict.fromkeys(code for code in map(_code, answers) if code))
            timed_out = any(answer.silent for answer in answers)
            if failing and not timed_out:
                pick = 0
                if len(failing) > 1:
                    pick = yield from choose(Fork(f"which error reply for {asked} arrives first", tuple(failing)))
                return self._fail(name, failing[pick], FAILED, now)
            if timed_out:
                return self._fail(name, "TIMEOUT", TIMED_OUT, self.timeout)
            addresses = tuple(address for answer in answers for address in answer.addresses)
            if addresses:
                return LookupOutcome(ok=True, addresses=addresses, rule=FOUND, seconds=now)
            target = next((answer.cname for answer in answers if answer.cname), "")
            if not target:
                break
            asked, rule = target.lower().removesuffix("."), CHASE
        return self._fail(name, "NXDOMAIN", FAILED, now)

    @staticmethod
    def _fail(name: str, code: str, rule: ResolverRule, seconds: float) -> LookupOutcome:
        number, text = CODES[code]
        shown = name.lower().removesuffix(".")
        return LookupOutcome(
            ok=False,
            code=code,
            number=number,
            text=f"{shown} could not be resolved ({number}: {text})",
            rule=rule,
            seconds=seconds,
        )

    def _ask(self, name: str, rule: ResolverRule, start: float) -> Part[tuple[tuple[Answer, ...], float]]:
        """Both types to one server; what stays unanswered goes to the next server every five seconds."""
        got: dict[str, Answer] = {}
        now, turn = start, 0
        latest = start
        while now < self.timeout and len(got) < len(self.types):
            server = self.servers[turn % len(self.servers)]
            kinds = [kind for kind in self.types if kind not in got]
            queries = tuple(Query(name, kind, server, "udp", round(now, 3), RESEND_SECONDS) for kind in kinds)
            answers = yield from ask(Batch(queries, rule))
            cut = [query.type for query, answer in zip(queries, answers, strict=True) if answer.truncated]
            if cut:
                again = tuple(Query(name, kind, server, "tcp", round(now, 3), RESEND_SECONDS) for kind in cut)
                replies = dict(zip(cut, (yield from ask(Batch(again, TCP))), strict=True))
                answers = tuple(replies.get(q.type, answer) for q, answer in zip(queries, answers, strict=True))
            for query, answer in zip(queries, answers, strict=True):
                if not answer.silent and answer.rcode != "FORMERR":
                    got[query.type] = answer
                    latest = max(latest, now + answer.delay)
            now, turn, rule = now + RESEND_SECONDS, turn + 1, RESEND
        return tuple(got.get(kind, Answer("TIMEOUT")) for kind in self.types), latest


def _code(answer: Answer) -> str:
    return answer.rcode if answer.rcode in CODES and answer.rcode != "TIMEOUT" else ""
