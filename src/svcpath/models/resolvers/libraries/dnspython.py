"""dnspython's stub resolver, as applications use it: with search off (its default) or on.

Rules from dns/resolver.py read_resolv_conf, _get_qnames_to_try, _Resolution, BaseResolver._compute_timeout,
Resolver.resolve_name (2.9). It reads neither hosts nor nsswitch.conf, and no attempts option.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

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
    INET6,
    Environment,
    is_address,
    is_link_local,
    octets,
    split_lines,
    to_ascii,
    unescaped,
)

NAMES = "dnspython resolver.py _get_qnames_to_try (2.9)"
RESULT = "dnspython resolver.py _Resolution.query_result (2.9)"
ABSOLUTE = ResolverRule(
    "search is off, or the name ends in a dot: only the name itself, as a fully qualified one", NAMES
)
AS_IS_FIRST = ResolverRule("the name has ndots dots: as it is first", NAMES)
FIRST_SUFFIX = ResolverRule("fewer dots than ndots: the first search suffix is tried", NAMES)
NEXT = ResolverRule("NXDOMAIN: the next candidate is tried", RESULT)
SECOND_TYPE = ResolverRule(
    "AAAA is settled: A is asked for the name that worked", "dnspython resolver.py resolve_name (2.9)"
)
RETRY = ResolverRule(
    "no reply: the next server, after all of them a pause", "dnspython resolver.py next_nameserver (2.9)"
)
DROPPED = ResolverRule("a server that answers with another code is taken out", RESULT)
TCP = ResolverRule("truncated: again over TCP at that server", RESULT)
FOUND = ResolverRule("an address of an asked type", "dnspython resolver.py resolve_name (2.9)")
NXDOMAIN = ResolverRule("every candidate got NXDOMAIN", "dnspython resolver.py next_request (2.9)")
NO_ANSWER = ResolverRule("NOERROR without the asked type ends the search", RESULT)
NO_SERVERS = ResolverRule("no server is left", "dnspython resolver.py next_nameserver (2.9)")
LIFETIME = ResolverRule("the lifetime is over", "dnspython resolver.py _compute_timeout (2.9)")
NO_CONFIG = ResolverRule("resolv.conf is missing or names no server", "dnspython resolver.py read_resolv_conf (2.9)")
BAD_NAME = ResolverRule("the name does not parse", "dnspython name.py from_text (2.9)")


NAME_ERRORS = {
    "EmptyLabel": "A DNS label is empty.",
    "LabelTooLong": "A DNS label is > 63 octets long.",
    "NameTooLong": "A DNS name is > 255 octets long.",
}


MAX_SHUFFLED = 4  # servers whose every order is followed
BAD_SERVER = "is not a dns.nameserver.Nameserver instance or text form, IP address, nor a valid https URL"


class DnspythonConfig(msgspec.Struct, frozen=True):
    servers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    ndots: int = 1
    timeout: float = 2.0
    rotate: bool = False
    edns: bool = False
    problem: str = ""
    bad_server: str = ""


@lru_cache(maxsize=256)
def parse(text: str | None, hostname: str) -> DnspythonConfig:
    servers: list[str] = []
    search: list[str] = []
    _, dot, rest = hostname.partition(".")
    domain = rest if dot else ""
    problem = ""
    ndots, timeout, rotate, edns = 1, 2.0, False, False
    for line in split_lines(text or ""):
        words = line.split()
        if line[:1] in ("#", ";") or len(words) < 2:
            continue
        if words[0] == "nameserver":
            servers.append(words[1])
        elif words[0] == "domain":
            domain, search = words[1], []
            problem = problem or _problem(domain)
        elif words[0] == "search":
            search = words[1:]
            problem = problem or next(filter(None, map(_problem, search)), "")
        elif words[0] == "options":
            for word in words[1:]:
                number = _int(word.partition(":")[2].partition(":")[0])
                if word == "rotate":
                    rotate = True
                elif word == "edns0":
                    edns = True
                elif "timeout" in word:
                    timeout = float(number) if number is not None else timeout
                elif "ndots" in word:
                    ndots = number if number is not None else ndots
    usable = tuple(server for server in servers if is_address(server))
    bad = next((server for server in servers if not is_address(server) and not server.startswith("https:")), "")
    return DnspythonConfig(
        usable, tuple(search or ([domain] if domain else [])), ndots, timeout, rotate, edns, problem, bad
    )


def _int(text: str) -> int | None:
    """Python's own int(): a sign and blanks are taken, anything else is left out."""
    try:
        return int(text[:40])
    except ValueError:
        return None


