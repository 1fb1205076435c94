"""The JVM: libc's getaddrinfo, behind caches that outlive every DNS TTL.

Rules from java/net/InetAddress.java, sun/net/InetAddressCachePolicy.java and Inet6AddressImpl.c lookupAllHostAddr (JDK
17 and 25), and the default conf/security/java.security. DNS TTLs are ignored; the key is the exact text of the name.
"""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Asking, LookupOutcome, ResolverRule
from svcpath.models.resolvers.environment import INET, Environment, inet_aton, ipv6_literal
from svcpath.models.resolvers.libc.glibc import Glibc
from svcpath.models.resolvers.libc.musl import Musl

FOREVER, NEVER = -1, 0
DEFAULT_POSITIVE, DEFAULT_NEGATIVE = 30, 10


AMBIGUOUS = ResolverRule(
    "an IPv4 literal with hexadecimal or octal parts is refused", "JDK IPAddressUtil.validateNumericFormatV4 (17)"
)


EMPTY = ResolverRule("no name: the loopback address", "JDK InetAddress.java getAllByName (17)")
NOT_IPV6 = ResolverRule("a name with a colon is taken for an IPv6 address", "JDK InetAddress.java getAllByName (17)")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """``flags`` is the java command line (or JAVA_TOOL_OPTIONS) as words; ``security`` overrides of java.security."""

    flags: tuple[str, ...] = ()
    security: dict[str, str] = {}
    security_manager: bool = False
    version: int = 17

    def system(self, key: str) -> str | None:
        """The last -Dkey=value."""
        value = None
        for flag in self.flags:
            if flag == f"-D{key}" or flag.startswith(f"-D{key}="):
                value = flag.partition("=")[2]
        return value


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that a success, a failure and (JDK 21+) a stale success are kept; -1 is forever, 0 not at all.
    ``positive_from`` names what set the first; ``ineffective`` lists settings that do nothing, with the reason."""

    positive: int
    negative: int
    stale: int
    positive_from: str
    ineffective: tuple[str, ...] = ()


def policy(settings: Settings) -> Policy:
    """InetAddressCachePolicy's static initialiser: security property, then the sun.net system property, then
    defaults."""
    managed = settings.security_manager or settings.system("java.security.manager") not in (None, "disallow", "allow")
    managed = managed and settings.version < 24
    positive = _integer(settings.security.get("networkaddress.cache.ttl"))
    origin = "java.security networkaddress.cache.ttl"
    if positive is None:
        positive = _integer(settings.system("sun.net.inetaddr.ttl"))
        origin = "-Dsun.net.inetaddr.ttl"
    if positive is None:
        positive = FOREVER if managed else DEFAULT_POSITIVE
        origin = "default with a SecurityManager" if managed else "default"
    negative = _integer(settings.security.get("networkaddress.cache.negative.ttl", str(DEFAULT_NEGATIVE)))
    if negative is None:
        negative = _integer(settings.system("sun.net.inetaddr.negative.ttl")) or NEVER
    stale = _integer(settings.security.get("networkaddress.cache.stale.ttl")) if settings.version >= 21 else None
    if stale is None and settings.version >= 21:
        stale = _integer(settings.system("sun.net.inetaddr.stale.ttl"))
    positive = max(positive, FOREVER)
    keep_stale = max(stale or 0, 0) if positive not in (FOREVER, NEVER) else 0
    return Policy(
        positive=positive,
        negative=max(negative, FOREVER),
        stale=keep_stale,
        positive_from=origin,
        ineffective=_ineffective(settings, origin),
    )


def _ineffective(settings: Settings, origin: str) -> tuple[str, ...]:
    notes = [
        f"-D{key}: a security property, read from java.security or set with Security.setProperty, not from -D"
        for key in ("networkaddress.cache.ttl", "networkaddress.cache.negative.ttl", "networkaddress.cache.stale.ttl")
        if settings.system(key) is not None
    ]
    if settings.system("sun.net.inetaddr.ttl") is not None and not origin.startswith("-D"):
        notes.append("-Dsun.net.inetaddr.ttl: the security property networkaddress.cache.ttl wins")
    if settings.system("sun.net.inetaddr.negative.ttl") is not None:
        notes.append(
            "-Dsun.net.inetaddr.negative.ttl: java.security sets networkaddress.cache.negative.ttl, which wins"
        )
    if settings.version < 21 and "networkaddress.cache.stale.ttl" in settings.security:
        notes.append("networkaddress.cache.stale.ttl: known from JDK 21 on")
    return tuple(notes)


def _integer(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text.strip())
    except ValueError:
        return None


class Jvm:
    """A first lookup of a name (nothing cached)."""

    key = "jvm"

    def __init__(
        self, environment: Environment, libc: Glibc | Musl | None = None, settings: Settings | None = None
    ) -> None:
        self.settings = settings or Settings()
        if self.settings.system("java.net.preferIPv4Stack") == "true":
            environment = msgspec.structs.replace(environment, family=INET)
            libc = Musl(environment, libc.version) if isinstance(libc, Musl) else None
        self.libc = libc or Glibc(environment, canonname=True)

    @property
    def title(self) -> str:
        return f"JVM on {self.libc.title}"

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        if not name:
            return LookupOutcome(ok=True, addresses=("127.0.0.1",), rule=EMPTY)
        if _ambiguous(name):
            return LookupOutcome(
                ok=False, code="UnknownHostException", text=f"java.net.UnknownHostException: {name}", rule=AMBIGUOUS
            )
        if name.startswith("[") and name.endswith("]") and ipv6_literal(name[1:-1]):
            name = name[1:-1]
        if ":" in name and ipv6_literal(name) is None:
            text = f"java.net.UnknownHostException: {name}: invalid IPv6 address literal"
            return LookupOutcome(ok=False, code="UnknownHostException", text=text, rule=NOT_IPV6)
        outcome = yield from self.libc.lookup(name, memory)
        if outcome.ok or outcome.crashed:
            return outcome
        return msgspec.structs.replace(
            outcome, code="UnknownHostException", text=f"java.net.UnknownHostException: {name}: {outcome.text}"
        )


def _ambiguous(name: str) -> bool:
    """An IPv4 address with hexadecimal or octal parts, which libc would take."""
    parts = name.split(".")
    odd = any(part[:2].lower() == "0x" or (len(part) > 1 and part[0] == "0") for part in parts)
    return odd and inet_aton(name) is not None


class Cached(msgspec.Struct, frozen=True):
    """One entry of InetAddress's cache: what was found, and when it stops being fresh (None: never)."""

    name: str
    outcome: LookupOutcome
    fresh_until: float | None
    usable_until: float | None


