"""c-ares' ares_getaddrinfo: Envoy, curl with c-ares, pycares, gRPC.

Rules from ares_getaddrinfo.c ares_getaddrinfo_int, next_lookup, host_callback; ares_search.c ares_search_name_list;
ares_process.c process_answer, ares_requeue_query, ares_calc_query_timeout; ares_metrics.c; ares_qcache.c (1.34). How
one query is sent and retried is in cares_send.py.
"""

from __future__ import annotations

from functools import lru_cache

from svcpath.models.resolvers.base import Asking, Fork, LookupOutcome, Part, ResolverRule, choose
from svcpath.models.resolvers.environment import (
    Environment,
    fits,
    ipv4_literal,
    ipv6_literal,
    octets,
    split_lines,
    unescaped,
)
from svcpath.models.resolvers.libraries import cares_conf
from svcpath.models.resolvers.libraries.cares_send import CaresResult, Channel

TEXTS = {
    "ARES_ENODATA": (1, "DNS server returned answer with no data"),
    "ARES_EFORMERR": (2, "DNS server claims query was misformatted"),
    "ARES_ESERVFAIL": (3, "DNS server returned general failure"),
    "ARES_ENOTFOUND": (4, "Domain name not found"),
    "ARES_ENOTIMP": (5, "DNS server does not implement requested operation"),
    "ARES_EREFUSED": (6, "DNS server refused query"),
    "ARES_EBADNAME": (8, "Misformatted domain name"),
    "ARES_EBADRESP": (10, "Misformatted DNS reply"),
    "ARES_ECONNREFUSED": (11, "Could not contact DNS servers"),
    "ARES_ETIMEOUT": (12, "Timeout while contacting DNS servers"),
}
LIST = "c-ares ares_search.c ares_search_name_list (1.34)"
CALLBACK = "c-ares ares_getaddrinfo.c host_callback (1.34)"
ONE_NAME = ResolverRule("the name ends in a dot (or search is off): only it is asked", LIST)
AS_IS_FIRST = ResolverRule("the name has ndots dots: as it is first", LIST)
FIRST_SUFFIX = ResolverRule("fewer dots than ndots: the first search suffix is tried", LIST)
NEXT = ResolverRule(
    "the reply that came last says NXDOMAIN or NODATA (remembered): the next candidate is tried", CALLBACK
)
NEXT_SINGLE = ResolverRule("SERVFAIL or REFUSED for a single label: the next candidate is tried", CALLBACK)
FOUND = ResolverRule("an address of either type", CALLBACK)
STOP = ResolverRule(
    "the reply that came last is an error other than NXDOMAIN or NODATA: the lookup ends with it", CALLBACK
)
END = ResolverRule("no candidate is left: ENODATA if ever seen, else the last error", CALLBACK)
ALIAS = ResolverRule(
    "HOSTALIASES names a target for a name without dots", "c-ares ares_search.c ares_lookup_hostaliases (1.34)"
)
LITERAL = ResolverRule("the name is an address", "c-ares ares_getaddrinfo.c fake_addrinfo (1.34)")
HOSTS = ResolverRule("/etc/hosts has the name", "c-ares ares_getaddrinfo.c file_lookup (1.34)")
LOCALHOST = ResolverRule(
    "localhost and names under it are the loopback addresses (RFC 6761)", "c-ares ares_getaddrinfo.c (1.34)"
)
ONION = ResolverRule(".onion is never asked (RFC 7686)", "c-ares ares_getaddrinfo.c (1.34)")
NO_LOOKUPS = ResolverRule(
    "no source has the name and DNS is not among them", "c-ares ares_getaddrinfo.c next_lookup (1.34)"
)


