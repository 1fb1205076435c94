"""Replays recorded runs of real resolvers through the models: outcome and query order must be the recorded ones.

The model is given the row's configuration and the answers that the scripted server gave, never the row's result:
:func:`replay_row` takes a :class:`RecordedRun`, which has no result at all; :func:`compare` then looks at the recorded one.
Files are one JSON object a line, in the two forms of the recordings' README (a grid, and special cases with server
indices).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.addresses import address_of
from svcpath.models.resolvers import registry
from svcpath.models.resolvers.base import Answer, LookupOutcome, Query, Resolution, UnknownAnswer, World, run
from svcpath.models.resolvers.environment import INET, INET6, UNSPEC, Environment, fold
from svcpath.replay import probes, queries, scripted
from svcpath.replay.setups import DEFAULT_SETUP, SERVERS, SETUPS, Setup

REPLAY_TRACES = 1024
# Probes whose A and AAAA go out in a fixed order; for the others it is chance.
SEQUENTIAL = ("dnspython", "dnspython-search", "hickory", "node-resolve4")
# Probes that pursue each type on its own (retries, aliases) until both have ended: the order is fixed within a type.
PER_TYPE = ("hickory-0.26",)


class Sent(msgspec.Struct, frozen=True):
    """One recorded query."""

    server: str
    transport: str
    type: str
    name: str
    action: str


class RecordedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded run without its result."""

    line: int
    probe: str
    names: tuple[str, ...]
    conf: str | None
    case: str
    args: tuple[str, ...]
    queries: tuple[Sent, ...]
    setup: Setup = DEFAULT_SETUP


class ReplayVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """``status``: match, mismatch, open (packet order or chance decides among ``expected``, the recorded one is among
    them) or skipped (a probe or form that no model covers)."""

    row: RecordedRun
    status: str
    reason: str = ""
    expected: tuple[str, ...] = ()
    recorded: str = ""
    expected_queries: tuple[str, ...] = ()
    recorded_queries: tuple[str, ...] = ()


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts, and every verdict that is not a match."""

    rows: int
    matches: int
    mismatches: tuple[ReplayVerdict, ...]
    open: tuple[ReplayVerdict, ...]
    skipped: tuple[ReplayVerdict, ...]
    by_probe: dict[str, tuple[int, int, int, int]]


def read_rows(lines: Iterable[str], path: str = "") -> Iterator[tuple[RecordedRun, Any]]:
    """Rows and their results, side by side. Lines that hold no run of a probe (CoreDNS answers) are left out."""
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            record = msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise FormatError(f"not a JSON object: {error}", path=path, line=number) from error
        if not isinstance(record, dict):
            raise FormatError("not a JSON object", path=path, line=number)
        if "queries" not in record or "probe" not in record:
            continue
        try:
            yield _row(record, number), record.get("result")
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise FormatError(f"not a recorded run: {error!r}", path=path, line=number) from error


def _row(record: Mapping[str, Any], number: int) -> RecordedRun:
    name = record["name"]
    case = str(record.get("case", ""))
    servers = registry.nameservers(record["conf"])
    queries = []
    for entry in record["queries"]:
        server, rest = (SERVERS[entry[1]], entry[2:6]) if isinstance(entry[1], int) else (servers[0], entry[1:5])
        transport, kind, asked, action = (str(field) for field in rest)
        queries.append(Sent(server, transport, kind, asked, action))
    setup = SETUPS.get(case, DEFAULT_SETUP)
    given = {key: record[key] for key in ("hosts", "nsswitch", "hostname", "variables") if key in record}
    return RecordedRun(
        line=number,
        probe=str(record["probe"]),
        names=tuple(name) if isinstance(name, list) else (str(name),),
        conf=record["conf"],
        case=case,
        args=tuple(record.get("args") or ()),
        queries=tuple(queries),
        setup=msgspec.structs.replace(setup, **given) if given else setup,
    )


class RowWorld:
    """The scripted server of one row: what it answered to each question; servers it did not run on are unreachable."""

    def __init__(self, row: RecordedRun) -> None:
        self._actions = {(q.server, q.transport, q.type, fold(q.name)): q.action for q in row.queries}
        self._any = {(q.transport, q.type, fold(q.name)): q.action for q in row.queries}
        self._delays = row.setup.delays
        self.missing: list[str] = []

    def answer(self, query: Query) -> Answer | UnknownAnswer:
        where = queries.host_of(query.server)
        if where not in SERVERS:
            return Answer("UNREACHABLE")
        if query.malformed:
            return Answer("FORMERR")
        name = fold(queries.wire_text(query.name))
        action = self._actions.get((where, query.transport, query.type, name))
        if action is None:
            # The second query of a TCP connection that the server closed never reached its log.
            action = self._any.get((query.transport, _other(query.type), name), "") if query.transport == "tcp" else ""
            if not action.startswith("TCDROP"):
                self.missing.append(f"{query.type} {query.name} at {query.server}")
                return Answer("TIMEOUT", note="not in the recording")
        answer = scripted.answer(action, query.type, query.transport)
        delay = self._delays.get(f"{query.server} {query.type}", self._delays.get(query.server, 0.0))
        return msgspec.structs.replace(answer, delay=delay) if delay and not answer.silent else answer


def _other(kind: str) -> str:
    return "AAAA" if kind == "A" else "A"


def environment(row: RecordedRun) -> Environment:
    setup = row.setup
    family = INET if "-4" in row.args else INET6 if "-6" in row.args else UNSPEC
    return Environment(
        resolv_conf=row.conf,
        hosts=setup.hosts,
        nsswitch=setup.nsswitch,
        hostname=setup.hostname,
        variables=setup.variables,
        family=family,
    )


def replay_row(row: RecordedRun, world: World | None = None) -> tuple[tuple[Resolution, ...], ...] | None:
    """Every way the row's lookups (one process, in order) can go; None if no model covers the probe. The world is the
    row's own answers unless another is given."""
    model = probes.model_of(row.probe, environment(row))
    if model is None:
        return None
    world = world or RowWorld(row)
    ways: list[tuple[tuple[Resolution, ...], tuple[str, ...]]] = [((), ())]
    for name in row.names:
        following = []
        for done, memory in ways:
            resolution = run(model, name, world, memory, REPLAY_TRACES)
            for trace in resolution.traces:
                single = Resolution(resolution.resolver, name, (trace,), resolution.complete)
                following.append(((*done, single), trace.outcome.memory))
        ways = following[:REPLAY_TRACES]
    return tuple(way for way, _ in ways)


