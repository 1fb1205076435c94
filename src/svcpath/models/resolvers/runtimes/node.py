"""Node.js: dns.resolve4, resolve6 and friends (c-ares, no search, no hosts), and dns.lookup (libc).

Rules from lib/internal/dns/utils.js and src/cares_wrap.cc of Node 20 (c-ares 1.34: ares_query with
ARES_FLAG_NOCHECKRESP, four tries whatever resolv.conf says, waits that double up to 5 s; its timer ticks once a second, so
that a wait may last up to one second longer), lib/dns.js lookup and deps/uv getaddrinfo.
"""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Asking, LookupOutcome, ResolverRule
from svcpath.models.resolvers.environment import INET6, Environment, ipv6_literal, to_ascii
from svcpath.models.resolvers.libc.glibc import Glibc
from svcpath.models.resolvers.libc.musl import Musl
from svcpath.models.resolvers.libraries import cares_conf
from svcpath.models.resolvers.libraries.cares import sendable
from svcpath.models.resolvers.libraries.cares_send import Channel

TRIES, LONGEST = 4, 5.0
QUERY = "Node src/cares_wrap.cc QueryWrap::AresQuery (20)"
ASKED = ResolverRule("only the name itself is asked: no search list, no hosts file", QUERY)
ANSWERED = ResolverRule("the reply (whatever its code) or the silence is the result", QUERY)
ALIAS_ONLY = ResolverRule("an alias without address is an empty list, not an error", QUERY)
BAD_NAME = ResolverRule("the name can't be encoded", "c-ares ares_dns_name.c (1.34)")
LOOKUP = ResolverRule(
    "dns.lookup is libc's getaddrinfo; EAI_NONAME and EAI_NODATA are both ENOTFOUND", "Node deps/uv getaddrinfo.c"
)


TOO_LONG = ResolverRule("a name above 255 bytes is refused", "libuv src/unix/getaddrinfo.c uv_getaddrinfo")
EMPTY = ResolverRule("no name: no address, and no error", "Node lib/dns.js lookup (20)")
ONION = ResolverRule(".onion is never asked (RFC 7686)", "c-ares ares_query.c (1.34)")


class NodeResolve:
    """``dns.resolve4`` (or ``resolve6`` when the family is inet6)."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.kind = "AAAA" if environment.family == INET6 else "A"
        read = cares_conf.read(environment)
        self.config = msgspec.structs.replace(read, tries=TRIES)

    @property
    def key(self) -> str:
        return "node-resolve6" if self.kind == "AAAA" else "node-resolve4"

    @property
    def title(self) -> str:
        return "Node resolve6" if self.kind == "AAAA" else "Node resolve4"

    def _fail(self, code: str, name: str, rule: ResolverRule, seconds: float) -> LookupOutcome:
        return LookupOutcome(
            ok=False, code=code, text=f"query{self.kind} {code} {name}".rstrip(), rule=rule, seconds=seconds
        )

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        asked = to_ascii(name).lower()
        if asked.endswith((".onion", ".onion.")):
            return self._fail("ENOTFOUND", name, ONION, 0.0)
        if asked and not sendable(asked):
            return self._fail("EBADNAME", name, BAD_NAME, 0.0)
        channel = Channel(self.config, (self.kind,), self.config.use_tcp, edns=False, check=False, longest=LONGEST)
        (result,) = yield from channel.query(asked.removesuffix("."), ASKED)
        if result.addresses or (result.records and result.status == "ARES_ENODATA"):
            rule = ANSWERED if result.addresses else ALIAS_ONLY
            return LookupOutcome(ok=True, addresses=result.addresses, rule=rule, seconds=channel.now)
        return self._fail(result.status.removeprefix("ARES_"), name, ANSWERED, channel.now)


ADDRESS = ResolverRule(
    "the name is an address, whatever its scope: libc is not asked", "Node lib/dns.js lookup (net.isIP)"
)


class NodeLookup:
    """``dns.lookup``, http, net: libc's getaddrinfo on a pool thread."""

    key = "node-lookup"
    title = "Node lookup"

    def __init__(self, environment: Environment, libc: Glibc | Musl | None = None) -> None:
        self.libc = libc or Glibc(environment)

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        if not name:
            return LookupOutcome(ok=True, rule=EMPTY)
        if len(to_ascii(name)) > 255:
            return LookupOutcome(ok=False, code="EINVAL", text=f"getaddrinfo EINVAL {name}", rule=TOO_LONG)
        scoped = ipv6_literal(name) if "%" in name else None
        if scoped is not None:
            return LookupOutcome(ok=True, addresses=(scoped[0],), rule=ADDRESS)
        outcome = yield from self.libc.lookup(to_ascii(name), memory)
        if outcome.ok or outcome.crashed:
            return outcome
        code, number = outcome.code, -3001 if outcome.code == "EAI_AGAIN" else None
        if code == "EAI_SYSTEM":
            code = "EBUSY"  # libuv takes errno then, which glibc sets so when a source has no module
        if code in ("EAI_NONAME", "EAI_NODATA"):
            code, number = "ENOTFOUND", -3008
        return msgspec.structs.replace(
            outcome, code=code, number=number, text=f"getaddrinfo {code} {name}", rule=LOOKUP
        )
