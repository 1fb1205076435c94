"""Compares a real run with what the model makes of the same job, and prints the table of all of them."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import Any

import msgspec

from svcpath.models.resolvers.base import UNREADABLE, Answer, Query, UnknownAnswer
from svcpath.models.resolvers.environment import octets
from svcpath.replay import scripted
from svcpath.replay.queries import host_of, wire_text
from svcpath.replay.runs import RecordedRun, ReplayVerdict, Sent, compare, replay_row
from svcpath.replay.setups import SERVERS, Setup
from tests.differential.resolvers.server import Script

LOCAL_GLIBC = f"glibc-{platform.libc_ver()[1] or '2.36'}"
MODEL_OF = {"glibc": LOCAL_GLIBC, "jvm": "jvm-17"}
COLUMNS = ("equal", "mismatch", "open", "skipped")


class ScriptWorld:
    """The scripted server's rule, given to the model: it may ask anything, as the real one may."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def answer(self, query: Query) -> Answer | UnknownAnswer:
        where = host_of(query.server)
        if where not in SERVERS:
            return Answer("UNREACHABLE")
        server = SERVERS.index(where)
        if octets(query.name) > 253:
            return UNREADABLE
        action = self.script.action(server, wire_text(query.name), query.type)
        answer = scripted.answer(action, query.type, query.transport)
        delay = self.script.delay(server)
        return msgspec.structs.replace(answer, delay=delay + answer.delay) if delay else answer


def check(job: dict[str, Any], run: dict[str, Any]) -> ReplayVerdict:
    row = RecordedRun(
        line=0,
        probe=MODEL_OF.get(job["probe"], job["probe"]),
        names=(job["name"],),
        conf=job["conf"],
        case="",
        args=tuple(job["args"]),
        queries=tuple(
            Sent(SERVERS[server], transport, kind, name, action)
            for _, server, transport, kind, name, action in run["queries"]
        ),
        setup=Setup(hosts=job["hosts"], nsswitch=job["nsswitch"], hostname=job["hostname"], variables=job["variables"]),
    )
    ways = replay_row(row, ScriptWorld(Script(job["actions"], job["default"], job["delays"])))
    if ways is None:
        return ReplayVerdict(row=row, status="skipped", reason=f"no model for {row.probe}")
    return compare(row, ways, run["result"])


def table(verdicts: Iterable[tuple[str, ReplayVerdict]]) -> str:
    """The model against the real one, by probe."""
    counts: dict[str, list[int]] = {}
    names = ("match", "mismatch", "open", "skipped")
    for probe, verdict in verdicts:
        counts.setdefault(probe, [0, 0, 0, 0])[names.index(verdict.status)] += 1
    total = [sum(column) for column in zip(*counts.values(), strict=True)] if counts else [0, 0, 0, 0]
    rows: list[tuple[str, ...]] = [("resolver", "runs", *COLUMNS)]
    rows += [(probe, str(sum(numbers)), *map(str, numbers)) for probe, numbers in sorted(counts.items())]
    rows.append(("all", str(sum(total)), *map(str, total)))
    lines = [f"{row[0]:18}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows]
    return "\n".join([*lines, "open: packet order or chance decides; the real outcome is one of the model's"])


def side_by_side(job: dict[str, Any], verdict: ReplayVerdict) -> str:
    """One mismatch, as a person reads it."""
    lines = [
        f"{verdict.row.probe} {job['name']!r} {' '.join(job['args'])}: {verdict.reason}",
        *(f"    {line}" for line in job["conf"].splitlines()),
        f"  model     {' | '.join(verdict.expected)}",
        f"  real      {verdict.recorded}",
    ]
    longest = max(len(verdict.expected_queries), len(verdict.recorded_queries))
    for index in range(min(longest, 40)):
        mine = verdict.expected_queries[index] if index < len(verdict.expected_queries) else ""
        real = verdict.recorded_queries[index] if index < len(verdict.recorded_queries) else ""
        lines.append(f"    {'  ' if mine == real else '* '}{mine:80} {real}")
    return "\n".join(lines)
