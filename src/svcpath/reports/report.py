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
from svcpath.reports import records
from svcpath.reports.records import SCHEMA, Record, Report
from svcpath.walk.picture.backends import BackendRow


class _Ids:
    """Gives observations ids in the order in which findings first rest on them."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self.observations: list[Observation[Any]] = []

    def of(self, observation: Observation[Any] | None) -> str | None:
        if observation is None:
            return None
        if id(observation) not in self._ids:
            self._ids[id(observation)] = f"o{len(self._ids) + 1}"
            self.observations.append(observation)
        return self._ids[id(observation)]


def report(diagnosis: Diagnosis) -> Report:
    """Write a Diagnosis in the form of the contract."""
    ids = _Ids()
    findings: list[records.Finding] = []
    layers: list[records.Layer] = []
    for result in diagnosis.layers:
        start = len(findings)
        findings.extend(_finding(finding, ids) for finding in result.findings)
        layers.append(_layer(result, tuple(range(start, len(findings)))))
    for observation in diagnosis.unread:
        ids.of(observation)
    request, verdict = diagnosis.request, diagnosis.verdict
    return Report(
        schema=SCHEMA,
        target=records.Target(
            namespace=request.namespace,
            service=request.service,
            port=request.port,
            client=request.client,
            client_node=request.client_node,
            name=request.lookup,
            resolver=request.resolver,
            symptom=request.symptom,
        ),
        verdict=records.Verdict(
            status=verdict.status,
            layer=verdict.layer,
            cause_layer=verdict.cause_layer,
            code=verdict.code or None,
            finding=_place(verdict.finding, diagnosis.layers),
            confidence=verdict.confidence,
            summary=verdict.summary,
        ),
        layers=tuple(layers),
        findings=tuple(findings),
        observations=tuple(_observation(observation, ids) for observation in tuple(ids.observations)),
        not_looked_at=tuple(
            dict.fromkeys(
                records.Gap(layer=gap.layer, what=gap.what, why=gap.why, command=gap.command)
                for gap in diagnosis.not_looked_at
            )
        ),
        changes=tuple(records.Change(at=change.at, what=change.what, who=change.who) for change in diagnosis.changes),
        path=tuple(
            records.Hop(kind=hop.kind, name=hop.name, facts=hop.facts, layers=hop.layers) for hop in diagnosis.path.hops
        ),
        backends=tuple(_backend(row) for row in diagnosis.path.backends.rows),
        planes=tuple(
            records.NodeOutcomes(node=node.node, mode=node.mode, frontends=dict(node.outcomes))
            for node in diagnosis.path.backends.nodes
        ),
    )


def _place(deciding: Finding | None, layers: tuple[LayerResult, ...]) -> int | None:
    """The deciding finding's place among all findings of the layers, in order."""
    if deciding is None:
        return None
    every = [found for layer in layers for found in layer.findings]
    return next(number for number, found in enumerate(every) if found is deciding)


def _backend(row: BackendRow) -> records.BackendRow:
    return records.BackendRow(
        address=row.address,
        pod=row.pod,
        node=row.node,
        zone=row.zone,
        slice=row.slice,
        ready=row.ready,
        serving=row.serving,
        terminating=row.terminating,
        pod_ready=row.pod_ready,
        pod_state=row.pod_state,
        restarts=row.restarts,
        ports=tuple(
            records.PortChain(
                service_port=chain.service_port,
                target_port=chain.target_port,
                slice_port=chain.slice_port,
                socket=chain.reach,
                listens_on=chain.others,
            )
            for chain in row.ports
        ),
        tables=tuple(
            records.InTable(
                node=entry.node,
                frontend=entry.frontend,
                port=entry.port,
                state=entry.state.value,
                share=f"{entry.share.numerator}/{entry.share.denominator}" if entry.share is not None else "",
                path=entry.path,
                line=entry.line,
            )
            for entry in row.tables
        ),
    )


def _layer(result: LayerResult, indices: tuple[int, ...]) -> records.Layer:
    return records.Layer(
        name=result.name,
        status=result.status,
        decisive=result.decisive,
        sentence=result.sentence,
        findings=indices,
    )


def _finding(finding: Finding, ids: _Ids) -> records.Finding:
    return records.Finding(
        code=finding.code,
        layer=finding.layer,
        status=finding.status,
        sentence=finding.sentence,
        share=finding.share,
        details=finding.details,
        remedy=finding.remedy,
        evidence=_evidence(finding.evidence, ids),
        hypotheses=tuple(_hypothesis(hypothesis, ids) for hypothesis in finding.hypotheses),
    )


def _hypothesis(hypothesis: Hypothesis, ids: _Ids) -> records.Hypothesis:
    return records.Hypothesis(
        cause=hypothesis.cause,
        layer=hypothesis.layer,
        confidence=hypothesis.confidence,
        supports=_evidence(hypothesis.supports, ids),
        against=_evidence(hypothesis.against, ids),
        disproof=hypothesis.disproof.command if hypothesis.disproof else "",
        refutes=hypothesis.disproof.refutes if hypothesis.disproof else "",
    )


def _evidence(evidence: tuple[Evidence, ...], ids: _Ids) -> tuple[records.Evidence, ...]:
    return tuple(
        records.Evidence(
            sentence=piece.sentence,
            command=piece.command,
            path=piece.path,
            line=piece.line,
            observation=ids.of(piece.observation),
        )
        for piece in evidence
    )


def _observation(observation: Observation[Any], ids: _Ids) -> records.Observation:
    where = observation.provenance
    return records.Observation(
        id=ids.of(observation) or "",
        kind=observation.kind.value,
        state=observation.state.value,
        source=where.source,
        command=where.command,
        path=where.path,
        line=where.line,
        node=where.node,
        pod=where.pod,
        container=where.container,
        at=where.at,
        reason=observation.why,
    )


def encode(record: Record) -> bytes:
    """JSON with two spaces of indent and a final newline; lone surrogates of hostile input are replaced, and what a
    terminal would obey (C1 controls, DEL, bidi statuses, odd line ends) stands as an escape: RFC 8259 section 7 lets any
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
        return {_clean(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return value


def decode(raw: bytes) -> Report:
    """Read a saved report. Raises msgspec.ValidationError or msgspec.DecodeError; callers name the file."""
    return msgspec.json.decode(raw, type=Report)