class _End(Exception):
    def __init__(self, outcome: LookupOutcome) -> None:
        self.outcome = outcome


class Dnspython:
    """``Resolver().resolve_name(name, search=search, lifetime=lifetime)``."""

    def __init__(self, environment: Environment, *, search: bool = False, lifetime: float = 5.0) -> None:
        self.environment = environment
        self.search = search
        self.lifetime = lifetime
        self.config = parse(environment.resolv_conf, environment.hostname)
        self.types: tuple[str, ...] = {INET: ("A",), INET6: ("AAAA",)}.get(environment.family, ("AAAA", "A"))

    @property
    def key(self) -> str:
        return "dnspython-search" if self.search else "dnspython"

    @property
    def title(self) -> str:
        return "dnspython search" if self.search else "dnspython"

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        if self.config.bad_server:
            return _fail("ValueError", f"nameserver {self.config.bad_server} {BAD_SERVER}", NO_CONFIG)
        if not self.config.servers:
            return _fail("NoResolverConfiguration", "no nameservers", NO_CONFIG)
        name = to_ascii(unescaped(name))
        names = self.candidates(name)
        problem = self.config.problem or next(filter(None, map(_problem, (name, *names))), "")
        if problem:
            return _fail(problem, NAME_ERRORS[problem], BAD_NAME)
        walk = _Walk(self)
        try:
            return (yield from walk.both(names, name))
        except _End as end:
            return end.outcome

    def candidates(self, name: str) -> tuple[str, ...]:
        if name.endswith(".") or not self.search:
            return (name.removesuffix("."),)
        names = [f"{name}.{suffix}".removesuffix(".").removesuffix(".") for suffix in self.config.search]
        if not name:
            names = [suffix.removesuffix(".") for suffix in self.config.search]
        labels = name.count(".") + 1 if name else 0
        return (name, *names) if labels > self.config.ndots else (*names, name)


def _fail(code: str, text: str, rule: ResolverRule, seconds: float = 0.0) -> LookupOutcome:
    return LookupOutcome(ok=False, code=code, text=f"{code}: {text}", rule=rule, seconds=seconds)


