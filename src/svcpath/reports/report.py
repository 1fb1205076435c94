"""The contract ``svcpath.report/v1``: what ``diagnose -o json`` writes and every other form is made from.

Same input, same bytes: paths are relative to the evidence root, lists keep the walk's order, and there is no clock.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from svcpath.evidence.facts.observation import Observation
from svcpath.findings.finding import Evidence, Finding, Hypothesis
from svcpath.judge.judge import Diagnosis
from svcpath.judge.tally import LayerResult
from svcpath.walk.picture.backends import BackendRow

SCHEMA = "svcpath.report/v1"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all records of the contract."""


class TargetRecord(Record, frozen=True, kw_only=True):
    namespace: str
    service: str
    port: str
    client: str
    client_node: str
    name: str
    resolver: str
    symptom: str


class VerdictRecord(Record, frozen=True, kw_only=True):
    """``status``: healthy, warning, fault or inconclusive. ``confidence`` of the best hypothesis, or null. ``finding``: the
    one that decides, an index into the report's ``findings``, or null."""

    status: str
    layer: str | None
    cause_layer: str | None
    code: str | None
    finding: int | None
    confidence: str | None
    summary: str


class EvidenceRecord(Record, frozen=True, kw_only=True):
    """``observation`` is an id in ``observations``, or null for what follows from the API's rules alone."""

    sentence: str
    command: str
    place: str
    observation: str | None


class HypothesisRecord(Record, frozen=True, kw_only=True):
    cause: str
    layer: str
    confidence: str
    supports: tuple[EvidenceRecord, ...]
    against: tuple[EvidenceRecord, ...]
    disproof: str
    refutes: str


class FindingRecord(Record, frozen=True, kw_only=True):
    code: str
    layer: str
    status: str
    sentence: str
    share: str
    details: tuple[str, ...]
    remedy: str
    evidence: tuple[EvidenceRecord, ...]
    hypotheses: tuple[HypothesisRecord, ...]


class LayerRecord(Record, frozen=True, kw_only=True):
    """``findings`` are indices into the report's ``findings``."""

    name: str
    status: str
    decisive: bool
    sentence: str
    findings: tuple[int, ...]


class ObservationRecord(Record, frozen=True, kw_only=True):
    id: str
    kind: str
    state: str
    source: str
    command: str
    path: str
    line: int
    node: str
    pod: str
    container: str
    at: str | None
    reason: str


class NotTestedRecord(Record, frozen=True, kw_only=True):
    layer: str
    what: str
    why: str
    command: str


class ChangeRecord(Record, frozen=True, kw_only=True):
    at: str
    what: str
    who: str


class HopRecord(Record, frozen=True, kw_only=True):
    """One thing the connection passes; ``kind``: client, resolver, cluster-dns, service, slices, dataplane or pods.
    ``layers`` are those that judge it."""

    kind: str
    name: str
    facts: tuple[str, ...]
    layers: tuple[str, ...]


class ChainRecord(Record, frozen=True, kw_only=True):
    """A Service port down to the socket. ``slice_port`` null: no slice gives one. ``socket``: "listens", "nothing
    listens", "loopback only", ..., "not looked at", or "" where there is no port to look for."""

    service_port: str
    target_port: str
    slice_port: int | None
    socket: str
    listens_on: tuple[int, ...]


class InTableRecord(Record, frozen=True, kw_only=True):
    """The backend in one node's table; ``state``: held, missing, stale, wrong port or undecided."""

    node: str
    frontend: str
    port: int
    state: str
    share: str
    path: str
    line: int


class BackendRecord(Record, frozen=True, kw_only=True):
    """One address behind the Service. ``slice`` empty: no slice lists it; then the three conditions are null."""

    address: str
    pod: str
    node: str
    zone: str
    slice: str
    ready: bool | None
    serving: bool | None
    terminating: bool | None
    pod_ready: bool | None
    pod_state: str
    restarts: int
    ports: tuple[ChainRecord, ...]
    tables: tuple[InTableRecord, ...]


class PlaneRecord(Record, frozen=True, kw_only=True):
    """A node whose table was read: what a Pod's new connection meets at each cluster address of the Service."""

    node: str
    mode: str
    frontends: dict[str, str]


class Report(Record, frozen=True, kw_only=True):
    schema: str
    target: TargetRecord
    verdict: VerdictRecord
    layers: tuple[LayerRecord, ...]
    findings: tuple[FindingRecord, ...]
    observations: tuple[ObservationRecord, ...]
    not_looked_at: tuple[NotTestedRecord, ...]
    changes: tuple[ChangeRecord, ...]
    path: tuple[HopRecord, ...] = ()
    backends: tuple[BackendRecord, ...] = ()
    planes: tuple[PlaneRecord, ...] = ()