FRESH = ResolverRule("the cached result is still fresh: nothing is asked", "JDK InetAddress.java CachedLookup")
STALE = ResolverRule(
    "the refresh failed within the stale TTL: the old addresses are returned", "JDK InetAddress.java (21+)"
)


def store(cache_policy: Policy, name: str, outcome: LookupOutcome, now: float) -> Cached | None:
    """What InetAddress keeps of a lookup; None if nothing. A temporary failure is kept like NXDOMAIN."""
    seconds = cache_policy.positive if outcome.ok else cache_policy.negative
    if seconds == NEVER:
        return None
    if seconds == FOREVER:
        return Cached(name, outcome, None, None)
    stale = cache_policy.stale if outcome.ok else 0
    return Cached(name, outcome, now + seconds, now + seconds + stale)


def recall(entry: Cached | None, name: str, now: float) -> LookupOutcome | None:
    """The outcome served from the cache, or None when libc is asked. A cached failure names no reason."""
    if entry is None or entry.name != name or (entry.fresh_until is not None and now >= entry.fresh_until):
        return None
    if entry.outcome.ok:
        return msgspec.structs.replace(entry.outcome, rule=FRESH, seconds=0.0)
    return msgspec.structs.replace(
        entry.outcome, text=f"java.net.UnknownHostException: {name}", rule=FRESH, seconds=0.0
    )


def refresh(
    cache_policy: Policy, entry: Cached | None, outcome: LookupOutcome, now: float
) -> tuple[LookupOutcome, Cached | None]:
    """After libc was asked again: the outcome the caller sees, and the entry from then on."""
    if (
        entry is not None
        and entry.outcome.ok
        and not outcome.ok
        and entry.usable_until is not None
        and now < entry.usable_until
    ):
        return msgspec.structs.replace(entry.outcome, rule=STALE), entry
    name = entry.name if entry is not None else ""
    return outcome, store(cache_policy, name, outcome, now)
