"""Worlds that answer a model's queries: recorded answers, and several worlds one after the other.

What was not recorded is derived only where a standard says so, and the derived answer carries a note: an NXDOMAIN holds
for every type of the name (RFC 2308 section 1, RFC 8020); a name with records of one type has none of another unless
they were recorded (taken as NODATA); a server that failed or was silent for one type is taken to do so for the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from svcpath.evidence.facts.addresses import address_of
from svcpath.evidence.facts.dns import DnsAnswer
from svcpath.models.resolvers.base import Answer, Query, UnknownAnswer, World


def from_row(row: DnsAnswer, kind: str | None = None) -> Answer:
    """The answer that a recorded row is, for the row's own type or for an address type (a CNAME row answers both)."""
    wanted = kind or row.type.upper()
    rcode = row.rcode.upper()
    delay = (row.delay_ms or 0.0) / 1000
    if rcode in ("NODATA", "EMPTY"):
        rcode = "NOERROR"
    addresses: list[str] = []
    cname = ""
    for value in row.answers:
        address = address_of(value)
        if not address:
            cname = value.removesuffix(".") or cname
        elif (":" in address) == (wanted == "AAAA") and wanted in ("A", "AAAA"):
            addresses.append(address)
    cname, alias = ("", cname) if addresses else (cname, "")
    return Answer(rcode, tuple(addresses), len(row.answers), cname, alias, delay=delay)


class RecordedWorld:
    """Answers as they were recorded, by name and type (and by server, where the rows name one)."""

    def __init__(self, rows: Iterable[DnsAnswer]) -> None:
        self._exact: dict[tuple[str, str, str], Answer] = {}
        self._names: dict[str, list[DnsAnswer]] = {}
        for row in rows:
            name = row.name.lower().removesuffix(".")
            self._exact[name, row.type.upper(), row.server] = from_row(row)
            self._names.setdefault(name, []).append(row)
        self._derived: dict[tuple[str, str], Answer | UnknownAnswer] = {}

    def answer(self, query: Query) -> Answer | UnknownAnswer:
        name = query.name.lower().removesuffix(".")
        exact = self._exact.get((name, query.type, query.server)) or self._exact.get((name, query.type, ""))
        if exact is not None:
            return exact
        key = (name, query.type)
        if key not in self._derived:
            self._derived[key] = self._derive(name, query.type)
        return self._derived[key]

    def _derive(self, name: str, kind: str) -> Answer | UnknownAnswer:
        rows = self._names.get(name)
        if not rows:
            return UnknownAnswer("no answer was recorded for this name")
        same = next((row for row in rows if row.type.upper() in (kind, "CNAME", "ANY", "*")), None)
        if same is not None:
            return from_row(same, kind)
        row = rows[0]
        answer = from_row(row)
        if answer.rcode == "NXDOMAIN":
            return Answer(
                "NXDOMAIN", delay=answer.delay, note=f"recorded for {row.type}: holds for every type (RFC 8020)"
            )
        if answer.rcode == "NOERROR":
            if answer.cname:
                return Answer(
                    "NOERROR", (), answer.records, answer.cname, note=f"the alias was recorded for {row.type}"
                )
            return Answer("NOERROR", delay=answer.delay, note=f"only {row.type} was recorded: taken as NODATA")
        return Answer(answer.rcode, delay=answer.delay, note=f"recorded for {row.type}: taken for {kind} too")


class Layered:
    """The first world that knows; else the last one's UnknownAnswer."""

    def __init__(self, worlds: Iterable[World]) -> None:
        self.worlds = tuple(worlds)

    def answer(self, query: Query) -> Answer | UnknownAnswer:
        answer: Answer | UnknownAnswer = UnknownAnswer("no evidence answers this name")
        for world in self.worlds:
            answer = world.answer(query)
            if isinstance(answer, Answer):
                return answer
        return answer
