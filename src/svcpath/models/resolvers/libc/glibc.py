"""glibc's getaddrinfo: Debian, Ubuntu, RHEL images, and every program on them that asks libc.

Rules from nss/getaddrinfo.c (2.36: sysdeps/posix/) get_nss_addresses; resolv/nss_dns/dns-host.c
_nss_dns_gethostbyname4_r; resolv/res_query.c __res_context_search, __res_context_query, __res_context_querydomain;
resolv/res_init.c. Versions 2.36 to 2.41. How one query pair is sent is in glibc_send.py.
"""

from __future__ import annotations

import math
from functools import lru_cache

import msgspec

from svcpath.models.resolvers.base import Asking, LookupOutcome, Part, ResolverRule
from svcpath.models.resolvers.environment import (
    INET,
    INET6,
    UNSPEC,
    Environment,
    inet_aton,
    ipv6_literal,
    known_scope,
    octets,
    unescaped,
    unmapped,
)
from svcpath.models.resolvers.libc import glibc_conf
from svcpath.models.resolvers.libc.glibc_send import BufferReply, Sender
from svcpath.models.resolvers.libc.nsswitch import NssSource, hosts_services

TEXTS = {
    "EAI_NONAME": (-2, "Name or service not known"),
    "EAI_AGAIN": (-3, "Temporary failure in name resolution"),
    "EAI_NODATA": (-5, "No address associated with hostname"),
    "EAI_ADDRFAMILY": (-9, "Address family for hostname not supported"),
    "EAI_SYSTEM": (-11, "System error"),
}
HOST_NOT_FOUND, TRY_AGAIN, NO_RECOVERY, NO_DATA = "HOST_NOT_FOUND", "TRY_AGAIN", "NO_RECOVERY", "NO_DATA"