def judge(row: RecordedRun, result: Any) -> ReplayVerdict:
    """Replay a row, then compare with the recorded result."""
    ways = replay_row(row)
    if ways is None:
        return ReplayVerdict(row=row, status="skipped", reason=f"no model for probe {row.probe}")
    return compare(row, ways, result)


def compare(row: RecordedRun, ways: tuple[tuple[Resolution, ...], ...], result: Any) -> ReplayVerdict:
    results = result if isinstance(result, list) else [result]
    recorded = tuple(result_key(row.probe, item) for item in results)
    if len(recorded) < len(row.names) and not any(isinstance(item, dict) and "ok" in item for item in results[-1:]):
        recorded += (("crash", None),)  # a process that dies prints nothing
    predicted = [tuple(outcome_key(row.probe, lookup.trace.outcome) for lookup in way) for way in ways]
    same_outcome = [way for way, keys in zip(ways, predicted, strict=True) if _agree(keys, recorded)]
    ordered = row.probe in SEQUENTIAL
    same_queries = [way for way in ways if _same_queries(row, way, ordered)]
    both = [way for way in same_outcome if way in same_queries]
    settled = len(set(predicted)) == 1 and len(ways) == 1
    if both:
        status, reason = ("match", "") if settled else ("open", "; ".join(both[0][-1].trace.assumed))
    elif any(not lookup.complete for way in ways for lookup in way):
        status, reason = "open", "more ways than were followed"
    else:
        wrong = [] if same_outcome else ["outcome"]
        wrong += [] if same_queries else ["queries"]
        status, reason = "mismatch", " and ".join(wrong or ["outcome and queries together"])
        if len(recorded) != len(row.names):
            reason = "number of results"
    best = (both or same_outcome or same_queries or list(ways))[0]
    return ReplayVerdict(
        row=row,
        status=status,
        reason=reason,
        expected=tuple(dict.fromkeys(" ; ".join(map(show_key, keys)) for keys in predicted)),
        recorded=" ; ".join(map(show_key, recorded)),
        expected_queries=tuple(queries.show(*query) for query in queries.predicted(best)),
        recorded_queries=tuple(queries.show(q.server, q.transport, q.type, q.name) for q in row.queries),
    )


def _agree(predicted: tuple[Key, ...], recorded: tuple[Key, ...]) -> bool:
    """Equal, lookup for lookup; a crash agrees with a record of the same signal, or of a process that printed nothing."""
    if len(predicted) > len(recorded) and recorded and recorded[-1][0] == "crash":
        predicted = predicted[: len(recorded)]
    if len(predicted) != len(recorded):
        return False
    return all(
        mine == theirs or (mine[0] == "crash" and theirs[:2] in (("crash", None), ("error", mine[1])))
        for mine, theirs in zip(predicted, recorded, strict=True)
    )


