"""hickory-resolver (formerly trust-dns): Rust services, linkerd's proxy.

Rules from hickory-resolver resolver.rs build_names, lookup_ip and lookup_ip.rs LookupIpFuture, alike in 0.25.2 and
0.26.3: which candidates a name has and in what order. How each candidate is asked is a file per version.
"""

from __future__ import annotations

from functools import lru_cache

from svcpath.models.resolvers.base import Asking, LookupOutcome, ResolverRule
from svcpath.models.resolvers.environment import Environment, octets, split_lines, to_ascii, unescaped
from svcpath.models.resolvers.libraries import hickory_025, hickory_026
from svcpath.models.resolvers.libraries.hickory_conf import address_of, decoding, name_problem, parse
from svcpath.models.resolvers.libraries.hickory_names import CandidateFailure

NAMES = "hickory resolver.rs build_names (0.25.2)"
LOOKUP = "hickory lookup_ip.rs LookupIpFuture (0.25.2)"
ONLY = ResolverRule("the name ends in a dot: only it is asked", NAMES)
RAW_FIRST = ResolverRule("the name has ndots dots: as it is first", NAMES)
FIRST_SUFFIX = ResolverRule("fewer dots than ndots: domain, then the search list", NAMES)
NEXT = ResolverRule("the last candidate gave no address, whatever the error: the next is tried", LOOKUP)
LAST_ERROR = ResolverRule("no candidate has an address: the error is that of the last name asked", LOOKUP)
LITERAL = ResolverRule("the name is an address", "hickory resolver.rs lookup_ip (0.25.2)")
LITERAL_LAST = ResolverRule(
    "an address, but ndots above 4 makes it a name to be searched first", "hickory resolver.rs lookup_ip (0.25.2)"
)
BAD_CONFIG = ResolverRule(
    "an unknown keyword or option in resolv.conf is an error: nothing resolves", "resolv-conf 0.7 lib.rs parse"
)
NO_CONFIG = ResolverRule(
    "resolv.conf is missing or has no server, or a search suffix that is no name: nothing resolves",
    "hickory system_conf/unix.rs into_resolver_config (0.26.3)",
)
BAD_NAME = ResolverRule("the name does not parse", "hickory-proto name.rs (0.25.2)")


class Hickory:
    """``version`` "0.25" asks AAAA only when A gave nothing, "0.26" both at once."""

    def __init__(self, environment: Environment, version: str = "0.25") -> None:
        self.version = version
        self.parallel = version.startswith("0.26")
        self.family = environment.family
        self.config = parse(environment.resolv_conf, environment.hostname, strict=not self.parallel)
        self.hosts = _hosts(environment.hosts)

    @property
    def key(self) -> str:
        return "hickory-0.26" if self.parallel else "hickory"

    @property
    def title(self) -> str:
        return f"hickory {self.version}"

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        if self.config.error:
            rule = BAD_CONFIG if " at line " in self.config.error else NO_CONFIG
            return self._error(CandidateFailure(f"io error: {self.config.error}", "config"), rule)
        literal = address_of(name) if "%" not in name else ""
        if literal and (self.config.ndots <= 4 or ":" in name):
            return LookupOutcome(ok=True, addresses=(literal,), rule=LITERAL)
        problem = name_problem(name)
        if problem:
            text = f"protocol error: {decoding(problem)}" if self.parallel else problem
            return self._error(CandidateFailure(text, "proto"), BAD_NAME)
        start = hickory_026.Hickory026Lookup if self.parallel else hickory_025.Hickory025Lookup
        walk = start(self.config, self.hosts, self.family)
        outcome: LookupOutcome | None = None
        names = self.candidates(name)
        rule = ONLY if len(names) == 1 else (RAW_FIRST if names[0] == name.lower() else FIRST_SUFFIX)
        failure = CandidateFailure("can not lookup IPs for no names", "message")
        for candidate in names:
            outcome, failure = yield from walk.candidate(candidate, rule, failure)
            if outcome is not None:
                return outcome
            rule = NEXT
        if literal:
            return LookupOutcome(ok=True, addresses=(literal,), rule=LITERAL_LAST, seconds=walk.now)
        return self._error(failure, LAST_ERROR, walk.now)

    def _error(self, failure: CandidateFailure, rule: ResolverRule, seconds: float = 0.0) -> LookupOutcome:
        """0.25 wraps every error in its ProtoError; 0.26 has kinds of errors."""
        text = failure.text if self.parallel else f"proto error: {failure.text}"
        return LookupOutcome(ok=False, code=failure.code, text=text, rule=rule, seconds=seconds)

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