SEARCH = "glibc res_query.c __res_context_search"
AS_IS_ONLY = ResolverRule("the name ends in a dot: only it is asked", SEARCH)
AS_IS_FIRST = ResolverRule("the name has ndots dots: as it is first, its error is kept for the end", SEARCH)
FIRST_SUFFIX = ResolverRule("fewer dots than ndots: the first search suffix is tried", SEARCH)
AFTER_AS_IS = ResolverRule("the name as it is gave no address: the search list is tried", SEARCH)
NEXT_MISSING = ResolverRule("the last candidate does not exist: the next is tried", SEARCH)
NEXT_NODATA = ResolverRule("the last candidate has no address (NODATA, remembered): the search goes on", SEARCH)
NEXT_SERVFAIL = ResolverRule("SERVFAIL for the last candidate (remembered): the search goes on", SEARCH)
LEFT = ResolverRule(
    "no usable reply, REFUSED, NOTIMP, FORMERR or an unsendable candidate: the rest of the search list is left out, "
    "the name as it is is still tried",
    SEARCH,
)
AS_IS_LAST = ResolverRule("the search list is used up (or empty): the name as it is", SEARCH)
ALIAS = ResolverRule("HOSTALIASES names a target for a name without dots", "glibc res_query.c __res_context_hostalias")
UNREACHABLE = ResolverRule(
    "no server could be reached (ECONNREFUSED): the lookup ends at once, nothing else is tried", SEARCH
)
AS_IS_AFTER = {
    LEFT: LEFT,
    NEXT_NODATA: ResolverRule(
        "the last suffix gave no address (NODATA, remembered): the name as it is follows", SEARCH
    ),
    NEXT_SERVFAIL: ResolverRule("SERVFAIL for the last suffix (remembered): the name as it is follows", SEARCH),
    NEXT_MISSING: ResolverRule("no suffix has the name: the name as it is follows", SEARCH),
}
FOUND = ResolverRule("an address of an asked type", "glibc dns-host.c gaih_getanswer")
CNAME_ONLY = ResolverRule(
    "a reply with records but no address (a CNAME without target) ends the search as a success, then has no address",
    "glibc res_query.c __res_context_query (ancount), dns-host.c gaih_getanswer",
)
FORGOTTEN = ResolverRule(
    "AF_INET alone: an earlier server failure is forgotten when the last reply was usable (NSS says not found)",
    "glibc getaddrinfo.c gaih_inet (__gethostbyname2_r), dns-host.c (2.36)",
)
NO_MODULE = ResolverRule(
    "the last source of nsswitch.conf's hosts line has no module here: EAI_SYSTEM",
    "glibc getaddrinfo.c get_nss_addresses (NETDB_INTERNAL)",
)
LITERAL = ResolverRule("the name is an address", "glibc getaddrinfo.c try_literal")
BAD_SCOPE = ResolverRule(
    "the scope of the address is no number and no interface of a link-local address",
    "glibc getaddrinfo.c try_literal, inet6_scopeid_pton.c",
)
MERGE = ResolverRule(
    "nsswitch.conf says SUCCESS=merge: getaddrinfo can't, and what was found is lost",
    "glibc getaddrinfo.c get_nss_addresses, nss_action.h NSS_ACTION_MERGE",
)
UNNAMED = ResolverRule(
    "a character outside A-Z a-z 0-9 . _ -, or a leading -: asked in DNS, and no record of such a name is taken",
    "glibc dns-host.c getanswer_r (name_ok)",
)
HOSTS = ResolverRule("/etc/hosts has the name", "glibc files-hosts.c, getaddrinfo.c get_nss_addresses")
DIGITS_DOTS = ResolverRule(
    "AF_INET alone: digits and dots that are no address are not looked up, and no name with a colon that begins like an address",
    "glibc digits_dots.c __nss_hostname_digits_dots",
)
BAD_NAME = ResolverRule(
    "a character outside A-Z a-z 0-9 . _ -, or a leading -: not asked in DNS", "glibc res_hnok, nss_dns"
)
NO_SOURCE = ResolverRule(
    "no source of nsswitch.conf's hosts line has the name", "glibc getaddrinfo.c get_nss_addresses"
)
ABORTED = "resolv_conf.c: update_from_conf: Assertion `resolv_conf_matches (resp, conf)' failed."
ABORT = ResolverRule(
    "one of the first six search suffixes does not fit the old 256-byte list: an assertion ends the process",
    "glibc resolv_conf.c update_from_conf, resolv_conf_matches",
)
ENDLESS = ResolverRule(
    "the call does not return: a sortlist line ends in a carriage return, at which the parser stands still",
    "glibc res_init.c res_vinit_1 (sortlist)",
)
FINAL = {
    HOST_NOT_FOUND: ResolverRule("no candidate has an address and the deciding one does not exist", SEARCH),
    NO_DATA: ResolverRule("no candidate has an address; NODATA was seen on the way", SEARCH),
    TRY_AGAIN: ResolverRule("no candidate has an address; a server failure or silence decides", SEARCH),
    NO_RECOVERY: ResolverRule(
        "no candidate has an address; REFUSED, NOTIMP, FORMERR or an unsendable name decides", SEARCH
    ),
}
DIGITS = frozenset("0123456789.")
HEXADECIMAL = frozenset("0123456789abcdefABCDEF:")
HNOK = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


HANG, HANGS = "HANG", "the call does not return: glibc waits on the TCP connection without a timeout"
NO_TIMEOUT = ResolverRule(
    "a server that accepts the TCP connection and stays silent is waited for without end", "glibc res_send.c send_vc"
)


class _Hang(Exception):
    pass


class NssResult(msgspec.Struct, frozen=True):
    """What nss_dns says: addresses, or the h_errno and NSS status it ends in."""

    addresses: tuple[str, ...]
    herrno: str
    status: str
    rule: ResolverRule
    memory: tuple[str, ...]
    seconds: float


