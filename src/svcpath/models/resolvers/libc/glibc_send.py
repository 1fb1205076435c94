"""How glibc sends one query pair and judges the replies: resolv/res_send.c __res_context_send, send_dg, send_vc, and
the end of res_query.c __res_context_query (2.36-2.41)."""

from __future__ import annotations

import msgspec

from svcpath.models.resolvers.base import Answer, Batch, Fork, Part, Query, ResolverRule, ask, choose
from svcpath.models.resolvers.libc.glibc_conf import GlibcConfig

SEND = "glibc res_send.c send_dg"
RETRY_SINGLE = ResolverRule(
    "one type answered, the other silent: asked again one after the other, and so for the thread's later lookups", SEND
)
RETRY_REOPEN = ResolverRule("still silent: asked again from a new socket, and so for the thread's later lookups", SEND)
NEXT_SERVER = ResolverRule(
    "no usable reply from that server: the next server (or the next round)", "glibc res_send.c __res_context_send"
)
SECOND = ResolverRule("single-request: the second type after the first one's reply", SEND)
TCP = ResolverRule("truncated: both types again over TCP at the same server", "glibc res_send.c send_dg, send_vc")
TCP_AGAIN = ResolverRule("the server reset the connection: once more at the same server", "glibc res_send.c send_vc")

BAD = ("SERVFAIL", "NOTIMP", "REFUSED")


class BufferReply(msgspec.Struct, frozen=True):
    """``ended``: the search stops here (a reply with records). ``first_rcode``: what the first buffer holds."""

    addresses: tuple[str, ...]
    ended: bool
    herrno: str
    first_rcode: str


class Got(msgspec.Struct, frozen=True):
    """Accepted replies of one server, in order of type; empty: try the next server."""

    replies: tuple[Answer, ...]


