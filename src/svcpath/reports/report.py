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
    findings: list[records.Finding] = []
    layers: list[records.Layer] = []
    for result in diagnosis.layers:
        start = len(findings)
        findings.extend(_finding(one, ids) for one in result.findings)
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
        observations=tuple(_observation(one, ids) for one in tuple(ids.held)),
        not_looked_at=tuple(
            dict.fromkeys(
                records.Gap(layer=gap.layer, what=gap.what, why=gap.why, command=gap.command)
                for gap in diagnosis.not_looked_at
            )
        ),
        changes=tuple(records.Change(at=one.at, what=one.what, who=one.who) for one in diagnosis.changes),
        path=tuple(
            records.Hop(kind=one.kind, name=one.name, facts=one.facts, layers=one.layers) for one in diagnosis.path.hops
        ),
        backends=tuple(_backend(one) for one in diagnosis.path.backends.rows),
        planes=tuple(
            records.NodePlane(node=one.node, mode=one.mode, frontends=dict(one.outcomes))
            for one in diagnosis.path.backends.nodes
        ),
    )


def _place(deciding: Finding | None, layers: tuple[LayerResult, ...]) -> int | None:
    """The deciding finding's place among all findings of the layers, in order."""
    if deciding is None:
        return None
    every = [found for layer in layers for found in layer.findings]
    return next(number for number, found in enumerate(every) if found is deciding)


def _backend(one: BackendRow) -> records.BackendRow:
    return records.BackendRow(
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
            records.PortChain(
                service_port=each.service_port,
                target_port=each.target_port,
                slice_port=each.slice_port,
                socket=each.reach,
                listens_on=each.others,
            )
            for each in one.ports
        ),
        tables=tuple(
            records.InTable(
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


def _layer(result: LayerResult, indices: tuple[int, ...]) -> records.Layer:
    return records.Layer(
        name=result.name,
        status=result.status,
        decisive=result.decisive,
        sentence=result.sentence,
        findings=indices,
    )


def _finding(one: Finding, ids: _Ids) -> records.Finding:
    return records.Finding(
        code=one.code,
        layer=one.layer,
        status=one.status,
        sentence=one.sentence,
        share=one.share,
        details=one.details,
        remedy=one.remedy,
        evidence=_evidence(one.evidence, ids),
        hypotheses=tuple(_hypothesis(each, ids) for each in one.hypotheses),
    )


def _hypothesis(one: Hypothesis, ids: _Ids) -> records.Hypothesis:
    return records.Hypothesis(
        cause=one.cause,
        layer=one.layer,
        confidence=one.confidence,
        supports=_evidence(one.supports, ids),
        against=_evidence(one.against, ids),
        disproof=one.disproof.command if one.disproof else "",
        refutes=one.disproof.refutes if one.disproof else "",
    )


def _evidence(held: tuple[Evidence, ...], ids: _Ids) -> tuple[records.Evidence, ...]:
    return tuple(
        records.Evidence(
            sentence=one.sentence,
            command=one.command,
            path=one.path,
            line=one.line,
            observation=ids.of(one.observation),
        )
        for one in held
    )


def _observation(one: Observation[Any], ids: _Ids) -> records.Observation:
    where = one.provenance
    return records.Observation(
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
        return {_clean(key): _clean(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(one) for one in value]
    return value


def decode(raw: bytes) -> Report:
    """Read a saved report. Raises msgspec.ValidationError or msgspec.DecodeError; callers name the file."""
    return msgspec.json.decode(raw, type=Report)
