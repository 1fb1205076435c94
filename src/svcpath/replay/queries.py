"""The queries of a model's trace as a server would log them, and when they count as those that a server did log."""

from __future__ import annotations

from collections.abc import Iterable

from svcpath.models.resolvers.base import Resolution, Trace
from svcpath.models.resolvers.environment import fold, unmapped

Wire = tuple[str, str, str, str]


def predicted(way: tuple[Resolution, ...], *, after_close: bool = False) -> list[Wire]:
    return [wire for lookup in way for wire in sent_queries(lookup.trace, after_close=after_close)]


def sent_queries(trace: Trace, *, after_close: bool = False) -> list[Wire]:
    """What a server sees of a trace: nothing of queries to closed ports. Whether it still sees the other TCP query of a
    batch once it ended a connection is timing: ``after_close`` says."""
    seen: list[Wire] = []
    for step in trace.steps:
        closed = False
        for query, answer in zip(step.batch.queries, step.answers, strict=True):
            if answer.rcode == "UNREACHABLE" or (closed and not after_close):
                continue
            closed = answer.rcode == "CLOSED" or (answer.rcode == "TIMEOUT" and query.transport == "tcp")
            if query.malformed or answer.bare:
                seen.append((host_of(query.server), query.transport, "?", "?malformed"))
            else:
                seen.append((host_of(query.server), query.transport, query.type, fold(wire_text(query.name))))
    return seen


def _groups(queries: Iterable[Wire]) -> list[tuple[str, list[Wire]]]:
    groups: list[tuple[str, list[Wire]]] = []
    for query in queries:
        if groups and groups[-1][0] == query[3]:
            groups[-1][1].append(query)
        else:
            groups.append((query[3], [query]))
    return groups


def _by_name(queries: Iterable[Wire]) -> list[tuple[str, list[Wire]]]:
    names: dict[str, list[Wire]] = {}
    for query in queries:
        names.setdefault(query[3], []).append(query)
    return list(names.items())


def same_order(predicted: list[Wire], recorded: list[Wire], *, ordered: bool, racy: bool) -> bool:
    """With several servers, a late datagram to one may be read after the next name's to another: then names count in
    the order of their first query."""
    if not ordered and len({query[0] for query in predicted}) > 1:
        mine, theirs = _by_name(predicted), _by_name(recorded)
    else:
        mine, theirs = _groups(predicted), _groups(recorded)
    if [name for name, _ in mine] != [name for name, _ in theirs]:
        return False
    for (_, left), (_, right) in zip(mine, theirs, strict=True):
        if racy:
            if set(left) != set(right) or (len({q[0] for q in left}) == 1 and len(left) != len(right)):
                return False
        elif (left if ordered else sorted(left)) != (right if ordered else sorted(right)):
            return False
    return True


def torn(way: tuple[Resolution, ...]) -> set[tuple[str, str]]:
    """Servers and names of which both types went over TCP and the server closed a connection: which of the queries on it
    the server still read is timing."""
    kinds: dict[tuple[str, str], set[str]] = {}
    for lookup in way:
        for step in lookup.trace.steps:
            for query, answer in zip(step.batch.queries, step.answers, strict=True):
                if query.transport == "tcp":
                    seen = kinds.setdefault((host_of(query.server), fold(wire_text(query.name))), set())
                    seen |= {query.type, answer.rcode}
    return {key for key, seen in kinds.items() if {"A", "AAAA", "CLOSED"} <= seen}


def same_per_type(predicted: list[Wire], recorded: list[Wire], *, ordered: bool, racy: bool) -> bool:
    """The questions of each type are the same in the same order, and names begin in the same order."""
    if [name for name, _ in _by_name(predicted)] != [name for name, _ in _by_name(recorded)]:
        return False
    ordered = ordered or len({query[0] for query in predicted}) == 1
    kinds = {query[2] for query in (*predicted, *recorded)}
    return all(
        same_order(
            [query for query in predicted if query[2] == kind],
            [query for query in recorded if query[2] == kind],
            ordered=ordered,
            racy=racy,
        )
        for kind in kinds
    )


def show(server: str, transport: str, kind: str, name: str) -> str:
    return f"{kind} {name} ({transport}, {server})"


def host_of(server: str) -> str:
    """Where a nameserver written with a scope or as an IPv4-mapped address is found: the server that logs the query."""
    return unmapped(server.partition("%")[0])


def wire_text(name: str) -> str:
    """A name's bytes as the recording shows them (one character a byte)."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("latin-1")
