"""Go's own resolver, and when a Go binary asks libc instead.

Rules from src/net of Go 1.26: dnsclient_unix.go nameList, tryOneName, exchange, checkHeader, skipToAnswer,
goLookupIPCNAMEOrder; dnsconfig_unix.go dnsReadConfig; conf.go initConfVal, lookupOrder; nss.go; hosts.go; dnsclient.go
isDomainName. Binaries built with CGO_ENABLED=0 or the netgo tag are "pure" and never ask libc.
"""

from __future__ import annotations

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
from svcpath.models.resolvers.environment import Environment, fits, ipv4_literal, ipv6_literal, octets, unmapped
from svcpath.models.resolvers.libc.glibc import Glibc
from svcpath.models.resolvers.libc.musl import Musl
from svcpath.models.resolvers.runtimes import go_conf

LOOKUP = "Go net/dnsclient_unix.go goLookupIPCNAMEOrder (1.26)"
TRY = "Go net/dnsclient_unix.go tryOneName (1.26)"
LIST = "Go net/dnsclient_unix.go nameList (1.26)"
ROOTED = ResolverRule("the name ends in a dot: only it is asked", LIST)
AS_IS_FIRST = ResolverRule("the name has ndots dots: as it is first", LIST)
FIRST_SUFFIX = ResolverRule("fewer dots than ndots: the first search suffix is tried", LIST)
NEXT = ResolverRule("no address of either type for the last candidate, whatever the error: the next is tried", LOOKUP)
AS_IS_LAST = ResolverRule("the search list is used up (or empty): the name as it is", LIST)
NEXT_SERVER = ResolverRule("no usable reply for that type: next server or attempt, each type on its own", TRY)
TCP = ResolverRule("truncated: that type again over TCP", "Go net/dnsclient_unix.go exchange (1.26)")
SECOND_TYPE = ResolverRule("single-request: AAAA after A is settled", LOOKUP)
FOUND = ResolverRule("an address of an asked type", LOOKUP)
FAILED = ResolverRule(
    "no candidate has an address; the error shown is the last of the bare name if it was asked, else the first of all",
    LOOKUP,
)
BAD_NAME = ResolverRule("not a domain name to Go: nothing is asked", "Go net/dnsclient.go isDomainName (1.26)")
LITERAL = ResolverRule("the name is an address", "Go net/netip ParseAddr via lookupIPAddr (1.26)")
HOSTS = ResolverRule("/etc/hosts has the name: DNS is not asked", "Go net/hosts.go lookupStaticHost (1.26)")
HOSTS_FAMILY = ResolverRule(
    "/etc/hosts has the name with another family only", "Go net/ipsock.go filterAddrList (1.26)"
)
FILES_ONLY = ResolverRule("nsswitch.conf names files alone: DNS is not asked", LOOKUP)
NO_NAMES = ResolverRule("no candidate may be asked", LIST)

NO_SUCH_HOST = "no such host"
NOT_FOUND: tuple[str, ...] = ("IsNotFound",)
TEMPORARY: tuple[str, ...] = ("IsTemporary",)


class GoDnsError(msgspec.Struct, frozen=True):
    """A *net.DNSError of one type of one candidate."""

    text: str
    server: str
    flags: tuple[str, ...]