class Sender:
    """Sends query pairs for one lookup on its clock. ``masked`` (no-aaaa, AF_INET6): A is asked to tell NODATA from
    NXDOMAIN, and its addresses are not used (res-noaaaa.c)."""

    def __init__(self, config: GlibcConfig, types: tuple[str, ...], memory: tuple[str, ...], now: float) -> None:
        self.config = config
        self.types = types
        self.now = now
        self.single = "single-request" in config.flags or "single-request" in memory
        self.reopen = "single-request-reopen" in config.flags or "single-request-reopen" in memory
        self.single = self.single or self.reopen
        self.sticky = {bit for bit in memory if bit.startswith("single")}
        self.offset = next((int(bit[7:]) for bit in memory if bit.startswith("rotate:")), None)
        self.refused = False
        self.first_rcode = "NOERROR"
        self.edns = "edns0" in config.flags
        self.plainly = (
            config.attempts > 0 and not self.single and "use-vc" not in config.flags and "rotate" not in config.flags
        )
        self.masked = False
        self.hangs = False
        self.last_failed = False
        self.closed = False

    @property
    def memory(self) -> tuple[str, ...]:
        rotate = () if self.offset is None else (f"rotate:{self.offset}",)
        return (*sorted(self.sticky), *rotate)

    def pair(self, name: str, rule: ResolverRule) -> Part[BufferReply]:
        self.first_rcode = "NOERROR"
        got = yield from self._servers(name, rule)
        self.last_failed = got is None
        self.closed = self.closed and got is None
        if got is None and self.masked and self.first_rcode == "NOERROR" and not self.refused:
            self.last_failed = False  # no-aaaa with AF_INET6: silence reads as an empty answer (observed, glibc 2.36)
            return BufferReply((), False, "NO_DATA", "NOERROR")
        if got is None:
            return BufferReply((), False, "TRY_AGAIN", self.first_rcode)
        if self.masked:
            got = tuple(Answer(reply.rcode) for reply in got)
        return self._combine(got)

    def _combine(self, got: tuple[Answer, ...]) -> BufferReply:
        """__res_context_query: any NOERROR with records wins; else the first reply's rcode, if NOERROR the second's."""
        if any(reply.rcode == "NOERROR" and reply.records for reply in got):
            addresses = tuple(address for reply in got if reply.rcode == "NOERROR" for address in reply.addresses)
            return BufferReply(addresses, True, "", got[0].rcode)
        rcode = got[-1].rcode if got[0].rcode == "NOERROR" else got[0].rcode
        herrno = {"NXDOMAIN": "HOST_NOT_FOUND", "SERVFAIL": "TRY_AGAIN", "NOERROR": "NO_DATA"}.get(rcode, "NO_RECOVERY")
        return BufferReply((), False, herrno, got[0].rcode)

    def _servers(self, name: str, rule: ResolverRule) -> Part[tuple[Answer, ...] | None]:
        config = self.config
        if self.plainly:
            server, wait, now = config.servers[0], float(max(config.timeout, 1)), round(self.now, 3)
            queries = tuple([Query(name, kind, server, "udp", now, wait, self.edns) for kind in self.types])
            answers = yield from ask(Batch(queries, rule))
            if all(answer.plain for answer in answers):
                return answers
            return (yield from self._rounds(name, rule, answers))
        return (yield from self._rounds(name, rule, ()))

    def _rounds(self, name: str, rule: ResolverRule, given: tuple[Answer, ...]) -> Part[tuple[Answer, ...] | None]:
        """The rounds over the servers; ``given`` are the answers of the very first send if it was already made."""
        config = self.config
        count = len(config.servers)
        somewhere = False
        tcp = "use-vc" in config.flags
        start = yield from self._rotation()
        for _ in range(config.attempts):
            for shift in range(count):
                index = (start + shift) % count
                if not tcp:
                    wait = float(max((config.timeout << index) // (count if index else 1), 1))
                    got, touched = yield from self._datagrams(name, config.servers[index], wait, rule, given)
                    given = ()
                    somewhere = somewhere or touched
                    rule = NEXT_SERVER
                    if got is not None and got.replies and got.replies[0].truncated:
                        tcp, rule = True, TCP
                    elif got is not None:
                        return got.replies
                if tcp:
                    somewhere = True
                    replies = yield from self._stream(name, config.servers[index], rule)
                    rule = NEXT_SERVER
                    if replies is not None:
                        return replies
            if tcp:
                break
        self.refused = not somewhere
        return None

    def _rotation(self) -> Part[int]:
        """options rotate: a random first server, then one further with each query pair."""
        count = len(self.config.servers)
        if "rotate" not in self.config.flags or count < 2:
            return 0
        if self.offset is None:
            self.offset = yield from choose(Fork("rotate starts at a random server", self.config.servers))
        else:
            self.offset = (self.offset + 1) % count
        return self.offset

    def _query(self, name: str, kind: str, server: str, transport: str, wait: float) -> Query:
        return Query(name, kind, server, transport, round(self.now, 3), wait, self.edns)

    def _datagrams(
        self, name: str, server: str, wait: float, rule: ResolverRule, given: tuple[Answer, ...] = ()
    ) -> Part[tuple[Got | None, bool]]:
        """send_dg at one server: (accepted replies or None, whether anything came of it but ICMP errors)."""
        while True:
            if given:
                answers, given = given, ()
            elif self.single and len(self.types) > 1:
                answers = yield from self._one_by_one(name, server, wait, rule)
            else:
                batch = Batch(tuple([self._query(name, kind, server, "udp", wait) for kind in self.types]), rule)
                answers = yield from ask(batch)
            if any(answer.rcode == "UNREACHABLE" for answer in answers):
                return None, False
            arrived = [answer for answer in answers if not answer.silent and answer.delay < wait]
            bad = [answer for answer in arrived if answer.rcode in BAD or answer.lame]
            good = [answer for answer in arrived if answer not in bad]
            if arrived:
                self.first_rcode = yield from self._first(arrived, name)
            if (good and good[0].truncated) or any(answer.truncated for answer in good):
                self.now += max(answer.delay for answer in good if answer.truncated)
                return Got((Answer("NOERROR", truncated=True),)), True
            missing = len(answers) < len(self.types) and not bad
            if len(arrived) == len(answers) and not missing:
                self.now += max((answer.delay for answer in answers), default=0.0)
                if bad and ("strict-error" in self.config.flags or not good):
                    return None, True
                return Got(tuple(good)), True
            if len(arrived) < len(answers) and good and len(self.types) > 1:
                self.now += wait
                if not self.single:
                    self.single, self.plainly, rule = True, False, RETRY_SINGLE
                    self.sticky.add("single-request")
                    continue
                if not self.reopen:
                    self.reopen, rule = True, RETRY_REOPEN
                    self.sticky.add("single-request-reopen")
                    continue
                return Got(tuple(good)), True
            self.now += wait
            return None, True

    def _one_by_one(self, name: str, server: str, wait: float, rule: ResolverRule) -> Part[tuple[Answer, ...]]:
        """single-request: the second type only after a good reply to the first."""
        first = yield from ask(Batch((self._query(name, self.types[0], server, "udp", wait),), rule, ordered=True))
        reply = first[0]
        if reply.silent or reply.delay >= wait or reply.truncated or reply.rcode in BAD or reply.lame:
            return first
        query = msgspec.structs.replace(
            self._query(name, self.types[1], server, "udp", wait), sent=round(self.now + reply.delay, 3)
        )
        second = yield from ask(Batch((query,), SECOND, ordered=True))
        if second[0].silent:
            return (reply, second[0])
        return (reply, msgspec.structs.replace(second[0], delay=reply.delay + second[0].delay))

    def _first(self, arrived: list[Answer], name: str) -> Part[str]:
        """The reply that came first fills the first buffer: its rcode counts if nothing usable follows."""
        rcodes = tuple(dict.fromkeys(answer.rcode for answer in arrived if answer.rcode in BAD or answer.lame))
        if len(rcodes) < 2 or len(rcodes) < len(arrived) or arrived[0].delay != arrived[-1].delay:
            return min(arrived, key=lambda answer: answer.delay).rcode
        choice = yield from choose(Fork(f"which reply for {name} arrives first", rcodes))
        return rcodes[choice]

    def _stream(self, name: str, server: str, rule: ResolverRule) -> Part[tuple[Answer, ...] | None]:
        """send_vc: both queries over one connection, without any timeout once it stands. A connection that the server
        closes with the second query unread is reset, and tried once more."""
        wait = float(max(self.config.timeout, 1))
        reset = False
        for again in (False, True):
            if again and not reset:
                break
            batch = Batch(
                tuple([self._query(name, kind, server, "tcp", wait) for kind in self.types]),
                TCP_AGAIN if again else rule,
                ordered=True,
            )
            answers = yield from ask(batch)
            if all(not answer.silent for answer in answers):
                self.now += max(answer.delay for answer in answers)
                return answers
            if any(answer.rcode == "TIMEOUT" for answer in answers):
                self.hangs = True
                return answers
            closed = [answer.rcode == "CLOSED" for answer in answers]
            self.closed = any(closed)
            reset = True in closed[:-1]
        return None
