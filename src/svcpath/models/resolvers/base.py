"""What a resolver model is: a pure generator of query batches that is sent the answers and ends in an outcome.

Tools run dig, which is no application's resolver. A model sends what the application's own resolver would send, in its order
and at its times (a virtual clock that starts at 0 with the lookup), and ends in what the application would see. It
knows no network: :func:`run` drives it with a world that answers (recorded answers, the CoreDNS model, a live server).

Where the real outcome depends on packet order or chance the model yields a :class:`Fork`; where the world does not know
an answer it says :class:`UnknownAnswer`. Either way every branch is run, so that nothing is ever picked silently.

Rcodes are IANA's names; three more say that there was no usable reply: TIMEOUT (silence), UNREACHABLE (ICMP port
unreachable, or a refused TCP connection) and CLOSED (the TCP connection ended before a reply).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol, TypeVar

import msgspec

from svcpath.errors import ModelError


class ResolverRule(msgspec.Struct, frozen=True, gc=False):
    """Why a resolver went on as it did: a sentence, and the source file, function and version it was read in."""

    text: str
    source: str


class Query(msgspec.Struct, frozen=True, gc=False):
    """One question on the wire.

    ``name`` as sent, without the final dot; ``sent`` and ``timeout`` in seconds (``sent`` on the lookup's own clock,
    ``timeout`` how long this send is waited for before the resolver does something else).
    """

    name: str
    type: str
    server: str
    transport: str = "udp"
    sent: float = 0.0
    timeout: float = 5.0
    edns: bool = False
    malformed: bool = False


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What came back for one query.

    ``addresses`` are those of the asked type; ``records`` counts the answer section (a CNAME without target: 1);
    ``cname`` is where a chain without an address ends, ``alias`` where one that leads to the addresses does; ``lame`` marks NOERROR, empty, not authoritative, no recursion.
    ``bare``: a header alone, as servers send it for a query that they can't read.
    ``delay`` is seconds from send to reply (0 when not recorded; among equals the order is open).
    """

    rcode: str
    addresses: tuple[str, ...] = ()
    records: int = 0
    cname: str = ""
    alias: str = ""
    lame: bool = False
    truncated: bool = False
    bare: bool = False
    authoritative: bool | None = None
    delay: float = 0.0
    note: str = ""

    @property
    def silent(self) -> bool:
        return self.rcode in ("TIMEOUT", "UNREACHABLE", "CLOSED")

    @property
    def plain(self) -> bool:
        """A whole reply, at once, that says that the name has records, has none of the type, or does not exist."""
        return (
            (self.rcode == "NXDOMAIN" or (self.rcode == "NOERROR" and not self.lame))
            and not self.truncated
            and self.delay == 0.0
        )

    @property
    def nodata(self) -> bool:
        return self.rcode == "NOERROR" and not self.addresses

    @property
    def label(self) -> str:
        """The answer in a word, as a person would say it."""
        if self.truncated:
            return "truncated"
        if self.rcode == "NOERROR":
            if self.addresses:
                return ", ".join(self.addresses)
            if self.lame:
                return "lame (empty, no authority, no recursion)"
            return f"CNAME {self.cname} without address" if self.records else "NODATA"
        return self.rcode


class UnknownAnswer(msgspec.Struct, frozen=True, gc=False):
    """The world can't say what the answer is: why, and the answers it might be (label, then the answer by type)."""

    reason: str
    alternatives: tuple[tuple[str, Answer], ...] = ()


class Batch(msgspec.Struct, frozen=True, gc=False):
    """Queries that are in flight together, and the rule that led to them.

    ``ordered`` is False for parallel senders: the order inside the batch is chance. ``racy`` says that how often each
    is sent depends on packet timing.
    """

    queries: tuple[Query, ...]
    rule: ResolverRule
    ordered: bool = False
    racy: bool = False


class Fork(msgspec.Struct, frozen=True, gc=False):
    """A point where chance or packet order decides; the model is sent the index of the label to follow."""

    reason: str
    labels: tuple[str, ...]


class LookupOutcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What the application sees.

    ``code`` is the symbol (EAI_NODATA, ARES_ENOTFOUND, NXDOMAIN, ...), ``number`` its value where it has one, ``text``
    the message in the application's own words, ``flags`` Go's IsNotFound/IsTemporary/IsTimeout. ``seconds`` is when
    the lookup returns; ``memory`` what the process keeps for its next lookup.
    """

    ok: bool
    addresses: tuple[str, ...] = ()
    code: str = ""
    number: int | None = None
    text: str = ""
    flags: tuple[str, ...] = ()
    rule: ResolverRule
    seconds: float = 0.0
    memory: tuple[str, ...] = ()

    @property
    def crashed(self) -> bool:
        """The process dies in the lookup (``number`` is the signal, negative) or never comes back from it (HANG)."""
        return self.code.startswith("SIG") or self.code == "HANG"

    @property
    def same(self) -> tuple[object, ...]:
        """What makes two outcomes one for the application."""
        return (self.ok, tuple(sorted(self.addresses)), self.code, self.text, self.flags)


class Step(msgspec.Struct, frozen=True, gc=False):
    batch: Batch
    answers: tuple[Answer, ...]


class Trace(msgspec.Struct, frozen=True, gc=False):
    """One way a lookup can go; ``assumed`` names what chance or an unknown answer was taken to be."""

    steps: tuple[Step, ...]
    outcome: LookupOutcome
    assumed: tuple[str, ...] = ()

    @property
    def queries(self) -> tuple[Query, ...]:
        return tuple(query for step in self.steps for query in step.batch.queries)


class Resolution(msgspec.Struct, frozen=True, gc=False):
    """A name as one resolver sees it: every way it can go. ``complete`` is False when branches were left out."""

    resolver: str
    name: str
    traces: tuple[Trace, ...]
    complete: bool = True

    @property
    def trace(self) -> Trace:
        return self.traces[0]

    @property
    def outcome(self) -> LookupOutcome | None:
        """The outcome if every branch ends alike, else None: it depends on what ``assumed`` names."""
        first = self.traces[0].outcome
        if not self.complete or any(trace.outcome.same != first.same for trace in self.traces[1:]):
            return None
        return first

    @property
    def outcomes(self) -> tuple[LookupOutcome, ...]:
        """The different outcomes that are possible, in order of discovery."""
        seen: dict[tuple[object, ...], LookupOutcome] = {}
        for trace in self.traces:
            seen.setdefault(trace.outcome.same, trace.outcome)
        return tuple(seen.values())


T = TypeVar("T")
Part = Generator["Batch | Fork", "tuple[Answer, ...] | int", T]
Asking = Part[LookupOutcome]


class Model(Protocol):
    """A resolver with its configuration read. ``key`` is how users name it, ``title`` how it is shown."""

    @property
    def key(self) -> str: ...
    @property
    def title(self) -> str: ...
    def lookup(self, name: str, memory: tuple[str, ...] = ()) -> Asking: ...


class World(Protocol):
    def answer(self, query: Query) -> Answer | UnknownAnswer: ...


def ask(batch: Batch) -> Part[tuple[Answer, ...]]:
    """Yield a batch and return its answers (narrows what the model is sent)."""
    sent = yield batch
    if isinstance(sent, int):
        raise ModelError("a batch must be sent answers, not a choice")
    return sent


def choose(fork: Fork) -> Part[int]:
    sent = yield fork
    if not isinstance(sent, int):
        raise ModelError("a fork must be sent a choice, not answers")
    return sent


UNKNOWN_ADDRESS = "?"
ALTERNATIVES: tuple[tuple[str, Answer], ...] = (
    ("it has an address", Answer("NOERROR", (UNKNOWN_ADDRESS,), 1)),
    ("NXDOMAIN", Answer("NXDOMAIN")),
    ("NODATA", Answer("NOERROR")),
    ("SERVFAIL", Answer("SERVFAIL")),
)
MALFORMED = Answer("FORMERR", note="the query itself is malformed: a server answers FORMERR or nothing")
#: A name longer than 255 octets on the wire (RFC 1035 section 2.3.4) is nothing that a server can read.
UNREADABLE = Answer("FORMERR", bare=True, note="the name is longer than DNS can carry")
MAX_TRACES = 128
MAX_STEPS = 4096
UNFINISHED = ResolverRule(f"not followed beyond {MAX_STEPS} rounds of queries", "svcpath")


def _unfinished(batch: Batch) -> LookupOutcome:
    text = f"still asking after {MAX_STEPS} rounds of queries (attempts and search list without a sane limit)"
    return LookupOutcome(ok=False, code="UNFINISHED", text=text, rule=UNFINISHED, seconds=batch.queries[-1].sent)


def run(
    model: Model, name: str, world: World, memory: tuple[str, ...] = (), max_traces: int = MAX_TRACES
) -> Resolution:
    """Drive one lookup to every end it can have."""
    pending: list[tuple[int, ...]] = [()]
    traces: list[Trace] = []
    while pending and len(traces) < max_traces:
        traces.append(_drive(model.lookup(name, memory), world, pending))
    return Resolution(model.key, name, tuple(traces), not pending)


def _drive(asking: Asking, world: World, pending: list[tuple[int, ...]]) -> Trace:
    prefix = pending.pop()
    taken: list[int] = []
    assumed: list[str] = []
    believed: dict[str, int] = {}
    steps: list[Step] = []

    def decide(count: int) -> int:
        position = len(taken)
        if position < len(prefix):
            choice = prefix[position]
        else:
            choice = 0
            pending.extend((*taken, other) for other in range(count - 1, 0, -1))
        taken.append(choice)
        return choice

    answer_of = world.answer
    try:
        request = next(asking)
        while True:
            if isinstance(request, Batch):
                answers = []
                for query in request.queries:
                    answer = answer_of(query)
                    if query.malformed and (isinstance(answer, UnknownAnswer) or not answer.silent):
                        answer = MALFORMED
                    if isinstance(answer, UnknownAnswer):
                        alternatives = answer.alternatives or ALTERNATIVES
                        key = query.name.lower()
                        if key not in believed:
                            believed[key] = decide(len(alternatives))
                            assumed.append(f"{query.name}: {alternatives[believed[key]][0]} ({answer.reason})")
                        answer = _typed(alternatives[min(believed[key], len(alternatives) - 1)][1], query.type)
                    answers.append(answer)
                got = tuple(answers)
                steps.append(Step(request, got))
                if len(steps) > MAX_STEPS:
                    return Trace(tuple(steps), _unfinished(request), tuple(assumed))
                request = asking.send(got)
            else:
                choice = decide(len(request.labels))
                assumed.append(f"{request.reason}: {request.labels[choice]}")
                request = asking.send(choice)
    except StopIteration as stop:
        outcome: LookupOutcome = stop.value
        return Trace(tuple(steps), outcome, tuple(assumed))


def _typed(answer: Answer, rrtype: str) -> Answer:
    """An unknown address is taken to be of the A type alone: the poorer assumption for a resolver that wants both."""
    if answer.addresses == (UNKNOWN_ADDRESS,) and rrtype != "A":
        return Answer("NOERROR")
    return answer
