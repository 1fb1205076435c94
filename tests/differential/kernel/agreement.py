"""Trace, expected backends and packets must say the same; where they differ is the bug.

Works on any node's dumps, Services and slices, whoever wrote the rules: the caller brings a way to send packets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from svcpath.evidence.facts.kubernetes import EndpointSlice, Service
from svcpath.models.dataplanes import (
    Backend,
    Frontend,
    NodeView,
    Packet,
    PacketOutcome,
    PacketVerdict,
    ServiceTable,
    SliceIndex,
    Tracer,
    TrafficOrigin,
    drift,
    expected,
)
from tests.differential.kernel.services import Plan

#: Sends (role, requests, patience) and gives an answer each: [address, port, seen source], "refused" or "silence".
Probe = Callable[[str, Sequence[dict[str, Any]], float], list[Any]]
_CHUNK = 300


@dataclass(frozen=True)
class Sender:
    """Who sends: the role it has for the prober, its source address, and the origin that makes it."""

    role: str
    source: str
    origin: TrafficOrigin


@dataclass(frozen=True)
class Difference:
    frontend: str
    sender: str
    traced: str
    seen: str

    def __str__(self) -> str:
        return f"{self.frontend:40} from {self.sender:28} trace: {self.traced:40} packets: {self.seen}"


@dataclass(frozen=True)
class _Question:
    frontend: Frontend
    address: str
    sender: Sender
    outcome: PacketOutcome

    @property
    def count(self) -> int:
        """Enough that a backend of n equal ones is missed with a chance under 1 in 10,000."""
        if not self.outcome.backends:
            return 2
        return 4 if self.outcome.affinity is not None else 12 * len(self.outcome.backends) + 2


def compare(
    table: ServiceTable,
    services: Iterable[Service],
    slices: Iterable[EndpointSlice],
    node: NodeView,
    senders: Callable[[Frontend], Iterable[Sender]],
    probe: Probe,
    node_address: str,
) -> tuple[int, list[Difference]]:
    """Send to every frontend that the node should hold, from every sender. Returns what was asked, and what differs."""
    questions = []
    tracer = Tracer(table)
    index = SliceIndex(slices)
    for service in services:
        for item in expected(service, index.of(service), node):
            address = node_address if item.frontend.is_node_port else item.frontend.address
            own = [Sender("be", backend.address, TrafficOrigin.POD) for backend in item.cluster[:1]]
            for sender in (*senders(item.frontend), *own):
                packet = Packet(
                    sender.source, sender.origin, item.frontend.protocol, address, item.frontend.port, known=True
                )
                questions.append(_Question(item.frontend, address, sender, tracer.trace(packet)))
    local = {node_address}
    differences = []
    doubtful = _differing(questions, probe, local)
    # Other load can lose a packet: what differs is asked once more by itself.
    for question, wrong in _differing([question for question, _ in doubtful], probe, local):
        where = f"{question.sender.origin.value} {question.sender.source}"
        differences.append(Difference(str(question.frontend), where, _traced(question.outcome), wrong))
    return len(questions), differences


def _differing(questions: Sequence[_Question], probe: Probe, local: set[str]) -> list[tuple[_Question, str]]:
    answers = _ask(questions, probe)
    judged = (
        (question, _wrong(question, seen, question.address in local))
        for question, seen in zip(questions, answers, strict=True)
    )
    return [(question, wrong) for question, wrong in judged if wrong]


def disagreements(
    table: ServiceTable, services: Sequence[Service], slices: Sequence[EndpointSlice], node: NodeView
) -> list[str]:
    """Expected against traced: what drift says of rules that were written for these very objects."""
    report = drift(table, services, slices, node)
    rows = [f"{row.kind.value} {row.frontend} {row.backend or ''} {row.note} {row.text}" for row in report.rows]
    return rows + [f"undecided: {item}" for item in report.undecided]


def _ask(questions: Sequence[_Question], probe: Probe) -> list[list[Any]]:
    """Questions whose answer is silence are sent together, so that the waiting is done once."""
    by_question: list[list[Any]] = [[] for _ in questions]
    for quiet in (False, True):
        by_role: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for number, question in enumerate(questions):
            if _silent(question.outcome) is not quiet:
                continue
            request = {
                "source": question.sender.source,
                "address": question.address,
                "port": question.frontend.port,
                "protocol": question.frontend.protocol,
            }
            by_role.setdefault(question.sender.role, []).extend([(number, request)] * question.count)
        for role, requests in by_role.items():
            for start in range(0, len(requests), _CHUNK):
                chunk = requests[start : start + _CHUNK]
                patience = 0.4 if quiet else 0.8 if role == "be" else 2.5
                answers = probe(role, [request for _, request in chunk], patience)
                for (number, _), answer in zip(chunk, answers, strict=True):
                    by_question[number].append(answer)
    return by_question


def _silent(outcome: PacketOutcome) -> bool:
    return outcome.verdict in (PacketVerdict.DROP, PacketVerdict.NONE)


def _wrong(question: _Question, answers: list[Any], local: bool) -> str:
    """What is wrong with the answers, "" if nothing."""
    outcome = question.outcome
    if outcome.backends:
        return _wrong_backends(question, answers)
    if outcome.verdict is PacketVerdict.REJECT or (
        local and outcome.verdict in (PacketVerdict.NONE, PacketVerdict.ACCEPT)
    ):
        wanted = "refused"
    else:
        wanted = "silence"
    return "" if all(answer == wanted for answer in answers) else f"{_count(answers)}, not {wanted}"


def _wrong_backends(question: _Question, answers: list[Any]) -> str:
    outcome = question.outcome
    if question.sender.role == "be":
        # The backends share a namespace, which takes no packet that claims to come from itself: only the connection
        # to the sender's own address, which must be masqueraded, can be seen, and to others if all is masqueraded.
        masqueraded = {share.backend for share in outcome.backends if share.masquerade}
        own = [share for share in outcome.backends if share.backend.address == question.sender.source]
        answers = [answer for answer in answers if answer != "silence"]
        if outcome.other:
            answers = [answer for answer in answers if isinstance(answer, list)]
        strange = [
            answer
            for answer in answers
            if not isinstance(answer, list) or Backend(answer[0], answer[1]) not in masqueraded
        ]
        if strange:
            return f"a backend reached {_count(strange)}"
        certain = own and own[0].masquerade and outcome.affinity is None and not outcome.other
        if certain and not answers:
            return "a backend did not reach itself"
        return "" if all(answer[2] != question.sender.source for answer in answers) else "hairpin without masquerade"
    if outcome.other:
        lost = [answer for answer in answers if not isinstance(answer, list)]
        # A SYN that is dropped, or rejected on the node's own way out, is sent again after a second and may fare better.
        if not lost and question.frontend.protocol != "TCP":
            return "all reached a backend"
        answers = [answer for answer in answers if isinstance(answer, list)]
    if not all(isinstance(answer, list) for answer in answers):
        return _count(answers)
    reached = {Backend(address, port) for address, port, _ in answers}
    shares = {share.backend: share for share in outcome.backends}
    if not reached <= set(shares):
        return f"reached {sorted(map(str, reached - set(shares)))}"
    if outcome.affinity is None and reached != set(shares):
        return f"never reached {sorted(map(str, set(shares) - reached))}"
    if outcome.affinity is not None and outcome.affinity_complete and not outcome.other and len(reached) != 1:
        return f"affinity, yet reached {sorted(map(str, reached))}"
    for address, port, source in answers:
        if (source != question.sender.source) is not shares[Backend(address, port)].masquerade:
            return f"{address} saw {source}"
    return ""


def _traced(outcome: PacketOutcome) -> str:
    if not outcome.backends:
        return outcome.verdict.value
    masquerade = " masquerade" if outcome.masquerade else ""
    return f"{len(outcome.backends)} backends{masquerade}{' affinity' if outcome.affinity is not None else ''}"


def _count(answers: list[Any]) -> str:
    texts = [answer if isinstance(answer, str) else f"{answer[0]}:{answer[1]}" for answer in answers]
    return ", ".join(f"{texts.count(text)}x {text}" for text in sorted(set(texts)))


def senders_of(plan: Plan, _: Frontend) -> Iterator[Sender]:
    """A Pod, the node, and outside from within and without the source ranges."""
    yield Sender("pod", plan.pod, TrafficOrigin.POD)
    yield Sender("node", plan.node, TrafficOrigin.NODE)
    yield Sender("out", plan.outside, TrafficOrigin.EXTERNAL)
    yield Sender("out", plan.blocked, TrafficOrigin.EXTERNAL)