class _Walk:
    def __init__(self, resolver: Dnspython) -> None:
        self.config = resolver.config
        self.types = resolver.types
        self.lifetime = resolver.lifetime
        self.now = 0.0

    def both(self, names: tuple[str, ...], name: str) -> Asking:
        """resolve_name: the AAAA walk first; A only for the name at which it ended."""
        rule = ABSOLUTE if len(names) == 1 else (AS_IS_FIRST if names[0] == name else FIRST_SUFFIX)
        found: tuple[str, ...] = ()
        asked = names
        for index, kind in enumerate(self.types):
            where, addresses = yield from self._resolve(asked, kind, SECOND_TYPE if index else rule)
            found += addresses
            asked = (where,)
        if found:
            return LookupOutcome(ok=True, addresses=found, rule=FOUND, seconds=self.now)
        text = f"The DNS response does not contain an answer to the question: {_shown(asked[0])}. IN {self.types[0]}"
        return _fail("NoAnswer", text, NO_ANSWER, self.now)

    def _resolve(self, names: tuple[str, ...], kind: str, rule: ResolverRule) -> Part[tuple[str, tuple[str, ...]]]:
        deadline = self.lifetime
        if len(self.types) > 1:
            deadline = self.now + min(max(self.lifetime - self.now, 0.0), self.config.timeout)
        for name in names:
            answer = yield from self._name(name, kind, rule, deadline)
            if answer is not None:
                return name, answer
            rule = NEXT
        listed = ", ".join(f"{_shown(name)}." for name in names)
        plural = "None of DNS query names exist" if len(names) > 1 else "The DNS query name does not exist"
        raise _End(_fail("NXDOMAIN", f"{plural}: {listed}", NXDOMAIN, self.now))

    def _name(self, name: str, kind: str, rule: ResolverRule, deadline: float) -> Part[tuple[str, ...] | None]:
        """One candidate at all servers: its addresses (maybe none), or None for NXDOMAIN."""
        servers = list(self.config.servers)
        if self.config.rotate and len(servers) > 1:
            orders = list(itertools.permutations(servers[:MAX_SHUFFLED]))
            labels = tuple(", ".join(order) for order in orders)
            pick = yield from choose(Fork("rotate shuffles the servers", labels))
            servers[:MAX_SHUFFLED] = orders[pick]
        current = list(servers)
        errors: list[str] = []
        pause = 0.1
        transport, server = "udp", ""
        while True:
            if transport == "udp":
                if not current:
                    if not servers:
                        text = (
                            f"All nameservers failed to answer the query {_shown(name)}. IN {kind}: {'; '.join(errors)}"
                        )
                        raise _End(_fail("NoNameservers", text, NO_SERVERS, self.now))
                    current = list(servers)
                    self.now += pause
                    pause = min(pause * 2, 2)
                server = current.pop(0)
            if self.now >= deadline - 0.001:
                text = f"The resolution lifetime expired after {self.now:.3f} seconds: {'; '.join(errors)}"
                raise _End(_fail("LifetimeTimeout", text, LIFETIME, self.now))
            wait = min(deadline - self.now, self.config.timeout)
            query = Query(name, kind, server, transport, round(self.now, 3), wait, self.config.edns)
            (answer,) = yield from ask(Batch((query,), rule, ordered=True))
            if transport == "udp" and _unheard(server):
                answer = Answer("TIMEOUT")
            rule = RETRY
            where = f"Server Do53:{server}@53 answered "
            if answer.truncated and transport == "udp":
                self.now += answer.delay
                errors.append(where)
                transport, rule = "tcp", TCP
                continue
            over_tcp, transport = transport == "tcp", "udp"
            if answer.rcode == "TIMEOUT" or (answer.rcode == "UNREACHABLE" and not over_tcp) or answer.delay >= wait:
                self.now += wait
                errors.append(where + "The DNS operation timed out.")
                continue
            self.now += answer.delay
            if answer.rcode == "NXDOMAIN":
                return None
            if answer.rcode == "NOERROR":
                return answer.addresses
            servers.remove(server)
            rule = DROPPED
            errors.append(
                where
                + {"CLOSED": "EOF", "UNREACHABLE": "[Errno 111] Connection refused"}.get(answer.rcode, answer.rcode)
            )


def _unheard(server: str) -> bool:
    """dns/query.py _matches_destination compares the scope too, and a reply carries one for a link-local address alone."""
    address, _, scope = server.partition("%")
    return bool(scope.lstrip("0")) and not is_link_local(address)


def _shown(name: str) -> str:
    """dns.name._escapify: what is no plain character is shown escaped."""
    if name.isascii() and name.replace(".", "").replace("-", "").replace("_", "").isalnum():
        return name
    shown = []
    for byte in name.encode("utf-8", "surrogateescape"):
        character = chr(byte)
        if character in '"();\\@$':
            shown.append("\\" + character)
        else:
            shown.append(character if 0x20 < byte < 0x7F else f"\\{byte:03d}")
    return "".join(shown)


def _problem(name: str) -> str:
    """The exception of dns.name for a name that does not parse, or ""."""
    bare = name.removesuffix(".")
    if not bare:
        return ""
    labels = bare.split(".")
    if any(not label for label in labels):
        return "EmptyLabel"
    if any(octets(label) > 63 for label in labels):
        return "LabelTooLong"
    return "NameTooLong" if octets(bare) + 2 > 255 else ""
