"""hickory-resolver (formerly trust-dns): Rust services, linkerd's proxy.

Rules from hickory-resolver 0.25.2 resolver.rs build_names, lookup_ip; lookup_ip.rs LookupIpFuture, rt_then_swap;
caching_client.rs inner_lookup; name_server_pool.rs; hosts.rs; system_conf/unix.rs, and resolv-conf 0.7 lib.rs. 0.26
(read, not run) asks A and AAAA in parallel by default.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from svcpath.models.resolvers.base import Answer, Asking, Batch, Fork, Outcome, Part, Query, Rule, ask, choose
from svcpath.models.resolvers.environment import INET, INET6, Environment, octets, split_lines, to_ascii, unescaped
from svcpath.models.resolvers.hickory_conf import address_of, name_problem, parse

NAMES = "hickory resolver.rs build_names (0.25.2)"
LOOKUP = "hickory lookup_ip.rs LookupIpFuture (0.25.2)"
ONLY = Rule("the name ends in a dot: only it is asked", NAMES)
RAW_FIRST = Rule("the name has ndots dots: as it is first", NAMES)
FIRST_SUFFIX = Rule("fewer dots than ndots: domain, then the search list", NAMES)
NEXT = Rule("the last candidate gave no address, whatever the error: the next is tried", LOOKUP)
SECOND_TYPE = Rule("A gave nothing: AAAA of the same candidate", "hickory lookup_ip.rs rt_then_swap (0.25.2)")
CHASE = Rule("a CNAME without address: its target is asked", "hickory caching_client.rs inner_lookup (0.25.2)")
RESEND = Rule(
    "no reply: sent again, attempts + 1 times in all", "hickory name_server_pool.rs, retry_dns_handle.rs (0.25.2)"
)
TCP = Rule("truncated: again over TCP", "hickory name_server_pool.rs (0.25.2)")
FOUND = Rule("an address", LOOKUP)
HOSTS = Rule("/etc/hosts has that candidate (it is consulted for each candidate in turn)", "hickory hosts.rs (0.25.2)")
LAST_ERROR = Rule("no candidate has an address: the error is that of the last name asked", LOOKUP)
LITERAL = Rule("the name is an address", "hickory resolver.rs lookup_ip (0.25.2)")
LITERAL_LAST = Rule(
    "an address, but ndots above 4 makes it a name to be searched first", "hickory resolver.rs lookup_ip (0.25.2)"
)
SPECIAL = Rule("localhost, invalid and onion are answered without a query", "hickory caching_client.rs (0.25.2)")
BAD_CONFIG = Rule(
    "an unknown keyword or option in resolv.conf is an error: nothing resolves", "resolv-conf 0.7 lib.rs parse"
)
BAD_NAME = Rule("the name does not parse", "hickory-proto name.rs (0.25.2)")
MAX_CHAIN = 8


class _Failure(msgspec.Struct, frozen=True):
    text: str
    code: str


class Hickory:
    """``version`` "0.25" asks AAAA only when A gave nothing, "0.26" both at once."""

    def __init__(self, environment: Environment, version: str = "0.25") -> None:
        self.environment = environment
        self.version = version
        self.parallel = version.startswith("0.26")
        self.config = parse(environment.resolv_conf, environment.hostname)
        self.hosts = _hosts(environment.hosts)

    @property
    def key(self) -> str:
        return "hickory-0.26" if self.parallel else "hickory"

    @property
    def title(self) -> str:
        return f"hickory {self.version}"

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        if self.config.error:
            return Outcome(ok=False, code="config", text=f"proto error: io error: {self.config.error}", rule=BAD_CONFIG)
        literal = address_of(name) if "%" not in name else ""
        if literal and (self.config.ndots <= 4 or ":" in name):
            return Outcome(ok=True, addresses=(literal,), rule=LITERAL)
        problem = name_problem(name)
        if problem:
            return Outcome(ok=False, code="proto", text=f"proto error: {problem}", rule=BAD_NAME)
        walk = _Walk(self)
        outcome: Outcome | None = None
        names = self.candidates(name)
        rule = ONLY if len(names) == 1 else (RAW_FIRST if names[0] == name.lower() else FIRST_SUFFIX)
        failure = _Failure("can not lookup IPs for no names", "message")
        for candidate in names:
            outcome, failure = yield from walk.candidate(candidate, rule, failure)
            if outcome is not None:
                return outcome
            rule = NEXT
        if literal:
            return Outcome(ok=True, addresses=(literal,), rule=LITERAL_LAST, seconds=walk.now)
        return Outcome(
            ok=False, code=failure.code, text=f"proto error: {failure.text}", rule=LAST_ERROR, seconds=walk.now
        )

    def candidates(self, name: str) -> tuple[str, ...]:
        """build_names: lower case, without the final dot, duplicates left out (a later place in the list wins)."""
        lower = to_ascii(unescaped(name)).lower()
        if lower.endswith("."):
            return (lower[:-1],)
        labels = lower.split(".")
        count = len(labels) - (1 if labels[0] == "*" else 0)
        raw_first = count > self.config.ndots or lower == "localhost" or lower.endswith(".localhost")
        stack: list[str] = [] if raw_first else [lower]
        for suffix in (*reversed(self.config.search), *((self.config.domain,) if self.config.domain else ())):
            joined = f"{lower}.{suffix.lower()}".strip(".")
            if joined not in stack and octets(joined) <= 253:
                stack.append(joined)
        if raw_first:
            stack.append(lower)
        return tuple(reversed(stack))


class _Walk:
    def __init__(self, resolver: Hickory) -> None:
        self.config = resolver.config
        self.hosts = resolver.hosts
        self.parallel = resolver.parallel
        family = resolver.environment.family
        self.types: tuple[str, ...] = ("A",) if family == INET else ("AAAA",) if family == INET6 else ("A", "AAAA")
        self.now = 0.0
        self.cache: dict[tuple[str, str], _Failure] = {}

    def candidate(self, name: str, rule: Rule, failure: _Failure) -> Part[tuple[Outcome | None, _Failure]]:
        if self.parallel and len(self.types) == 2:
            return (yield from self._both(name, rule))
        for index, kind in enumerate(self.types):
            result = yield from self._ask(name, kind, SECOND_TYPE if index else rule)
            if isinstance(result, Outcome):
                return result, failure
            failure = result
        return None, failure

    def _both(self, name: str, rule: Rule) -> Part[tuple[Outcome | None, _Failure]]:
        """0.26: both types side by side; one that succeeds is enough."""
        start, latest = self.now, self.now
        addresses: tuple[str, ...] = ()
        failure = _failed(name, "A")
        for kind in self.types:
            self.now = start
            result = yield from self._ask(name, kind, rule)
            latest = max(latest, self.now)
            if isinstance(result, Outcome):
                addresses += result.addresses
                rule = result.rule if result.rule is HOSTS else rule
            else:
                failure = result
        self.now = latest
        if addresses:
            return Outcome(ok=True, addresses=addresses, rule=FOUND, seconds=latest), failure
        return None, failure

    def _ask(self, name: str, kind: str, rule: Rule) -> Part[Outcome | _Failure]:
        hosts = self.hosts.get((name, kind))
        if hosts:
            return Outcome(ok=True, addresses=hosts, rule=HOSTS, seconds=self.now)
        special = _special(name, (kind,))
        if special:
            return Outcome(ok=True, addresses=special, rule=SPECIAL, seconds=self.now)
        if _reserved(name):
            return _failed(name, kind)
        asked = name
        for _ in range(MAX_CHAIN):
            if (asked, kind) in self.cache:
                return _failed(name, kind)
            answer = yield from self._send(asked, kind, rule)
            if answer.silent:
                text = "request timed out" if answer.rcode != "CLOSED" else "stream closed"
                return _Failure(text, "timeout" if answer.rcode != "CLOSED" else "io")
            if answer.addresses:
                return Outcome(ok=True, addresses=answer.addresses, rule=FOUND, seconds=self.now)
            if answer.rcode == "NXDOMAIN" or not answer.cname:
                if answer.rcode in ("NXDOMAIN", "NOERROR") and not answer.lame:
                    self.cache[asked, kind] = _failed(asked, kind)
                return _failed(asked, kind)
            asked, rule = answer.cname.lower().removesuffix("."), CHASE
            if _reserved(asked):
                return _failed(asked, kind)
        return _failed(name, kind)

    def _send(self, name: str, kind: str, rule: Rule) -> Part[Answer]:
        """Two servers at a time, up to attempts + 1 times; the reply that counts is a matter of timing."""
        answer = Answer("TIMEOUT")
        for _ in range(self.config.attempts + 1):
            answer = yield from self._round(name, kind, rule)
            rule = RESEND
            if not answer.silent:
                return answer
        return answer

    def _round(self, name: str, kind: str, rule: Rule) -> Part[Answer]:
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


def _failed(name: str, kind: str) -> _Failure:
    name = _unicode(name)
    query = f'Query {{ name: Name("{name}."), query_type: {kind}, query_class: IN }}'
    return _Failure(f"no records found for {query}", "no-records")


def _unicode(name: str) -> str:
    """Names are shown with their Unicode labels."""
    if "xn--" not in name:
        return name
    try:
        return ".".join(label.encode().decode("idna") for label in name.split("."))
    except UnicodeError:
        return name


def _reserved(name: str) -> bool:
    return name.endswith((".invalid", ".onion")) or name in ("invalid", "onion")


def _special(name: str, types: tuple[str, ...]) -> tuple[str, ...]:
    if name == "localhost" or name.endswith(".localhost"):
        return ("127.0.0.1",) if types[0] == "A" else ("::1",)
    return ()


@lru_cache(maxsize=64)
def _hosts(text: str) -> dict[tuple[str, str], tuple[str, ...]]:
    table: dict[tuple[str, str], tuple[str, ...]] = {}
    for raw in split_lines(text):
        words = raw.partition("#")[0].split()
        address = address_of(words[0]) if words else ""
        kind = "AAAA" if ":" in address else "A"
        for word in words[1:] if address else ():
            key = (unescaped(word).lower().removesuffix("."), kind)
            table[key] = (*table.get(key, ()), address)
    return table
