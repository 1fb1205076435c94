"""musl's resolv.conf, hosts and address literals (src/network/resolvconf.c __get_resolv_conf, lookup_name.c
name_from_hosts, lookup_ipliteral.c __lookup_ipliteral; 1.2.3 and 1.2.5 alike)."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from svcpath.models.resolvers.environment import (
    C_SPACE,
    INET,
    INET6,
    c_fields,
    fits,
    inet_aton,
    ipv6_literal,
    is_link_local,
    known_scope,
    octets,
    strtoul,
)

MAX_SERVERS, MAX_ADDRESSES, LINE_BYTES, HOSTS_LINE_BYTES = 3, 48, 256, 512


class MuslConfig(msgspec.Struct, frozen=True):
    """resolv.conf as __get_resolv_conf reads it. ``unheard``: servers written with a scope that the kernel leaves out of a
    reply's address, so that no reply of theirs is taken for one (res_msend.c compares the whole address)."""

    servers: tuple[str, ...]
    search: tuple[str, ...]
    ndots: int = 1
    timeout: int = 5
    attempts: int = 2
    unheard: frozenset[str] = frozenset()


@lru_cache(maxsize=256)
def parse(text: str | None) -> MuslConfig:
    """resolvconf.c __get_resolv_conf: 256-byte lines, keyword in column 0, last search or domain wins."""
    servers: list[str] = []
    unheard: set[str] = set()
    search = ""
    ndots, timeout, attempts = 1, 5, 2
    for line in _lines(text or "", LINE_BYTES, skip_long=True):
        if line.startswith("options") and line[7:8] and line[7] in C_SPACE:
            ndots = min(_option(line, "ndots:", ndots), 15)
            attempts = min(_option(line, "attempts:", attempts), 10)
            timeout = min(_option(line, "timeout:", timeout), 60)
        elif line.startswith("nameserver") and line[10:11] and line[10] in C_SPACE:
            words = c_fields(line[11:])
            literal = literal_of(words[0], "unspec") if words and len(servers) < MAX_SERVERS else None
            if literal and literal[0]:
                servers.append(literal[0])
                if words[0].partition("%")[2].lstrip("0") and not is_link_local(literal[0]):
                    unheard.add(literal[0])
        elif line[:6] in ("domain", "search") and line[6:7] and line[6] in C_SPACE:
            search = line[7:]
    return MuslConfig(
        tuple(servers) or ("127.0.0.1",), tuple(c_fields(search)), ndots, timeout, attempts, frozenset(unheard)
    )


def _option(line: str, key: str, default: int) -> int:
    """strstr finds the first occurrence, also inside another word; without a digit after it nothing changes."""
    at = line.find(key)
    value = strtoul(line[at + len(key) :]) if at >= 0 else None
    if value is None and key == "timeout:" and at >= 0 and line[at + len(key) :].startswith("."):
        return default
    return default if value is None else value


def _lines(text: str, size: int, *, skip_long: bool) -> list[str]:
    """Lines as fgets(line, size) yields them, each with its newline."""
    lines: list[str] = []
    for number, line in enumerate(raw := text.split("\n")):
        last = number == len(raw) - 1
        if last and not line:
            break
        whole = line if last else line + "\n"
        if octets(whole) <= size - 1 - (1 if last else 0):
            lines.append(whole.split("\0")[0])
        elif not skip_long:
            lines.extend(whole[start : start + size - 1] for start in range(0, len(whole), size - 1))
    return lines


def literal_of(text: str, family: str) -> tuple[str, bool] | None:
    """(address or "", family fits); None if it is no address. lookup_ipliteral.c."""
    v4 = inet_aton(text)
    if v4 is not None:
        return (v4, True) if family != INET6 else ("", False)
    v6 = ipv6_literal(text)
    if v6 is None:
        return None
    return (v6[0], True) if family != INET and known_scope(*v6) else ("", False)


@lru_cache(maxsize=64)
def _hosts_lines(text: str) -> tuple[str, ...]:
    return tuple(_lines(text, HOSTS_LINE_BYTES, skip_long=False))


def hosts(text: str, name: str, family: str) -> tuple[str, ...] | None:
    if name not in text:
        return None
    found: list[str] = []
    other_family = False
    for raw in _hosts_lines(text):
        line = raw.partition("#")[0] + "\n" if "#" in raw else raw
        if not _has_token(line, name):
            continue
        literal = literal_of(line[: next(at for at, character in enumerate(line) if character in C_SPACE)], family)
        if literal is None:
            continue
        if literal[1] and fits(literal[0], family):
            found.append(literal[0])
        else:
            other_family = True
        if len(found) >= MAX_ADDRESSES:
            break
    if found:
        return tuple(found)
    return () if other_family else None


def _has_token(line: str, name: str) -> bool:
    at = line.find(name, 1)
    while at >= 0:
        after = line[at + len(name) : at + len(name) + 1]
        if line[at - 1] in C_SPACE and after and after in C_SPACE:
            return True
        at = line.find(name, at + 1)
    return False
