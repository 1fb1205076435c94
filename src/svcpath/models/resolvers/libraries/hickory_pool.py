"""One try of hickory 0.26: two servers at once over UDP, sent again while they are silent, and TCP for what was cut.

Rules from hickory-resolver 0.26.3 name_server_pool.rs try_send and most_specific, name_server.rs send_inner and
connected_mut_client; hickory-net 0.26.3 udp_client_stream.rs retry and error.rs.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import msgspec

from svcpath.models.resolvers.base import Answer, Batch, Fork, Part, Query, ResolverRule, ask, choose
from svcpath.models.resolvers.libraries.hickory_conf import HickoryConfig
from svcpath.models.resolvers.libraries.hickory_names import CandidateFailure
from svcpath.models.resolvers.libraries.hickory_srtt import FLOOR, SAME_INSTANT, Srtt

RESEND = ResolverRule(
    "no reply after 333 ms or 1.2 times the server's smoothed round trip: sent again, three times within the timeout",
    "hickory udp_client_stream.rs retry (0.26.3)",
)
TCP = ResolverRule("truncated: again over TCP", "hickory name_server_pool.rs try_send (0.26.3)")
RECONNECT = ResolverRule(
    "the open connection was closed: once more over a new one", "hickory name_server.rs send_inner (0.26.3)"
)
OPEN = ResolverRule(
    "the UDP socket was given up after a timeout and a TCP connection is open: that is used",
    "hickory name_server.rs connected_mut_client (0.26.3)",
)
T = TypeVar("T")
SENDS = 3
AT_ONCE = 2
CANCELLED = 0.005
TIMEOUT = CandidateFailure("request timed out", "timeout")
CANCELED = CandidateFailure("receiver was canceled", "io")
CUT = CandidateFailure("response was truncated; TCP already tried or no other transport available", "truncated")


class _Arrival(msgspec.Struct, frozen=True):
    """A reply, ``at`` seconds after the try began; ``rtt`` since its own query was sent."""

    at: float
    server: str
    answer: Answer


class Wait(msgspec.Struct, frozen=True):
    """A task that goes on at a time, and not before what others do until then is done."""

    until: float


Task = Generator[Batch | Fork | Wait, tuple[Answer, ...] | int, T]


class Pool:
    def __init__(self, config: HickoryConfig) -> None:
        self.config = config
        self.timeout = float(config.timeout)
        self.racy = len(config.servers) > 1
        self.srtt = {server: Srtt() for server in config.servers}
        self.connected: set[str] = set()
        self.given_up: set[str] = set()
        self.started = 0.0
        self._streams: list[tuple[float, str, str]] = []

    def together(self, name: str, kinds: tuple[str, ...], rule: ResolverRule, now: float) -> Batch | None:
        """What the types of a candidate begin with, where that is a datagram each to one server."""
        if self.racy or self._transport(self.config.servers[0]) != "udp":
            return None
        return Batch(tuple(self._query(name, kind, self.config.servers[0], "udp", now) for kind in kinds), rule)

    def next_candidate(self, now: float) -> None:
        self.started = now
        for srtt in self.srtt.values():
            srtt.next_candidate()

    def attempt(
        self, name: str, kind: str, rule: ResolverRule, now: float
    ) -> Task[tuple[Answer | CandidateFailure, float]]:
        """The first whole reply of two servers counts, whatever its code; which two the smoothed round trip says. A second
        truncated one ends the try, as if TCP had been used."""
        if now > self.started:
            yield Wait(now)
        group = list(self.config.servers)
        if len(group) > AT_ONCE:
            group = sorted(group, key=lambda server: self.srtt[server].value(now))[:AT_ONCE]
        transports = {server: self._transport(server) for server in group}
        answers: tuple[Answer, ...] = ()
        if len(group) == 1 and transports[group[0]] == "udp":
            query = self._query(name, kind, group[0], "udp", now)
            (answer,) = answers = yield from ask(Batch((query,), rule))
            if not (answer.silent or answer.truncated or answer.delay):
                self.note(group[0], kind, answer, now)
                return answer, now
        arrivals = yield from self._send(name, kind, transports, rule, now, answers)
        cut = ""
        last = 0.0
        while arrivals:
            arrival = yield from self._first(name, arrivals)
            last = arrival.at
            if not arrival.answer.truncated:
                self.note(arrival.server, kind, arrival.answer, now + arrival.at)
                for server in group:
                    if server not in (arrival.server, cut):
                        self.srtt[server].reply(now + last, kind, last + CANCELLED)
                return arrival.answer, now + last
            self.srtt[arrival.server].reply(now + last, kind, last)
            if cut:
                return CUT, now + last
            cut = arrival.server
            arrivals = [other for other in arrivals if other.server != arrival.server]
        silent = [server for server in group if server != cut]
        for server in silent:
            self.srtt[server].failure(now + self.timeout, kind)
            if transports[server] == "udp":
                self.given_up.add(server)
            else:
                self.connected.discard(server)
        if silent or last >= self.timeout:
            return TIMEOUT, now + self.timeout
        return (yield from self._tcp(name, kind, cut, now + last))

    def _transport(self, server: str) -> str:
        if not self.given_up:
            return "udp"
        if server in self.given_up and server in self.connected:
            return "tcp"
        self.given_up.discard(server)
        return "udp"

    def _send(
        self,
        name: str,
        kind: str,
        transports: dict[str, str],
        rule: ResolverRule,
        now: float,
        known: tuple[Answer, ...],
    ) -> Part[list[_Arrival]]:
        """Every reply within the timeout, with those to the copies that are sent while there is none. ``known`` are the
        answers to the first queries, where those are sent already."""
        arrivals: list[_Arrival] = []
        due = [(server, 0.0) for server in transports]
        rule = OPEN if "tcp" in transports.values() else rule
        number = 0
        while due:
            queries = tuple(self._query(name, kind, server, transports[server], now + after) for server, after in due)
            answers = known or (yield from ask(Batch(queries, rule, racy=self.racy)))
            known = ()
            for (server, after), answer in zip(due, answers, strict=True):
                if not answer.silent and after + answer.delay < self.timeout:
                    arrivals.append(_Arrival(after + answer.delay, server, answer))
            closed = [q.server for q, answer in zip(queries, answers, strict=True) if answer.rcode == "CLOSED"]
            if closed:
                self.connected.difference_update(closed)
                transports.update(dict.fromkeys(closed, "udp"))
                due, rule = [(server, 0.0) for server in closed], RECONNECT
                continue
            number += 1
            over_udp = [server for server, transport in transports.items() if transport == "udp"]
            due, rule = (yield from self._silent(name, kind, over_udp, arrivals, number, now)), RESEND
        return arrivals

    def _silent(
        self, name: str, kind: str, group: list[str], arrivals: list[_Arrival], number: int, now: float
    ) -> Part[list[tuple[str, float]]]:
        """The servers that are sent a copy, and when: those that have not replied by then, if none has."""
        if number == SENDS:
            return []
        end = min((arrival.at for arrival in arrivals if not arrival.answer.truncated), default=self.timeout)
        due = []
        for server in group:
            limit = min((arrival.at for arrival in arrivals if arrival.server == server), default=end)
            limit = min(limit, end)
            if limit <= number * FLOOR:
                continue
            low, high = self.srtt[server].interval(now, kind)
            if number * high < limit:
                due.append((server, number * (low + high) / 2))
            elif number * low < limit:
                reason = f"whether {kind} {name} is sent to {server} a {number + 1}. time before the wait for it ends"
                if (yield from choose(Fork(reason, ("no", "yes")))):
                    due.append((server, number * low))
        return due

    def _first(self, name: str, arrivals: list[_Arrival]) -> Part[_Arrival]:
        at = min(arrival.at for arrival in arrivals)
        ways = {
            (answer.rcode, answer.addresses, answer.truncated, answer.cname): arrival
            for arrival in arrivals
            for answer in (arrival.answer,)
            if arrival.at == at
        }
        picks = list(ways.values())
        if len(picks) == 1:
            return picks[0]
        reason = f"which server's reply for {name} comes first"
        return picks[(yield from choose(Fork(reason, tuple(pick.answer.label for pick in picks))))]

    def note(self, server: str, kind: str, answer: Answer, time: float) -> None:
        """What a whole reply does to the server's round trip: an error code nothing, no records a failure."""
        if answer.rcode in ("NOERROR", "NXDOMAIN"):
            if answer.records or answer.addresses or answer.cname:
                self.srtt[server].reply(time, kind, answer.delay)
            else:
                self.srtt[server].failure(time, kind)

    def _tcp(self, name: str, kind: str, server: str, now: float) -> Part[tuple[Answer | CandidateFailure, float]]:
        """An open connection is used again; one that the server closes is opened again, once."""
        self._streams.append((now, server, kind))
        query = self._query(name, kind, server, "tcp", now)
        (answer,) = yield from ask(Batch((query,), TCP, racy=self.racy))
        if answer.rcode == "CLOSED" and server in self.connected:
            (answer,) = yield from ask(Batch((query,), RECONNECT, racy=self.racy))
        if answer.rcode == "TIMEOUT" or answer.delay >= self.timeout:
            self.connected.discard(server)
            self.srtt[server].failure(now + self.timeout, kind)
            return TIMEOUT, now + self.timeout
        if answer.silent:
            self.connected.discard(server)
            self.srtt[server].failure(now, kind)
            # The error of A is never shown: AAAA's is, or an address.
            if kind == "AAAA" and self._shared(now, server):
                reason = f"whether {kind} {name} goes out on the connection that is being closed under A's query"
                if (yield from choose(Fork(reason, ("no", "yes")))):
                    return CANCELED, now
            return CUT, now
        self.connected.add(server)
        if answer.truncated:
            return CUT, now + answer.delay
        self.note(server, kind, answer, now + answer.delay)
        return answer, now + answer.delay

    def _shared(self, now: float, server: str) -> bool:
        """Whether the other type uses TCP with that server in the same instant."""
        near = {kind for time, other, kind in self._streams if other == server and abs(time - now) <= SAME_INSTANT}
        return len(near) > 1

    def _query(self, name: str, kind: str, server: str, transport: str, sent: float) -> Query:
        return Query(name, kind, server, transport, round(sent, 3), self.timeout, self.config.edns)
