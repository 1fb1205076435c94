"""Connection tracking as conntrack(8) -L prints it (with -o extended,id too), /proc/net/nf_conntrack, conntrack -S.

Line layout: conntrack-tools 1.4 (src/conntrack.c, libnetfilter_conntrack snprintf_default.c) and
net/netfilter/nf_conntrack_standalone.c. Events (-E) are not tables and are not read here.
"""

from __future__ import annotations

import re

from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.conntrack import ConntrackStats, Flow, FlowTable, Tuple
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats.item import Item, not_understood
from svcpath.evidence.formats.text import Text

_FLOW = re.compile(r"\s*(?:ipv[46]\s+\d+\s+)?([a-z][\w-]*)\s+(\d+)\s+(?:(\d+)\s+)?(?:([A-Z][A-Z_0-9]+)\s+)?src=")
_FIELD = re.compile(r"([a-z_-]+)=(\S*)|\[([A-Z_]+)\]")
_FOOTER = re.compile(r"conntrack v[\d.]+ \(conntrack-tools\)|.*flow entries have been")
_STATS = re.compile(r"\s*cpu=\d+\s")
_COUNTER = re.compile(r"([a-z_]+)=(\d+)")


def is_flows(text: Text) -> bool:
    lines = [line for line in text.sample if not _FOOTER.match(line)]
    good = sum(1 for line in lines if _FLOW.match(line))
    if lines:
        return good * 10 >= 8 * len(lines)
    # an empty table leaves only the footer: looked, and there is no flow
    return any(_FOOTER.match(line) for line in text.sample)


def read_flows(text: Text) -> list[Item]:
    flows: list[Flow] = []
    bad: list[int] = []
    for number, line in enumerate(text.lines, 1):
        if not line.strip() or line.startswith("#") or _FOOTER.match(line):
            continue
        flow = _flow(line, number)
        if flow is None:
            bad.append(number)
        else:
            flows.append(flow)
    return [Item(Kind.CONNTRACK, FlowTable(flows=tuple(flows))), *not_understood("conntrack", bad, len(flows))]


def _flow(line: str, number: int) -> Flow | None:
    match = _FLOW.match(line)
    if match is None:
        return None
    protocol, _, timeout, state = match.groups()
    tuples: list[dict[str, str]] = []
    rest: dict[str, str] = {}
    flags: set[str] = set()
    for key, value, flag in _FIELD.findall(line, match.end() - len("src=")):
        if flag:
            flags.add(flag)
        elif key == "src":
            tuples.append({key: value})
        elif key in ("dst", "sport", "dport", "type", "code") and tuples:
            tuples[-1][key] = value
        else:
            rest[key] = value
    directions = [_tuple(fields) for fields in tuples]
    if len(directions) != 2 or directions[0] is None or directions[1] is None:
        return None
    return Flow(
        protocol=protocol.upper(),
        original=directions[0],
        reply=directions[1],
        state=state or "",
        timeout=int(timeout) if timeout else None,
        unreplied="UNREPLIED" in flags,
        assured="ASSURED" in flags,
        mark=_integer(rest.get("mark")),
        zone=_integer(rest.get("zone")),
        id=_integer(rest.get("id")),
        line=number,
    )


def _tuple(fields: dict[str, str]) -> Tuple | None:
    source, destination = (address_of(fields.get(key, "")) for key in ("src", "dst"))
    if not source or not destination:
        return None
    ports = [_integer(fields.get(key, "0")) for key in ("sport", "dport")]
    if any(port is None or not 0 <= port < 65536 for port in ports):
        return None
    return Tuple(source, destination, ports[0] or 0, ports[1] or 0)


def _integer(word: str | None) -> int | None:
    return int(word) if word is not None and re.fullmatch(r"\d{1,20}", word, re.ASCII) else None


def is_stats(text: Text) -> bool:
    good = [(bool(_STATS.match(line)) and "found=" in line) or "insert_failed=" in line for line in text.sample]
    return bool(good) and sum(good) * 10 >= 8 * len(good)


def read_stats(text: Text) -> list[Item]:
    counters: dict[str, int] = {}
    cpus = 0
    bad: list[int] = []
    for number, line in enumerate(text.lines, 1):
        if not line.strip() or line.startswith("#") or _FOOTER.match(line):
            continue
        pairs = _COUNTER.findall(line)
        if not pairs or pairs[0][0] != "cpu":
            bad.append(number)
            continue
        cpus += 1
        for key, value in pairs[1:]:
            counters[key] = counters.get(key, 0) + int(value[:20])
    stats = ConntrackStats(counters=counters, cpus=cpus)
    return [Item(Kind.CONNTRACK_STATS, stats), *not_understood("conntrack -S", bad, cpus)]
