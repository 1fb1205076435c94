"""`ip rule` and `ip route show table all` (iproute2, BusyBox), both families, in one text or apart, and the MTUs of
interfaces beside them or by themselves: `ip link`, `ip addr`, `grep -H . /sys/class/net/*/mtu`.

A route is [KIND] DESTINATION and then words in pairs (ip-route(8)); words that this reader does not need are passed over,
and so are the hops of a route with several: which of them a packet takes is the kernel's hash. A rule is
"PRIORITY: [not] from PREFIX [to PREFIX] [SELECTOR VALUE]... ACTION" (ip-rule(8)).
"""

from __future__ import annotations

import ipaddress
import itertools
import re

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import Route, RoutingRule, RoutingTables
from svcpath.evidence.formats.item import Item, not_understood
from svcpath.evidence.formats.text import Text

KINDS = frozenset(
    {"unicast", "local", "blackhole", "unreachable", "prohibit", "throw", "broadcast", "multicast", "anycast", "nat"}
)
_ACTIONS = frozenset({"lookup", "table", "blackhole", "unreachable", "prohibit", "goto", "nop"})
_RULE = re.compile(r"(\d{1,10}):\s+(?:not\s+)?from\s+\S")
_HOP = re.compile(r"\s+nexthop\s")
#: An interface with its MTU, and what `ip link` and `ip addr` put below it.
_MTU = re.compile(
    r"/sys/class/net/([^/\s]+)/mtu:(\d{1,7})$|\d+:\s+([^:@\s]+)(?:@\S+)?:\s+<[A-Z0-9_,-]*>\s(?:.*\s)?mtu (\d{1,7})\b"
)
_BELOW = re.compile(r"\s+(?:link/\S|inet6?\s|valid_lft\s|altname\s|alias\s)")
_ADDRESS = r"[0-9A-Fa-f:.]+(?:/\d{1,3})?"
_DEAD = re.compile(rf"(?:blackhole|unreachable|prohibit|throw)\s+(?:default|{_ADDRESS})(?:\s|$)")
_ROUTE = re.compile(
    rf"(?:(?:{'|'.join(sorted(KINDS))})\s+)?(?:default|{_ADDRESS})\s+(?:\S+\s+)*?(?:dev|via|proto|table|metric|nhid)\s"
)


def is_routes(text: Text) -> bool:
    lines = [line for line in text.sample if not _HOP.match(line) and not _BELOW.match(line)]
    known = sum(
        1 for line in lines if _RULE.match(line) or _DEAD.match(line) or _ROUTE.match(line + " ") or _MTU.match(line)
    )
    telling = any(" dev " in line or "lookup" in line or _MTU.match(line) for line in lines)
    return bool(lines) and known * 10 >= 9 * len(lines) and telling


def read_routes(text: Text) -> list[Item]:
    tables, bad = read(text.lines)
    count = len(tables.routes) + len(tables.rules) + len(tables.mtus)
    return [Item(Kind.ROUTES, tables), *not_understood("routes", bad, count)]


def read(lines: tuple[str, ...] | list[str], family: int = 0) -> tuple[RoutingTables, list[int]]:
    """The tables of all ``lines`` and the numbers of those that were not understood. ``family`` is that of a rule or a
    default route that names no address (0: that of its neighbours, IPv4 at first)."""
    routes: list[Route] = []
    rules: list[RoutingRule] = []
    mtus: dict[str, int] = {}
    bad: list[int] = []
    current = family or 4
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if _HOP.match(line) or _BELOW.match(line):
            continue
        if link := _MTU.match(line):
            mtus[link[1] or link[3]] = int(link[2] or link[4])
            continue
        if _RULE.match(line):
            rule = _rule(line, current)
            if rule is None:
                bad.append(number)
                continue
            if not family and rules and rule.priority < rules[-1].priority:
                # `ip rule` lists one family in order: what begins again is the other one.
                rule, current = _rule(line, 6) or rule, 6
            rules.append(rule)
            continue
        route = _route(line, current)
        if route is None:
            bad.append(number)
            continue
        if not family and not line.split()[0].startswith("default"):
            current = 6 if ":" in route.destination else 4
        routes.append(route)
    return RoutingTables(routes=tuple(routes), rules=tuple(rules), mtus=mtus, unread=len(bad)), bad


def _prefix(word: str, family: int) -> str | None:
    if word in ("default", "all", "any"):
        return "::/0" if family == 6 else "0.0.0.0/0"
    try:
        return str(ipaddress.ip_network(word, strict=False))
    except ValueError:
        return None


def _route(line: str, family: int) -> Route | None:
    words = line.split()
    kind = words.pop(0) if words[0] in KINDS else "unicast"
    if not words:
        return None
    options = dict(itertools.pairwise(words))
    via = options.get("via", "")
    if via in ("inet", "inet6"):
        via = options.get(via, "")
    if words[0] == "default" and (":" in via or "pref" in options or options.get("metric") == "1024"):
        family = 6
    destination = _prefix(words[0], family)
    if destination is None:
        return None
    return Route(
        destination=destination,
        kind=kind,
        table=options.get("table", "main"),
        device=options.get("dev", ""),
        via=via,
        metric=_number(options.get("metric", "")),
        mtu=_number(options.get("mtu", ""))
        or (_number(options.get("lock", "")) if options.get("mtu") == "lock" else 0),
    )


def _rule(line: str, family: int) -> RoutingRule | None:
    priority, _, rest = line.partition(":")
    words = rest.split()
    other: list[str] = []
    source = destination = ""
    while words:
        word = words.pop(0)
        if word in _ACTIONS:
            table = words.pop(0) if word in ("lookup", "table", "goto") and words else ""
            # What follows (suppress_prefixlength, [detached]) bounds the lookup: it counts as a selector.
            return RoutingRule(
                priority=int(priority),
                family=6 if ":" in source + destination else family,
                table=table,
                action="lookup" if word == "table" else word,
                source=source,
                destination=destination,
                other=" ".join([*other, *words]),
            )
        if word in ("from", "to") and words:
            value = words.pop(0)
            prefix = "" if value == "all" else _prefix(value, family)
            if prefix is None:
                return None
            source, destination = (prefix, destination) if word == "from" else (source, prefix)
        elif word in ("not", "proto"):
            other.append(word if word == "not" else "")
            if word == "proto" and words:
                words.pop(0)
        else:
            other.append(word)
    return None


def _number(word: str) -> int:
    return int(word) if word.isdecimal() and len(word) <= 10 else 0