class Go:
    """``build`` is "pure" (netgo, CGO_ENABLED=0), "cgo" (libc forced) or "default" (decided by conf.go lookupOrder);
    ``libc`` is the model that the last two ask."""

    def __init__(
        self, environment: Environment, build: str = "pure", libc: Glibc | Musl | None = None, strict: bool = False
    ) -> None:
        self.environment = environment
        self.build = build
        self.libc = libc or Glibc(environment, canonname=True)
        self.strict = strict
        self.config = go_conf.read(environment.resolv_conf, environment.hostname)

    @property
    def key(self) -> str:
        return {"pure": "go", "cgo": "go-cgo"}.get(self.build, "go-default")

    @property
    def title(self) -> str:
        return {"pure": "Go", "cgo": "Go (cgo)"}.get(self.build, "Go (default build)")

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        outcome = yield from self._lookup(name, memory)
        if outcome.ok and outcome.addresses == ("::",):
            return self._unspecified(outcome)
        return outcome

    def _unspecified(self, outcome: LookupOutcome) -> LookupOutcome:
        """ipsock.go internetAddrList: "::" alone comes with 0.0.0.0, before the family is looked at."""
        both = tuple(address for address in ("::", "0.0.0.0") if fits(address, self.environment.family))
        return msgspec.structs.replace(outcome, addresses=both)

    def _lookup(self, name: str, memory: tuple[str, ...]) -> Asking:
        literal = _literal(name)
        if literal:
            if fits(literal, self.environment.family) or literal == "::":
                return LookupOutcome(ok=True, addresses=(literal,), rule=LITERAL)
            return self._unsuitable(name, LITERAL)
        if not name:
            return self._no_such_host(name, BAD_NAME)
        order = go_conf.order(self.environment, self.build, name)
        if order == "cgo":
            return (yield from self._libc(name, memory))
        if order in ("files,dns", "files"):
            outcome = self._hosts(name)
            if outcome:
                return outcome
            if order == "files":
                return self._no_such_host(name, FILES_ONLY)
        if not is_domain_name(name):
            return self._no_such_host(name, BAD_NAME)
        outcome = yield from self._dns(name, memory)
        if not outcome.ok and order == "dns,files":
            return self._hosts(name) or outcome
        return outcome

    def _hosts(self, name: str) -> LookupOutcome | None:
        found = go_conf.hosts(self.environment.hosts, name)
        if not found:
            return None
        fitting = tuple(address for address in found if fits(address, self.environment.family) or found == ("::",))
        return (
            LookupOutcome(ok=True, addresses=fitting, rule=HOSTS) if fitting else self._unsuitable(name, HOSTS_FAMILY)
        )

    @staticmethod
    def _unsuitable(name: str, rule: ResolverRule) -> LookupOutcome:
        return LookupOutcome(ok=False, code="AddrError", text=f"address {name}: no suitable address found", rule=rule)

    @staticmethod
    def _no_such_host(name: str, rule: ResolverRule) -> LookupOutcome:
        return LookupOutcome(
            ok=False, code="DNSError", text=f"lookup {name}: {NO_SUCH_HOST}", flags=("IsNotFound",), rule=rule
        )

    def _libc(self, name: str, memory: tuple[str, ...]) -> Asking:
        """cgo_unix.go cgoLookupHostIP: EAI_NONAME and EAI_NODATA are "no such host", the rest is libc's text."""
        outcome = yield from self.libc.lookup(name, memory)
        if outcome.ok:
            return msgspec.structs.replace(outcome, addresses=tuple(unmapped(address) for address in outcome.addresses))
        if outcome.crashed:
            return outcome
        if outcome.code in ("EAI_NONAME", "EAI_NODATA"):
            text, flags = NO_SUCH_HOST, NOT_FOUND
        else:
            text, flags = outcome.text, TEMPORARY if outcome.code == "EAI_AGAIN" else ()
            text = "device or resource busy" if outcome.code == "EAI_SYSTEM" else text
        return msgspec.structs.replace(
            outcome, code="DNSError", number=None, text=f"lookup {name}: {text}", flags=flags
        )

    def _dns(self, name: str, memory: tuple[str, ...]) -> Asking:
        rooted = name.endswith(".")
        asis = name if rooted else name + "."
        names = candidates(self.config, name)
        if not names:
            return self._unsuitable(name, NO_NAMES)
        walk = _Walk(self, memory)
        first = ROOTED if rooted else (AS_IS_FIRST if names[0] == asis and len(names) > 1 else None)
        rule = first or (FIRST_SUFFIX if names[0] != asis else AS_IS_LAST)
        last: GoDnsError | None = None
        for fqdn in names:
            addresses, failures = yield from walk.candidate(fqdn, rule)
            if addresses:
                return LookupOutcome(ok=True, addresses=addresses, rule=FOUND, seconds=walk.now, memory=walk.memory)
            strict = [failure for failure in failures if self.strict and "IsTemporary" in failure.flags]
            for failure in failures:
                if last is None or fqdn == name + ".":
                    last = failure
            if strict:
                last = strict[-1]
                break
            rule = NEXT
        assert last is not None
        text = f"lookup {name} on {last.server}: {last.text}"
        return LookupOutcome(
            ok=False, code="DNSError", text=text, flags=last.flags, rule=FAILED, seconds=walk.now, memory=walk.memory
        )


