"""glibc's resolv.conf, hosts and environment (resolv/res_init.c res_vinit_1, res_setoptions;
nss/nss_files/files-hosts.c; 2.36-2.41)."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from svcpath.models.resolvers.environment import (
    C_SPACE,
    INET,
    INET6,
    Environment,
    atoi,
    c_fields,
    fits,
    inet_aton,
    ipv4_literal,
    ipv6_literal,
    octets,
    split_lines,
    unmapped,
)

MAX_SERVERS, MAX_NDOTS, MAX_TIMEOUT, MAX_ATTEMPTS = 3, 15, 30, 5
BLANK = " \t"
# res_setoptions compares only the length of the option's own name, so what follows is ignored.
FLAGS = (
    "rotate",
    "edns0",
    "single-request-reopen",
    "single-request",
    "no_tld_query",
    "no-tld-query",
    "no-reload",
    "use-vc",
    "trust-ad",
    "no-aaaa",
)


class GlibcConfig(msgspec.Struct, frozen=True):
    """``endless``: a sortlist line holds a carriage return (or another blank that is neither space nor tab), at which the
    parser stands still forever."""

    servers: tuple[str, ...]
    search: tuple[str, ...]
    ndots: int
    timeout: int
    attempts: int
    flags: frozenset[str]
    endless: bool = False


def read(environment: Environment, version: tuple[int, ...]) -> GlibcConfig:
    variables = environment.variables
    return _read(
        environment.resolv_conf,
        environment.hostname,
        variables.get("LOCALDOMAIN"),
        variables.get("RES_OPTIONS", ""),
        version >= (2, 41),
    )


@lru_cache(maxsize=256)
def _read(text: str | None, hostname: str, localdomain: str | None, res_options: str, modern: bool) -> GlibcConfig:
    servers: list[str] = []
    search: list[str] = []
    if localdomain is not None:
        search = c_fields(localdomain.partition("\n")[0], BLANK) or [""]
    settings: dict[str, int] = {"ndots": 1, "timeout": 5, "attempts": 2}
    flags: set[str] = set()
    endless = False
    for line in split_lines(text or ""):
        if line[:1] in (";", "#"):
            continue
        keyword, value = _keyword(line)
        if keyword == "domain" and localdomain is None and value:
            search = c_fields(value, BLANK)[:1]
        elif keyword == "search" and localdomain is None and value:
            search = c_fields(value, BLANK)
        elif keyword == "nameserver" and len(servers) < MAX_SERVERS:
            address = _server((c_fields(value, BLANK) or [""])[0])
            if address:
                servers.append(address)
        elif keyword == "sortlist":
            endless = endless or bool(set(value.partition(";")[0]) & set("\r\v\f"))
        elif keyword == "options":
            _options(value, settings, flags, modern)
    if not search:
        _, dot, domain = hostname.partition(".")
        search = [domain] if dot and domain else []
    _options(res_options, settings, flags, modern)
    return GlibcConfig(
        tuple(servers) or ("127.0.0.1",),
        tuple(search),
        settings["ndots"],
        settings["timeout"],
        settings["attempts"],
        frozenset(flags),
        endless,
    )


LEGACY_BYTES, LEGACY_ENTRIES, LEGACY_POINTER_BYTES = 256, 6, 56


def aborts(search: tuple[str, ...]) -> bool:
    """resolv_conf.c update_from_conf, resolv_conf_matches: the first six suffixes are also copied into an old buffer of
    256 bytes. If one does not fit while what was copied is no longer than 56 bytes (the size of the pointer array,
    64-bit), an assertion fails and the process aborts. Seen on 2.36."""
    used = 0
    for suffix in search[:LEGACY_ENTRIES]:
        length = octets(suffix) + 1
        if used + length > LEGACY_BYTES:
            return used <= LEGACY_POINTER_BYTES
        used += length
    return False


def _keyword(line: str) -> tuple[str, str]:
    for keyword in ("domain", "search", "nameserver", "options", "sortlist"):
        if line.startswith(keyword) and line[len(keyword) : len(keyword) + 1] in (" ", "\t"):
            return keyword, line[len(keyword) :].lstrip(BLANK)
    return "", ""


def _server(word: str) -> str:
    v4 = inet_aton(word)
    if v4:
        return v4
    v6 = ipv6_literal(word.partition("%")[0])
    return v6[0] if v6 else ""


def _options(text: str, settings: dict[str, int], flags: set[str], modern: bool) -> None:
    rest = text.partition("\n")[0]
    while rest := rest.lstrip(BLANK):
        # atoi skips blanks, so that a number after them counts too: "ndots: 4".
        word, value = c_fields(rest, BLANK)[0], rest.partition(":")[2]
        rest = rest[len(word) :]
        if word.startswith("ndots:"):
            settings["ndots"] = min(atoi(value), MAX_NDOTS) & 15
        elif word.startswith("timeout:"):
            settings["timeout"] = min(atoi(value), MAX_TIMEOUT)
        elif word.startswith("attempts:"):
            settings["attempts"] = min(atoi(value), MAX_ATTEMPTS)
        else:
            _flag(word, flags, modern)


def _flag(word: str, flags: set[str], modern: bool) -> None:
    known = (*FLAGS, "strict-error") if modern else FLAGS
    if modern and word.startswith("-"):
        for flag in known:
            if word[1:].startswith(flag):
                flags.discard(flag.replace("_", "-"))
                return
    for flag in known:
        if word.startswith(flag):
            flags.add(flag.replace("_", "-"))
            return


@lru_cache(maxsize=64)
def _entries(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    entries = []
    lines = split_lines(text)
    if lines and not text.endswith("\n"):
        lines[-1] = _unended(lines[-1])
    for line in lines:
        words = c_fields(line.partition("#")[0])
        if len(words) >= 2:
            entries.append((words[0], tuple(word.lower() for word in words[1:])))
    return tuple(entries)


def _unended(line: str) -> str:
    """nss_readline.c moves a line over its leading blanks without its final zero: where no newline ends it, as many of its
    last characters stand there twice."""
    bare = line.lstrip(C_SPACE)
    shift = len(line) - len(bare)
    return bare + bare[-shift:] if shift and "#" not in bare else line


def hosts(text: str, name: str, family: str) -> tuple[str, ...]:
    """Addresses of every matching line; names compare without case, exactly (a trailing dot counts)."""
    wanted = name.lower()
    if wanted not in text.lower():
        return ()
    found = []
    for address, names in _entries(text):
        if wanted not in names:
            continue
        literal = _hosts_address(address, family)
        if literal:
            found.append(literal)
    return tuple(found)


def _hosts_address(text: str, family: str) -> str:
    v4 = ipv4_literal(text)
    if v4:
        return v4 if family != INET6 else ""
    v6 = ipv6_literal(text)
    if not v6 or v6[1]:
        return ""
    if family == INET:
        return "127.0.0.1" if v6[0] == "::1" else v4_of(v6[0])
    return v6[0] if fits(v6[0], family) else ""


def v4_of(address: str) -> str:
    """The address within an IPv4-mapped one, "" for any other."""
    inner = unmapped(address)
    return "" if ":" in inner else inner


def alias(environment: Environment, name: str) -> str:
    """HOSTALIASES: the target for a name without dots, or the name itself (res_query.c __res_context_hostalias)."""
    if "." in name or "HOSTALIASES" not in environment.variables:
        return name
    for line in split_lines(environment.hostaliases):
        words = line.split()
        if not words:
            break
        if words[0].lower() == name.lower():
            return words[1] if len(words) > 1 else name
    return name