class Cares:
    """One channel with one lookup. ``search`` False is ARES_FLAG_NOSEARCH; ``use_tcp`` ARES_FLAG_USEVC given by the
    application; ``honours_use_vc`` is False for applications that pass their own flags (pycares)."""

    def __init__(
        self,
        environment: Environment,
        version: str = "1.34",
        *,
        search: bool = True,
        use_tcp: bool = False,
        honours_use_vc: bool = True,
        key: str = "c-ares",
    ) -> None:
        self.environment = environment
        self.version = version
        self.search = search
        self.config = cares_conf.read(environment)
        self.use_tcp = use_tcp or (self.config.use_tcp and honours_use_vc)
        self._key = key

    @property
    def key(self) -> str:
        return self._key

    @property
    def title(self) -> str:
        return self._key

    def fail(self, code: str, rule: ResolverRule, seconds: float = 0.0, memory: tuple[str, ...] = ()) -> LookupOutcome:
        number, text = TEXTS[code]
        return LookupOutcome(ok=False, code=code, number=number, text=text, rule=rule, seconds=seconds, memory=memory)

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        family = self.environment.family
        if name.lower().endswith((".onion", ".onion.")):
            return self.fail("ARES_ENOTFOUND", ONION)
        literal = _literal(name, family)
        if literal:
            return LookupOutcome(ok=True, addresses=(literal,), rule=LITERAL)
        code, rule, seconds = "ARES_ECONNREFUSED", NO_LOOKUPS, 0.0
        local = name.lower() == "localhost" or name.lower().endswith(".localhost")
        for lookup in self.config.lookups:
            if lookup == "f":
                found = tuple(a for a in cares_conf.hosts(self.environment.hosts, name) if fits(a, family))
                if local:
                    # ares_addrinfo_localhost fills in each asked family that the file has no address of.
                    families = {":" in address for address in found}
                    loopback = tuple(a for a in ("::1", "127.0.0.1") if fits(a, family) and (":" in a) not in families)
                    return LookupOutcome(ok=True, addresses=(*found, *loopback), rule=LOCALHOST)
                if found:
                    return LookupOutcome(ok=True, addresses=found, rule=HOSTS, seconds=seconds)
            elif not local:
                outcome = yield from self._dns(name)
                if outcome.ok or outcome.rule is not END:
                    return outcome
                code, rule, seconds = outcome.code, outcome.rule, outcome.seconds
        return self.fail(code, rule, seconds)

    def candidates(self, name: str) -> tuple[str, ...]:
        alias = self._alias(name)
        if alias:
            return (alias,)
        if name.endswith(".") or not self.search:
            return (name,)
        names = [f"{name}." if domain == "." else f"{name}.{domain}" for domain in self.config.domains]
        return (name, *names) if name.count(".") >= self.config.ndots else (*names, name)

    def _alias(self, name: str) -> str:
        if "." in name or "HOSTALIASES" not in self.environment.variables:
            return ""
        for line in split_lines(self.environment.hostaliases):
            words = line.split()
            if len(words) > 1 and words[0].lower() == name.lower():
                return words[1]
        return ""

    def _dns(self, name: str) -> Asking:
        names = self.candidates(name)
        channel = Channel(self.config, self.environment.types, self.use_tcp, edns=True)
        first_is_name = names[0] == name
        rule = ONE_NAME if len(names) == 1 else (AS_IS_FIRST if first_is_name else FIRST_SUFFIX)
        rule = ALIAS if len(names) == 1 and not first_is_name else rule
        nodata = False
        code = "ARES_ECONNREFUSED"
        for candidate in map(unescaped, names):
            if not sendable(candidate):
                return self.fail("ARES_EBADNAME", STOP, channel.now)
            results = yield from channel.query(candidate.removesuffix("."), rule)
            addresses = tuple(address for result in results for address in result.addresses)
            if addresses:
                return LookupOutcome(ok=True, addresses=addresses, rule=FOUND, seconds=channel.now)
            code = (yield from _last(results, candidate)).status
            if code in ("ARES_ENODATA", "ARES_ENOTFOUND"):
                nodata, rule = nodata or code == "ARES_ENODATA", NEXT
            elif code in ("ARES_ESERVFAIL", "ARES_EREFUSED") and "." not in candidate:
                rule = NEXT_SINGLE
            else:
                return self.fail(code, STOP, channel.now)
            if nodata:
                code = "ARES_ENODATA"
        return self.fail(code, END, channel.now)


def _last(results: tuple[CaresResult, ...], name: str) -> Part[CaresResult]:
    """The result that came last; two different ones at about the same time are a matter of packet order."""
    if len(results) == 1 or results[0].status == results[1].status:
        return results[-1]
    if abs(results[0].finished - results[1].finished) > 0.05:
        return max(results, key=lambda result: result.finished)
    labels = tuple(result.status for result in results)
    choice = yield from choose(Fork(f"which of the A and AAAA results for {name} comes last", labels))
    return results[choice]


def _literal(name: str, family: str) -> str:
    v4 = ipv4_literal(name)
    if v4:
        return v4
    v6 = ipv6_literal(name)
    return v6[0] if v6 and not v6[1] and family != "inet" else ""


@lru_cache(maxsize=4096)
def sendable(name: str) -> bool:
    """ares_dns_name.c ares_split_dns_name: host name characters, labels of 1 to 63, 255 in all."""
    if name in ("", "."):
        return name == "."
    bare = name.removesuffix(".")
    if not cares_conf.HOSTNAME_CHARACTERS.issuperset(bare) or octets(bare) > 255:
        return False
    return all(1 <= len(label) <= 63 for label in bare.split("."))