class _Walk:
    """The clock and the rotating server offset of one lookup."""

    def __init__(self, resolver: Go, memory: tuple[str, ...]) -> None:
        self.config = resolver.config
        self.types = resolver.environment.types
        self.strict = resolver.strict
        self.edns = "netedns0=0" not in resolver.environment.variables.get("GODEBUG", "")
        self.now = 0.0
        self.offset = next((int(item[7:]) for item in memory if item.startswith("rotate:")), 0)

    @property
    def memory(self) -> tuple[str, ...]:
        return (f"rotate:{self.offset}",) if self.config.rotate else ()

    def candidate(self, fqdn: str, rule: ResolverRule) -> Part[tuple[tuple[str, ...], tuple[GoDnsError, ...]]]:
        """Addresses, and the failures in the order they come back."""
        single = self.config.single_request
        groups = [(kind,) for kind in self.types] if single else [self.types]
        addresses: tuple[str, ...] = ()
        failed: list[tuple[float, GoDnsError]] = []
        for index, group in enumerate(groups):
            settled = yield from self._types(fqdn, group, SECOND_TYPE if index else rule)
            for finished, result in settled:
                if isinstance(result, GoDnsError):
                    failed.append((finished, result))
                else:
                    addresses += result
            self.now = max(finished for finished, _ in settled)
        if addresses and not (self.strict and failed):
            return addresses, ()
        failures = yield from self._order(fqdn, failed, single)
        return ((), failures)

    def _order(self, fqdn: str, failed: list[tuple[float, GoDnsError]], single: bool) -> Part[tuple[GoDnsError, ...]]:
        """Of two different errors the order of arrival decides which one is kept."""
        if len(failed) == 2 and not single and failed[0][1] != failed[1][1]:
            if abs(failed[0][0] - failed[1][0]) > 0.02:
                return tuple(failure for _, failure in sorted(failed, key=lambda item: item[0]))
            labels = tuple(f"{failure.text} last" for _, failure in reversed(failed))
            pick = yield from choose(Fork(f"order of the A and AAAA errors of {fqdn}", labels))
            ordered = [failed[0][1], failed[1][1]]
            return tuple(reversed(ordered)) if pick else tuple(ordered)
        return tuple(failure for _, failure in failed)

    def _types(
        self, fqdn: str, group: tuple[str, ...], rule: ResolverRule
    ) -> Part[list[tuple[float, GoDnsError | tuple[str, ...]]]]:
        """tryOneName for each type side by side: attempts times servers until a usable reply."""
        config = self.config
        if not config.rotate and not config.use_tcp:
            server, now = config.servers[0], round(self.now, 3)
            first = tuple([Query(fqdn[:-1], kind, server, "udp", now, config.timeout, self.edns) for kind in group])
            replies = yield from ask(Batch(first, rule))
            if all(reply.plain for reply in replies):
                return [
                    (self.now, judge(query, reply, query.type)) for query, reply in zip(first, replies, strict=True)
                ]
            return (yield from self._rounds(fqdn, group, rule, replies))
        return (yield from self._rounds(fqdn, group, rule, ()))

    def _rounds(
        self, fqdn: str, group: tuple[str, ...], rule: ResolverRule, given: tuple[Answer, ...]
    ) -> Part[list[tuple[float, GoDnsError | tuple[str, ...]]]]:
        """The rest of tryOneName; ``given`` are the answers of the first exchange if it was already made."""
        config = self.config
        starts = yield from self._offsets(group)
        count = len(config.servers)
        sends = count * config.attempts
        clocks = [self.now] * len(group)
        position = [0] * len(group)
        transport = ["tcp" if config.use_tcp else "udp"] * len(group)
        results: list[GoDnsError | tuple[str, ...] | None] = [None] * len(group)
        last: list[GoDnsError | None] = [None] * len(group)
        while True:
            waiting = [index for index in range(len(group)) if results[index] is None]
            if not waiting:
                return [(clocks[i], result) for i, result in enumerate(results) if result is not None]
            due = min(clocks[index] for index in waiting)
            now_due = [index for index in waiting if clocks[index] - due < 0.02]
            queries = tuple(
                [
                    Query(
                        fqdn[:-1],
                        group[i],
                        config.servers[(starts[i] + position[i]) % count],
                        transport[i],
                        round(clocks[i], 3),
                        config.timeout,
                        self.edns,
                    )
                    for i in now_due
                ]
            )
            answers = given or (yield from ask(Batch(queries, rule)))
            given = ()
            rule = NEXT_SERVER
            for index, query, answer in zip(now_due, queries, answers, strict=True):
                if answer.truncated and query.transport == "udp":
                    transport[index], rule = "tcp", TCP
                    clocks[index] += answer.delay
                    continue
                clocks[index] += config.timeout if answer.rcode == "TIMEOUT" else answer.delay
                transport[index] = "tcp" if config.use_tcp else "udp"
                result = judge(query, answer, group[index])
                final = not isinstance(result, GoDnsError) or result.text == NO_SUCH_HOST
                if isinstance(result, GoDnsError):
                    last[index] = result
                position[index] += 1
                if final:
                    results[index] = result
                elif position[index] >= sends:
                    results[index] = last[index]

    def _offsets(self, group: tuple[str, ...]) -> Part[list[int]]:
        """options rotate: a counter that A and AAAA each take from, in the order their goroutines run."""
        config = self.config
        if not config.rotate:
            return [0] * len(group)
        first, self.offset = self.offset, self.offset + len(group)
        offsets = [first + index for index in range(len(group))]
        if len(group) == 2 and len(config.servers) > 1 and not config.single_request:
            pick = yield from choose(
                Fork("which goroutine takes the rotating server counter first", ("AAAA before A", "A before AAAA"))
            )
            if pick == 0:
                offsets.reverse()
        return offsets


