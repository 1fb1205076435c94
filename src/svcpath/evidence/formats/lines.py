"""Notes: files whose every line says what it is on its own, so that several kinds may share one file.

hairpin_mode of bridge ports, sysctl values, healthCheckNodePort replies, what names resolved to, what the application
asked for, connection attempts, timelines, node reports, durations. Each line is given to the readers in turn; when four
in five lines are understood the file is recognised, and the rest is reported with line numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.connections import Attempt, Attempts
from svcpath.evidence.facts.dns import (
    DnsAnswer,
    DnsAnswers,
    Durations,
    Lookup,
    LookupQuestion,
    Lookups,
    RecordedTimeline,
    TimelineEntry,
)
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import HairpinModes, HealthReplies, HealthReply, NodeReport, NodeReports, Sysctls
from svcpath.evidence.formats import attempts, dns
from svcpath.evidence.formats.item import Item, damaged, not_understood
from svcpath.evidence.formats.text import Text


@dataclass(slots=True)
class _Notes:
    """What has been read so far."""

    hairpin: dict[str, bool] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    health: list[HealthReply] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    answers: list[DnsAnswer] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    timeline: list[TimelineEntry] = field(default_factory=list)
    nodes: list[NodeReport] = field(default_factory=list)
    durations: dict[str, list[float]] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    client: tuple[str, str] = ("", "")
    table: tuple[str, ...] = ()
    first: dict[Kind, int] = field(default_factory=dict)


_Reader = Callable[[str, int, _Notes], Kind | None]

_HAIRPIN = re.compile(r"(?:\S*/)?([\w@.-]+)[/: ]\s*hairpin_mode\s*[:= ]\s*([01])")
_SYSCTL = re.compile(r"([a-z][a-z0-9_-]*(?:\.[A-Za-z0-9_*/-]+)+)\s*=\s*(.*)")
_PROC_SYS = re.compile(r"/proc/sys/(\S+?)\s*[:=]\s*(\S.*)")
_HEALTH = re.compile(
    r"(\[[0-9A-Fa-f:]+\]|[\w.-]+):(\d{1,5})\S*\s+(?:->\s*)?(?:HTTP/[\d.]+\s+)?([1-5]\d\d)\b[^{]*(\{.*\})?\s*"
)
_LOOKUP = re.compile(r"(?:(\d{4}-\d\d-\d\dT\S+)\s+)?([\w.+()/-]+)\s+([\w.-]+)\s+->\s+(\S.*)")
_EAI = re.compile(r"(-\d{1,4}|EAI_[A-Z]+)\b\s*(.*)")
#: What is left of addresses or of an error's number when the line is cut.
_PART = re.compile(r"[\d.:a-fA-F, ]*[\d.:]|-")
_DNS_NOW = re.compile(r"(?:DNS now|DNS|dig|now)\s*:\s*(\S+)\s+([A-Z]+)\s+(\S.*)")
_QUERY = re.compile(r"(name|url|host|port|libc|resolver|resolvers|families|connect)(?:\s*:\s*|\s+)(\S.*)")
_RELATIVE = re.compile(r"t\s*=\s*\+?(\d+(?:\.\d+)?)s?(?:\s*(?:\.\.|-)\s*(\d+(?:\.\d+)?)s?)?\s+(\S.*)")
_STAMPED = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))\s+([a-z]+(?:-[a-z]+)*)(?:\s+(.*))?"
)
_EVENTS = frozenset(
    [
        "target",
        "slow-start",
        "slow-finished",
        "delete",
        "delete-accepted",
        "new-connection",
        "rollout",
        "pod",
        "gone",
        "slice",
        "endpoint",
        "signal",
        "exit",
        "request",
        "ready",
        "unready",
        "dataplane",
        "kill",
        "drain",
        "evict",
        "connection",
        "query",
        "lookup",
    ]
)
_STATUSES = r"(?:Ready|NotReady|Unknown|SchedulingDisabled)(?:,(?:Ready|NotReady|SchedulingDisabled))*"
_NODE = re.compile(rf"([a-z0-9][a-z0-9.-]*)\s+({_STATUSES})(?:\s+(.*))?")
#: ROLES AGE VERSION of `kubectl get nodes`: nothing that a node reports about itself.
_TABLE_ROW = re.compile(r"\S+\s+(?:\d+[smhdy])+\s+v\d")
_NODE_NAMED = re.compile(r"(?:node|node name|nodename)\s*[:=]\s*([A-Za-z0-9][\w.-]*)", re.I)
_KERNEL = re.compile(r"(?:kernel(?: release| version)?\s*[:=]\s*)?(\d+\.\d+(?:\.\d+)?[\w.+~-]*)")
_UNAME = re.compile(r"Linux ([A-Za-z0-9][\w.-]*) (\d+\.\d+\S*) (#?.*)")
_DURATION = re.compile(
    r"(?:(?P<what>[a-z_ -]*?)[:= ]\s*)?(?P<number>\d+\.\d+|\d+(?=\s*m?s\b))\s*(?P<unit>ms|s|sec|seconds)?"
)


def _hairpin(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _HAIRPIN.fullmatch(line)
    if match is None:
        return None
    notes.hairpin[match.group(1)] = match.group(2) == "1"
    return Kind.HAIRPIN_MODE


def _sysctl(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _SYSCTL.fullmatch(line)
    if match:
        notes.sysctls[match.group(1).replace("/", ".")] = match.group(2).strip()
        return Kind.SYSCTL
    match = _PROC_SYS.fullmatch(line)
    if match:
        notes.sysctls[match.group(1).replace("/", ".")] = match.group(2).strip()
        return Kind.SYSCTL
    return None


def _health(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _HEALTH.fullmatch(line)
    if match is None or not (match.group(4) or "HTTP/" in line):
        return None
    node, port, status, body = match.groups()
    try:
        value = json.loads(body) if body else {}
    except (ValueError, RecursionError):
        return None
    service = value.get("service") if isinstance(value, dict) else None
    service = service if isinstance(service, dict) else {}
    count = value.get("localEndpoints") if isinstance(value, dict) else None
    notes.health.append(
        HealthReply(
            node=node.strip("[]"),
            port=int(port),
            status=int(status),
            namespace=str(service.get("namespace") or ""),
            name=str(service.get("name") or ""),
            local_endpoints=count if isinstance(count, int) and not isinstance(count, bool) else None,
        )
    )
    return Kind.HEALTH_REPLIES


def _dns_now(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _DNS_NOW.fullmatch(line)
    if match is None:
        return None
    name, rtype, rest = match.groups()
    words = rest.split()
    row = [name, rtype, *words] if words[0].upper() in dns.RCODES else [name, rtype, "NOERROR", *words]
    answer = dns.row(row, ("name", "type", "rcode", "answer"), number)
    if answer is None:
        return None
    notes.answers.append(answer)
    return Kind.DNS_ANSWERS


def _attempt(line: str, number: int, notes: _Notes) -> Kind | None:
    client = attempts.who(line)
    if client:
        notes.client = client
        return Kind.ATTEMPTS
    attempt = attempts.curl_line(line, number) or attempts.sentence(line, number, notes.client)
    if attempt is None:
        return None
    notes.attempts.append(attempt)
    return Kind.ATTEMPTS


def _lookup(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _LOOKUP.fullmatch(line)
    if match is None:
        return None
    at, resolver, name, result = match.groups()
    words = result.replace(",", " ").split()
    if all(address_of(word) for word in words):
        lookup = Lookup(resolver=resolver, name=name, addresses=tuple(address_of(word) for word in words), at=at or "")
    else:
        if _PART.fullmatch(result):
            return None
        numbered = _EAI.fullmatch(result)
        code, error = numbered.groups() if numbered else ("", result)
        lookup = Lookup(resolver=resolver, name=name, code=code, error=error, at=at or "")
    notes.lookups.append(lookup)
    return Kind.LOOKUPS


def _query(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _QUERY.fullmatch(line)
    if match is None:
        return None
    key, value = match.group(1), match.group(2).strip()
    if key in ("name", "host") and re.fullmatch(r"[\w.*-]+", value):
        notes.query["name"] = value
    elif key == "url" and "://" in value:
        notes.query["url"] = value
    elif key == "port" and re.fullmatch(r"\d{1,5}", value):
        notes.query["port"] = int(value)
    elif key in ("libc", "resolver", "resolvers"):
        words = re.sub(r"^compare\s+", "", value).split(",")
        notes.query["resolvers"] = tuple(word.strip() for word in words if word.strip())
    elif key == "families":
        notes.query["families"] = tuple(word for word in re.split(r"[,\s]+", value) if word)
    elif key == "connect" and (where := attempts.target(value)) is not None:
        notes.query["name"], notes.query["port"] = where
    else:
        return None
    return Kind.QUERY


def _timeline(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _RELATIVE.fullmatch(line)
    if match:
        start, end, event = match.groups()
        at = line[: line.index(event)].strip()
        notes.timeline.append(_entry(event, notes, number, at, float(start), float(end or start)))
        return Kind.TIMELINE
    match = _STAMPED.fullmatch(line)
    if match and match.group(2) in _EVENTS:
        event = " ".join(part for part in match.groups()[1:] if part)
        notes.timeline.append(_entry(event, notes, number, match.group(1), None, None))
        return Kind.TIMELINE
    return None


_ASKED = re.compile(r"(?:query|lookup|resolve)\s+(\S+)(?:\s+(?:A|AAAA))?(?:\s*->)?\s*(.*)")


def _entry(event: str, notes: _Notes, line: int, at: str, start: float | None, end: float | None) -> TimelineEntry:
    asked = _ASKED.fullmatch(event)
    name = asked.group(1) if asked else next((entry.name for entry in reversed(notes.timeline) if entry.name), "")
    words = (asked.group(2) if asked else event).split()
    rcode = words[0].upper() if words and words[0].upper() in dns.RCODES else ""
    found: tuple[str, ...] = ()
    if rcode:
        found = dns.answers(words[1:], "A")
    elif asked and words and all(address_of(word) for word in words):
        rcode, found = "NOERROR", tuple(words)
    return TimelineEntry(
        event=event.strip(),
        at=at,
        start=start,
        end=end,
        name=name if rcode or asked else "",
        rcode="NOERROR" if rcode == "NODATA" else rcode,
        answers=found,
        line=line,
    )


def _node(line: str, number: int, notes: _Notes) -> Kind | None:
    words = line.split()
    if words[:2] == ["NAME", "STATUS"] and "VERSION" in words:
        notes.table = tuple(re.split(r"\s{2,}", line.strip()))
        return Kind.NODE_REPORT
    if (match := _NODE.fullmatch(line)) is not None:
        name, status, note = match.groups()
        kernel = ""
        if note and _TABLE_ROW.match(note):
            note = ""
        if notes.table:
            cells = re.split(r"\s{2,}", line.strip())
            if "KERNEL-VERSION" in notes.table and len(cells) == len(notes.table):
                kernel = cells[notes.table.index("KERNEL-VERSION")]
        notes.nodes.append(NodeReport(name=name, status=status, kernel=kernel, note=(note or "").strip()))
        return Kind.NODE_REPORT
    if (match := _NODE_NAMED.fullmatch(line)) is not None:
        notes.nodes.append(NodeReport(name=match.group(1)))
        return Kind.NODE_REPORT
    if (match := _UNAME.fullmatch(line)) is not None:
        notes.nodes.append(NodeReport(name=match.group(1), kernel=match.group(2), note=match.group(3)))
        return Kind.NODE_REPORT
    if (match := _KERNEL.fullmatch(line)) is not None and (re.search(r"-|\d\.\d+\.\d", line) or "kernel" in line):
        release = match.group(1)
        if notes.nodes and not notes.nodes[-1].kernel and not notes.table:
            last = notes.nodes[-1]
            notes.nodes[-1] = NodeReport(name=last.name, status=last.status, kernel=release, note=last.note)
        else:
            notes.nodes.append(NodeReport(kernel=release))
        return Kind.NODE_REPORT
    return None


def _duration(line: str, number: int, notes: _Notes) -> Kind | None:
    match = _DURATION.fullmatch(line)
    if match is None:
        return None
    seconds = float(match["number"]) / (1000 if match["unit"] == "ms" else 1)
    what = (match["what"] or "").strip()
    named = "lookup" if re.search(r"lookup|dns|resol", what) else "connect" if "connect" in what else ""
    if what and not named:
        return None
    notes.durations.setdefault(named, []).append(seconds)
    return Kind.DURATIONS


_READERS: tuple[_Reader, ...] = (
    _hairpin,
    _sysctl,
    _health,
    _dns_now,
    _attempt,
    _timeline,
    _lookup,
    _node,
    _query,
    _duration,
)


def _read(lines: tuple[str, ...]) -> tuple[_Notes, int, list[int]]:
    notes = _Notes()
    good = 0
    bad: list[int] = []
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if len(stripped) > 4096:
            bad.append(number)
            continue
        kind = next((kind for reader in _READERS if (kind := reader(stripped, number, notes)) is not None), None)
        if kind is None:
            bad.append(number)
        else:
            good += 1
            notes.first.setdefault(kind, number)
    return notes, good, bad


def is_notes(text: Text) -> bool:
    _, good, bad = _read(text.sample)
    return good > 0 and good * 10 >= 8 * (good + len(bad))


def read_notes(text: Text) -> list[Item]:
    notes, good, bad = _read(text.lines)
    if notes.lookups and text.lines[-1].strip() and _LOOKUP.fullmatch(text.lines[-1].strip()):
        notes.lookups[-1] = msgspec.structs.replace(notes.lookups[-1], unended=True)
    facts: list[tuple[Kind, Any]] = []
    if notes.hairpin:
        facts.append((Kind.HAIRPIN_MODE, HairpinModes(notes.hairpin)))
    if notes.sysctls:
        facts.append((Kind.SYSCTL, Sysctls(notes.sysctls)))
    if notes.health:
        facts.append((Kind.HEALTH_REPLIES, HealthReplies(tuple(notes.health))))
    if notes.lookups:
        facts.append((Kind.LOOKUPS, Lookups(lookups=tuple(notes.lookups))))
    if notes.answers:
        facts.append((Kind.DNS_ANSWERS, DnsAnswers(rows=tuple(notes.answers))))
    if notes.attempts:
        facts.append((Kind.ATTEMPTS, Attempts(attempts=tuple(notes.attempts))))
    if notes.timeline:
        facts.append((Kind.TIMELINE, RecordedTimeline(tuple(notes.timeline))))
    if notes.nodes:
        facts.append((Kind.NODE_REPORT, NodeReports(tuple(notes.nodes))))
    for what, seconds in notes.durations.items():
        facts.append((Kind.DURATIONS, Durations(what=what, seconds=tuple(seconds))))
    if notes.query:
        facts.append((Kind.QUERY, LookupQuestion(**notes.query)))
    if not facts:
        return [damaged("notes", "a heading without anything under it: cut off?", line=1)]
    several = len(facts) > 1
    items = [Item(kind, value, notes.first.get(kind, 0) if several else 0) for kind, value in facts]
    named = Kind.LOOKUPS.value if notes.lookups else "notes"
    return [*items, *not_understood(named, bad, good)]