class Glibc:
    """One thread with one environment; ``memory`` of a lookup holds the sticky single-request bits. ``canonname``: the
    caller asks for AI_CANONNAME (the JVM, .NET, Go), so that AF_INET does not take its own shorter way."""

    def __init__(self, environment: Environment, version: str = "2.36", *, canonname: bool = False) -> None:
        self.environment = environment
        self.simple = environment.family == INET and not canonname
        self.unchecked = environment.family != UNSPEC and canonname
        self.version = version
        number = tuple(int(part) for part in version.split(".") if part.isdigit())
        self.config = glibc_conf.read(environment, number)
        self.services = hosts_services(environment.nsswitch)

    key = "glibc"

    @property
    def title(self) -> str:
        return f"glibc {self.version}"

    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking:
        family = self.environment.family
        v4, v6 = inet_aton(name), ipv6_literal(name)
        if v4 is not None or v6 is not None:
            address = v4 if v4 is not None else (v6 or ("", ""))[0]
            if family == INET:
                address = unmapped(address)
            if family != UNSPEC and (family == INET6) != (":" in address):
                return self._fail("EAI_ADDRFAMILY", LITERAL, 0.0, memory)
            if v6 is not None and not known_scope(*v6):
                return self._fail("EAI_NONAME", BAD_SCOPE, 0.0, memory)
            return LookupOutcome(ok=True, addresses=(address,), rule=LITERAL, memory=memory)
        if self.simple and _like_an_address(name):
            return self._fail("EAI_NONAME", DIGITS_DOTS, 0.0, memory)
        if self.config.endless:
            return LookupOutcome(ok=False, code=HANG, text=ENDLESS.text, rule=ENDLESS, seconds=math.inf, memory=memory)
        if glibc_conf.aborts(self.config.search):
            return LookupOutcome(ok=False, code="SIGABRT", number=-6, text=ABORTED, rule=ABORT, memory=memory)
        no_data, rule, now = "" if self.services or self.simple else "EAI_SYSTEM", NO_SOURCE, 0.0
        merged = False
        kept: LookupOutcome | None = None  # what a source found is overwritten by the next where nsswitch.conf goes on
        for service in self.services:
            if self.simple and service.name not in ("files", "dns"):
                if self._returns(service, "UNAVAIL"):
                    break
                continue
            no_data = "EAI_SYSTEM"
            status = "UNAVAIL"
            if service.name == "files":
                found = glibc_conf.hosts(self.environment.hosts, name, family)
                kept = (
                    LookupOutcome(ok=True, addresses=found, rule=HOSTS, seconds=now, memory=memory) if found else None
                )
                status, no_data = "SUCCESS" if found else "NOTFOUND", ""
            elif service.name == "dns":
                result = yield from self._dns(name, memory, now)
                memory, now, rule = result.memory, result.seconds, result.rule
                if result.herrno == HANG:
                    return LookupOutcome(ok=False, code=HANG, text=HANGS, rule=rule, seconds=now, memory=memory)
                kept = None
                if result.addresses:
                    kept = LookupOutcome(ok=True, addresses=result.addresses, rule=rule, seconds=now, memory=memory)
                status = result.status
                no_data = {TRY_AGAIN: "EAI_AGAIN", NO_DATA: "EAI_NODATA"}.get(result.herrno, "")
            if kept is not None and service.after("SUCCESS") == "merge":
                if not self.simple:
                    return self._fail("EAI_NONAME", MERGE, now, memory)
                merged = True
            if self._returns(service, status):
                break
        if merged:
            return self._fail("EAI_NODATA", MERGE, now, memory)
        if kept is not None:
            return msgspec.structs.replace(kept, seconds=now, memory=memory)
        return self._fail(no_data or "EAI_NONAME", NO_MODULE if no_data == "EAI_SYSTEM" else rule, now, memory)

    @staticmethod
    def _returns(service: NssSource, status: str) -> bool:
        return service.after(status) == "return"

    @staticmethod
    def _fail(code: str, rule: ResolverRule, seconds: float, memory: tuple[str, ...]) -> LookupOutcome:
        number, text = TEXTS[code]
        return LookupOutcome(ok=False, code=code, number=number, text=text, rule=rule, seconds=seconds, memory=memory)

    def _dns(self, name: str, memory: tuple[str, ...], now: float) -> Part[NssResult]:
        """_nss_dns_gethostbyname4_r (AF_UNSPEC) or gethostbyname2_r."""
        name = unescaped(name)
        odd = not name or not HNOK.issuperset(name) or name.startswith("-")
        if odd and not self.unchecked:
            return NssResult((), HOST_NOT_FOUND, "NOTFOUND", BAD_NAME, memory, now)
        target = glibc_conf.alias(self.environment, name)
        types = self.environment.types
        no_aaaa = "no-aaaa" in self.config.flags
        sender = Sender(self.config, ("A",) if no_aaaa else types, memory, now)
        sender.masked = no_aaaa and "A" not in types
        try:
            found = yield from self._search(target, sender, ALIAS if target != name else None)
            if odd and found.addresses:
                return NssResult((), HOST_NOT_FOUND, "NOTFOUND", UNNAMED, found.memory, found.seconds)
            return found
        except _Hang:
            return NssResult((), HANG, "UNAVAIL", NO_TIMEOUT, memory, math.inf)

    def _search(self, name: str, sender: Sender, why: ResolverRule | None) -> Part[NssResult]:
        config = self.config
        dots = name.count(".")
        trailing = len(name) > 1 and name.endswith(".")
        saved = last = ""
        got_nodata = got_servfail = root_on_list = tried_as_is = False
        if dots >= config.ndots or trailing:
            reply = yield from self._query(name, "", sender, why or (AS_IS_ONLY if trailing else AS_IS_FIRST))
            if reply.ended or trailing:
                return self._found(reply, sender)
            saved, tried_as_is = reply.herrno, True
            last = saved
        rule = AFTER_AS_IS if tried_as_is else FIRST_SUFFIX
        searched = False
        for suffix in config.search if not trailing else ():
            searched = True
            domain = suffix.removeprefix(".")
            root_on_list = root_on_list or domain == ""
            reply = yield from self._query(name, domain or ".", sender, why or rule)
            if reply.ended:
                return self._found(reply, sender)
            last = reply.herrno
            if sender.refused:
                return NssResult((), TRY_AGAIN, "UNAVAIL", UNREACHABLE, sender.memory, sender.now)
            if last in (NO_DATA, HOST_NOT_FOUND):
                got_nodata = got_nodata or last == NO_DATA
                rule = NEXT_NODATA if last == NO_DATA else NEXT_MISSING
            elif last == TRY_AGAIN and reply.first_rcode == "SERVFAIL":
                got_servfail, rule = True, NEXT_SERVFAIL
            else:
                rule = LEFT
                break
        tld_allowed = dots or not searched or "no-tld-query" not in config.flags
        if tld_allowed and not (tried_as_is or root_on_list):
            reply = yield from self._query(name, "", sender, why or AS_IS_AFTER.get(rule, AS_IS_LAST))
            if reply.ended:
                return self._found(reply, sender)
            last = reply.herrno
        if saved:
            last = saved
        elif got_nodata:
            last = NO_DATA
        elif got_servfail:
            last = TRY_AGAIN
        return self._lost(last or HOST_NOT_FOUND, sender)

    def _lost(self, herrno: str, sender: Sender) -> NssResult:
        # A connection that the server closed leaves another errno than ECONNREFUSED and ETIMEDOUT: not found, to NSS.
        silent = sender.last_failed and not sender.closed
        if herrno == TRY_AGAIN and self.simple and not silent:
            return NssResult((), HOST_NOT_FOUND, "NOTFOUND", FORGOTTEN, sender.memory, sender.now)
        status = "UNAVAIL" if silent else "NOTFOUND"
        return NssResult((), herrno, status, FINAL[herrno], sender.memory, sender.now)

    def _found(self, reply: BufferReply, sender: Sender) -> NssResult:
        if reply.addresses:
            return NssResult(reply.addresses, "", "SUCCESS", FOUND, sender.memory, sender.now)
        if reply.ended:
            herrno = NO_DATA if self.simple else HOST_NOT_FOUND
            # dns-host.c getanswer_r, which looks up one family, calls it TRYAGAIN to NSS; gaih_getanswer NOTFOUND.
            status = "NOTFOUND" if self.environment.family == UNSPEC else "TRYAGAIN"
            return NssResult((), herrno, status, CNAME_ONLY, sender.memory, sender.now)
        return self._lost(reply.herrno, sender)

    def _query(self, name: str, domain: str, sender: Sender, rule: ResolverRule) -> Part[BufferReply]:
        """__res_context_querydomain: the joined name, or NO_RECOVERY if it can't be encoded."""
        wire = (name[:-1] if name.endswith(".") else name) if domain in ("", ".") else f"{name}.{domain}"
        wire = wire[:-1] if domain and wire.endswith(".") else wire
        if not encodable(wire):
            return BufferReply((), False, NO_RECOVERY, "NOERROR")
        reply = yield from sender.pair(wire, rule)
        if sender.hangs:
            raise _Hang
        return reply


def _like_an_address(name: str) -> bool:
    if ":" in name:
        return name[0] in HEXADECIMAL
    return name != "" and set(name) <= DIGITS and name[-1] != "."


@lru_cache(maxsize=4096)
def encodable(name: str) -> bool:
    """ns_name_pton: labels of 1 to 63 bytes, 255 bytes on the wire."""
    if name == "":
        return True
    if octets(name) > 253:
        return False
    return all(1 <= octets(label) <= 63 for label in name.split("."))