def replay(rows: Iterable[tuple[RecordedRun, Any]]) -> Summary:
    verdicts: dict[str, list[ReplayVerdict]] = {"match": [], "mismatch": [], "open": [], "skipped": []}
    counts: dict[str, list[int]] = {}
    order = list(verdicts)
    total = 0
    for row, result in rows:
        verdict = judge(row, result)
        total += 1
        counts.setdefault(row.probe, [0, 0, 0, 0])[order.index(verdict.status)] += 1
        if verdict.status != "match":
            verdicts[verdict.status].append(verdict)
    return Summary(
        rows=total,
        matches=sum(entry[0] for entry in counts.values()),
        mismatches=tuple(verdicts["mismatch"]),
        open=tuple(verdicts["open"]),
        skipped=tuple(verdicts["skipped"]),
        by_probe={probe: (c[0], c[1], c[2], c[3]) for probe, c in sorted(counts.items())},
    )


def _same_queries(row: RecordedRun, way: tuple[Resolution, ...], ordered: bool) -> bool:
    """Names in the same order, and for each the same questions; their order counts for sequential senders alone."""
    recorded = [
        (q.server, q.transport, q.type, "?malformed" if q.name.startswith("?malformed") else fold(q.name))
        for q in row.queries
    ]
    racy = any(step.batch.racy for lookup in way for step in lookup.trace.steps)
    if row.probe in PER_TYPE:
        torn = queries.torn(way)
        return queries.same_per_type(
            [
                query
                for query in queries.predicted(way, after_close=True)
                if query[::3] not in torn or query[1] != "tcp"
            ],
            [query for query in recorded if query[::3] not in torn or query[1] != "tcp"],
            ordered=ordered,
            racy=racy,
        )
    return any(
        queries.same_order(queries.predicted(way, after_close=after_close), recorded, ordered=ordered, racy=racy)
        for after_close in (False, True)
    )


# --- outcomes -------------------------------------------------------------------------------------------------------

Key = tuple[Any, ...]
_VARIABLE = (
    (re.compile(r"read (udp|tcp) \S+->"), r"read \1 *->"),
    (re.compile(r"expired after [0-9.]+ seconds"), "expired after * seconds"),
)


def _text(text: str) -> str:
    text = text.replace('"', "'")
    for pattern, replacement in _VARIABLE:
        text = pattern.sub(replacement, text)
    return text


def outcome_key(probe: str, outcome: LookupOutcome) -> Key:
    """A model's outcome in the terms of a probe's record."""
    if outcome.ok:
        return ("ok", tuple(sorted(set(outcome.addresses))))
    if outcome.code == "HANG":
        return ("hang",)
    if outcome.crashed:
        return ("crash", 2 if probe.startswith("go") else outcome.number)
    if probe.startswith(("musl", "glibc", "python")):
        prefix = outcome.code if outcome.code in ("UnicodeError", "OSError") else "gaierror"
        text = f"{prefix}: {outcome.text}" if probe.startswith("python") else outcome.text
        return ("error", outcome.number, text)
    if probe.startswith("go"):
        return ("error", _text(outcome.text), tuple(sorted(outcome.flags)))
    if probe.startswith("cares"):
        return ("error", outcome.number, outcome.code)
    if probe.startswith("node"):
        return ("error", outcome.code, outcome.text)
    return ("error", _text(outcome.text))


def result_key(probe: str, result: Any) -> Key:
    """A recorded result in the same terms."""
    if not isinstance(result, dict):
        return ("unreadable", repr(result)[:80])
    if result.get("ok") is True:
        return ("ok", tuple(sorted({_spelled(str(address)) for address in result.get("addrs") or ()})))
    if result.get("hung"):
        return ("hang",)
    if "ok" not in result or (isinstance(result.get("rc"), int) and result["rc"] < 0):
        return ("crash", result.get("rc", result.get("code")))
    text = str(result.get("err", ""))
    if probe.startswith(("musl", "glibc", "python")):
        return ("error", result.get("code"), text)
    if probe.startswith("go"):
        flags = {"notfound": "IsNotFound", "temporary": "IsTemporary", "timeout": "IsTimeout"}
        return ("error", _text(text), tuple(sorted(flag for key, flag in flags.items() if result.get(key))))
    if probe.startswith("cares"):
        return ("error", result.get("code"), text)
    if probe.startswith("node"):
        return ("error", result.get("code"), text)
    return ("error", _text(text))


def show_key(key: Key) -> str:
    if key[0] == "ok":
        return ", ".join(key[1]) or "no address"
    return " ".join(str(part) for part in key[1:] if part not in ("", (), None)) or str(key[0])


def _spelled(address: str) -> str:
    """One spelling for an address, without its zone."""
    return address_of(address.partition("%")[0]) or address