def judge(query: Query, answer: Answer, kind: str) -> GoDnsError | tuple[str, ...]:
    """exchange, checkHeader and skipToAnswer for one reply."""
    server = f"[{query.server}]:53" if ":" in query.server else f"{query.server}:53"
    if answer.rcode == "TIMEOUT":
        return GoDnsError(_socket(query, server, "i/o timeout"), server, ("IsTemporary", "IsTimeout"))
    if answer.rcode == "UNREACHABLE":
        if query.transport == "tcp":
            return GoDnsError(f"dial tcp {server}: connect: connection refused", server, ("IsTemporary",))
        return GoDnsError(_socket(query, server, "read: connection refused"), server, ("IsTemporary",))
    if answer.rcode == "CLOSED":
        return GoDnsError("EOF", server, ())
    if answer.rcode == "NXDOMAIN" or (answer.rcode == "NOERROR" and not answer.addresses and not answer.lame):
        return GoDnsError(NO_SUCH_HOST, server, ("IsNotFound",))
    if answer.lame:
        return GoDnsError("lame referral", server, ())
    if answer.rcode == "SERVFAIL":
        return GoDnsError("server misbehaving", server, ("IsTemporary",))
    if answer.rcode != "NOERROR":
        return GoDnsError("server misbehaving", server, ())
    return answer.addresses


def _socket(query: Query, server: str, error: str) -> str:
    """The client's own address and port are not known beforehand: shown as "*"."""
    return f"read {query.transport} *->{server}: {error}"


def candidates(config: go_conf.GoConfig, name: str) -> tuple[str, ...]:
    """nameList: the names to try, each with its final dot; .onion is never asked."""
    length = octets(name)
    rooted = name.endswith(".")
    if length > 254 or (length == 254 and not rooted):
        return ()
    if rooted:
        return () if _avoid(name) else (name,)
    enough = name.count(".") >= config.ndots
    asis = name + "."
    names = [asis] if enough and not _avoid(asis) else []
    for suffix in config.search:
        fqdn = asis + suffix
        if octets(fqdn) <= 254 and not _avoid(fqdn):
            names.append(fqdn)
    if not enough and not _avoid(asis):
        names.append(asis)
    return tuple(names)


def _avoid(name: str) -> bool:
    return name.removesuffix(".").lower().endswith(".onion") or name == ""


def _literal(name: str) -> str:
    v4 = ipv4_literal(name)
    if v4:
        return v4
    v6 = ipv6_literal(name)
    return unmapped(v6[0]) if v6 else ""


@lru_cache(maxsize=4096)
def is_domain_name(name: str) -> bool:
    """dnsclient.go isDomainName: letters, digits, _ and -; labels of 1 to 63; not all digits; no - at a label's
    ends."""
    if name == ".":
        return True
    length = octets(name)
    if not 0 < length <= 254 or (length == 254 and not name.endswith(".")):
        return False
    labels = name.removesuffix(".").split(".")
    non_numeric = False
    for label in labels:
        if not 1 <= len(label) <= 63 or label[0] == "-" or label[-1] == "-":
            return False
        if not (label.isascii() and label.replace("-", "a").replace("_", "a").isalnum()):
            return False
        non_numeric = non_numeric or not label.isdigit()
    return non_numeric