class _Ids:
    """Gives observations ids in the order in which findings first rest on them."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self.held: list[Observation[Any]] = []

    def of(self, one: Observation[Any] | None) -> str | None:
        if one is None:
            return None
        if id(one) not in self._ids:
            self._ids[id(one)] = f"o{len(self._ids) + 1}"
            self.held.append(one)
        return self._ids[id(one)]


def report(diagnosis: Diagnosis) -> Report:
    """Write a Diagnosis in the form of the contract."""
    ids = _Ids()
    findings: list[FindingRecord] = []
    layers: list[LayerRecord] = []
    for result in diagnosis.layers:
        start = len(findings)
        findings.extend(_finding(one, ids) for one in result.findings)
        layers.append(_layer(result, tuple(range(start, len(findings)))))
    for observation in diagnosis.unread:
        ids.of(observation)
    request, verdict = diagnosis.request, diagnosis.verdict
    return Report(
        schema=SCHEMA,
        target=TargetRecord(
            namespace=request.namespace,
            service=request.service,
            port=request.port,
            client=request.client,
            client_node=request.client_node,
            name=request.lookup,
            resolver=request.resolver,
            symptom=request.symptom,
        ),
        verdict=VerdictRecord(
            status=verdict.status,
            layer=verdict.layer,
            cause_layer=verdict.cause_layer,
            code=verdict.code or None,
            finding=_place(verdict.finding, diagnosis.layers),
            confidence=verdict.confidence.value if verdict.confidence else None,
            summary=verdict.summary,
        ),
        layers=tuple(layers),
        findings=tuple(findings),
        observations=tuple(_observation(one, ids) for one in tuple(ids.held)),
        not_looked_at=tuple(
            dict.fromkeys(
                NotTestedRecord(layer=gap.layer, what=gap.what, why=gap.why, command=gap.command)
                for gap in diagnosis.not_looked_at
            )
        ),
        changes=tuple(ChangeRecord(at=one.at, what=one.what, who=one.who) for one in diagnosis.changes),
        path=tuple(
            HopRecord(kind=one.kind, name=one.name, facts=one.facts, layers=one.layers) for one in diagnosis.path.hops
        ),
        backends=tuple(_backend(one) for one in diagnosis.path.backends.rows),
        planes=tuple(
            PlaneRecord(node=one.node, mode=one.mode, frontends=dict(one.outcomes))
            for one in diagnosis.path.backends.nodes
        ),
    )


def _place(deciding: Finding | None, layers: tuple[LayerResult, ...]) -> int | None:
    """The deciding finding's place among all findings of the layers, in order."""
    if deciding is None:
        return None
    every = [found for layer in layers for found in layer.findings]
    return next(number for number, found in enumerate(every) if found is deciding)


def _backend(one: BackendRow) -> BackendRecord:
    return BackendRecord(
        address=one.address,
        pod=one.pod,
        node=one.node,
        zone=one.zone,
        slice=one.slice,
        ready=one.ready,
        serving=one.serving,
        terminating=one.terminating,
        pod_ready=one.pod_ready,
        pod_state=one.pod_state,
        restarts=one.restarts,
        ports=tuple(
            ChainRecord(
                service_port=each.service_port,
                target_port=each.target_port,
                slice_port=each.slice_port,
                socket=each.reach,
                listens_on=each.others,
            )
            for each in one.ports
        ),
        tables=tuple(
            InTableRecord(
                node=each.node,
                frontend=each.frontend,
                port=each.port,
                state=each.state.value,
                share=f"{each.share.numerator}/{each.share.denominator}" if each.share is not None else "",
                path=each.path,
                line=each.line,
            )
            for each in one.tables
        ),
    )


def _layer(result: LayerResult, indices: tuple[int, ...]) -> LayerRecord:
    return LayerRecord(
        name=result.name,
        status=result.status.value,
        decisive=result.decisive,
        sentence=result.sentence,
        findings=indices,
    )


def _finding(one: Finding, ids: _Ids) -> FindingRecord:
    return FindingRecord(
        code=one.code,
        layer=one.layer,
        status=one.status.value,
        sentence=one.sentence,
        share=one.share,
        details=one.details,
        remedy=one.remedy,
        evidence=_evidence(one.evidence, ids),
        hypotheses=tuple(_hypothesis(each, ids) for each in one.hypotheses),
    )


def _hypothesis(one: Hypothesis, ids: _Ids) -> HypothesisRecord:
    return HypothesisRecord(
        cause=one.cause,
        layer=one.layer,
        confidence=one.confidence.value,
        supports=_evidence(one.supports, ids),
        against=_evidence(one.against, ids),
        disproof=one.disproof.command if one.disproof else "",
        refutes=one.disproof.refutes if one.disproof else "",
    )


def _evidence(held: tuple[Evidence, ...], ids: _Ids) -> tuple[EvidenceRecord, ...]:
    return tuple(
        EvidenceRecord(sentence=one.sentence, command=one.command, place=one.place, observation=ids.of(one.observation))
        for one in held
    )


def _observation(one: Observation[Any], ids: _Ids) -> ObservationRecord:
    where = one.provenance
    return ObservationRecord(
        id=ids.of(one) or "",
        kind=one.kind.value,
        state=one.state.value,
        source=where.source,
        command=where.command,
        path=where.path,
        line=where.line,
        node=where.node,
        pod=where.pod,
        container=where.container,
        at=where.at,
        reason=one.why,
    )


def encode(record: Record) -> bytes:
    """JSON with two spaces of indent and a final newline; lone surrogates of hostile input are replaced, and what a
    terminal would obey (C1 controls, DEL, bidi marks, odd line ends) stands as an escape: RFC 8259 section 7 lets any
    character be escaped, and none of these can stand outside a string."""
    try:
        raw = msgspec.json.encode(record)
    except UnicodeEncodeError:
        raw = msgspec.json.encode(_clean(msgspec.to_builtins(record)))
    text = _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", raw.decode())
    return msgspec.json.format(text.encode(), indent=2) + b"\n"


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(one) for one in value]
    return value


def decode(raw: bytes) -> Report:
    """Read a saved report. Raises msgspec.ValidationError or msgspec.DecodeError; callers name the file."""
    return msgspec.json.decode(raw, type=Report)
