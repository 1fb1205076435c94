"""The contract ``svcpath.budget/v1``: the drains of one or several workloads on the clock of one deletion.

``terms`` and ``margins`` at the top are those of the workload with the worst outcome; ``workloads`` has them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import Object, OtherObject, PodDisruptionBudget, Service
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import LoadBalancerHealth
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.facts.text import Damaged, Unplaced
from svcpath.evidence.formats.places import Places
from svcpath.findings.catalogue import entry
from svcpath.models.drain.beside import Beside
from svcpath.models.drain.budget import GRACEFUL_EXIT, NEW_CONNECTIONS, REQUESTS, Budget, BudgetOutcome, budget
from svcpath.models.drain.clock import Margins, OnSignal
from svcpath.models.drain.lint import Around, Level, LintFinding, lint
from svcpath.models.drain.subject import Subject, pod_spec, subject_of
from svcpath.models.drain.terms import GivenTerms, Term
from svcpath.reports.records import Record

SCHEMA = "svcpath.budget/v1"


class TermRecord(Record, frozen=True, kw_only=True):
    """``seconds`` is null for an unknown term, which lies between ``low`` and ``high`` (null: no upper bound)."""

    name: str
    seconds: float | None
    origin: str
    low: float
    high: float | None
    detail: str


class MarginRecord(Record, frozen=True, kw_only=True):
    """``seconds`` with every unknown term at its best and, where the behaviour on the signal is not known, for an
    application that exits on it; ``finishing`` for one that finishes its requests (null: the same question was settled).
    Null seconds: it never ends by itself."""

    name: str
    seconds: float | None
    finishing: float | None


class LimitRecord(Record, frozen=True, kw_only=True):
    """The largest value of an unknown term that still holds, the other unknowns at their best."""

    name: str
    largest: float | None
    finishing: float | None


class ContainerRecord(Record, frozen=True, kw_only=True):
    """One container's stop: ``hook`` seconds (null: not known), ``signal`` its stop signal where the manifest says it.
    ``told_by_hook``: seconds after which the hook itself tells the application to stop (null: it does not)."""

    name: str
    hook: float | None
    spelling: str
    assumed: tuple[str, ...]
    on_path: bool
    sidecar: bool
    signal: str
    told_by_hook: float | None = None


class PatchRecord(Record, frozen=True, kw_only=True):
    grace: int
    pre_stop: dict[str, int]
    assumptions: tuple[str, ...]
    text: str


class BudgetFinding(Record, frozen=True, kw_only=True):
    """A lint finding. ``level`` is error, warning or note; ``line`` and ``column`` count from 1, 0 is unknown."""

    code: str
    level: str
    message: str
    title: str
    file: str
    line: int
    column: int
    object: str


class WorkloadRecord(Record, frozen=True, kw_only=True):
    """``outcome``: holds, lost, or open (it depends on what is not known)."""

    kind: str
    namespace: str
    name: str
    file: str
    line: int
    serves: bool
    grace: int
    grace_is_default: bool
    on_signal: str
    outcome: str
    containers: tuple[ContainerRecord, ...]
    terms: tuple[TermRecord, ...]
    margins: tuple[MarginRecord, ...]
    limits: tuple[LimitRecord, ...]
    bounded: bool
    first_to_change: str
    patch: PatchRecord | None


class UnreadRecord(Record, frozen=True, kw_only=True):
    """What is in the evidence and could not be read, so that a workload in it is not among ``workloads``."""

    file: str
    line: int
    why: str


class BudgetContract(Record, frozen=True, kw_only=True):
    schema: str
    outcome: str
    terms: tuple[TermRecord, ...]
    margins: tuple[MarginRecord, ...]
    workloads: tuple[WorkloadRecord, ...]
    findings: tuple[BudgetFinding, ...]
    not_read: tuple[UnreadRecord, ...] = ()


class BudgetRequest(msgspec.Struct, frozen=True):
    """What the user said: terms, behaviour on the signal, containers on the path, one workload's name."""

    given: GivenTerms | None = None
    on_signal: OnSignal | None = None
    path: tuple[str, ...] = ()
    kind: str = ""
    name: str = ""
    namespace: str = ""


def budget_report(
    observations: Sequence[Observation[Any]], asked: BudgetRequest, places: Places | None = None
) -> BudgetContract:
    """The budgets of every workload (and bare Pod) among ``observations``."""
    present = [one for one in observations if one.state is State.PRESENT]
    services = tuple(one.value for one in present if isinstance(one.value, Service))
    beside = Beside(one.value for one in present if isinstance(one.value, OtherObject))
    health = tuple(one.value for one in present if isinstance(one.value, LoadBalancerHealth))
    disruptions = tuple(one.value for one in present if isinstance(one.value, PodDisruptionBudget))
    where = {id(one.value): one for one in present}
    records: list[WorkloadRecord] = []
    findings: list[BudgetFinding] = []
    for one in present:
        obj = one.value
        if not isinstance(obj, Object) or not _meant(obj, asked):
            continue
        subject = _subject(obj, services, asked)
        if subject is None:
            continue
        others = beside.of(subject.services)
        found = budget(subject, others=others, health=health, given=asked.given, on_signal=asked.on_signal)
        around = Around(
            obj=obj,
            others=others,
            disruptions=disruptions,
            health=health,
            ipvs=_ipvs(present),
            quiescent=_sysctl(present, "net.ipv4.vs.expire_quiescent_template"),
        )
        records.append(_workload(found, one))
        findings.extend(
            _finding(each, where, places) for each in (*_budget_findings(found, around), *lint(found, around))
        )
    records.sort(key=lambda one: (one.file, one.line, one.kind, one.name))
    order = [BudgetOutcome.DOES_NOT_HOLD.value, BudgetOutcome.UNDETERMINED.value, BudgetOutcome.HOLDS.value]
    worst = min(records, key=lambda one: (order.index(one.outcome), not one.serves), default=None)
    return BudgetContract(
        schema=SCHEMA,
        outcome=worst.outcome if worst else "none",
        terms=worst.terms if worst else (),
        margins=worst.margins if worst else (),
        workloads=tuple(records),
        findings=tuple(dict.fromkeys(findings)),
        not_read=tuple(_unread(present, bool(records))),
    )


def _unread(present: Sequence[Observation[Any]], found: bool) -> Iterator[UnreadRecord]:
    """Objects that did not parse; where no workload was found also the files of no known kind."""
    for one in present:
        if isinstance(one.value, Damaged) or (isinstance(one.value, Unplaced) and not found):
            line = one.value.line if isinstance(one.value, Damaged) else 0
            yield UnreadRecord(file=one.provenance.path, line=line, why=one.value.why)


def _subject(value: Object, services: Sequence[Service], asked: BudgetRequest) -> Subject | None:
    """The workload; ReplicaSets and Pods that another workload made are judged at their owner."""
    if pod_spec(value) is None:
        return None
    if any(one.controller for one in value.metadata.owner_references or ()):
        return None
    return subject_of(value, services, path=asked.path)


def _meant(value: Object, asked: BudgetRequest) -> bool:
    if asked.namespace and value.namespace not in ("", asked.namespace):
        return False
    return (not asked.name or value.name == asked.name) and (not asked.kind or value.kind == asked.kind)


def _ipvs(present: Sequence[Observation[Any]]) -> bool:
    return any(one.kind is Kind.KUBE_PROXY_CONFIG and one.fact.mode == "ipvs" for one in present) or any(
        one.kind in (Kind.PROC_IP_VS, Kind.IPVSADM_LN) for one in present
    )


def _sysctl(present: Sequence[Observation[Any]], key: str) -> str | None:
    for one in present:
        if one.kind is Kind.SYSCTL and key in one.fact.values:
            return str(one.fact.values[key])
    return None


# --- records ------------------------------------------------------------------------------------------------------


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else round(float(value), 6)


def _term(term: Term) -> TermRecord:
    return TermRecord(
        name=term.name,
        seconds=_finite(term.seconds),
        origin=term.origin.value,
        low=float(term.low),
        high=_finite(term.high),
        detail=term.detail,
    )


def _margin_rows(first: Margins, finishing: Margins | None) -> tuple[MarginRecord, ...]:
    other = finishing or first
    rows = (
        (NEW_CONNECTIONS, first.new_connections, other.new_connections),
        (REQUESTS, first.requests, other.requests),
        (GRACEFUL_EXIT, first.graceful_exit, other.graceful_exit),
    )
    return tuple(
        MarginRecord(name=name, seconds=_finite(seconds), finishing=_finite(second) if second != seconds else None)
        for name, seconds, second in rows
    )


def _workload(found: Budget, one: Observation[Any]) -> WorkloadRecord:
    subject = found.subject
    return WorkloadRecord(
        kind=subject.kind,
        namespace=subject.namespace,
        name=subject.name,
        file=one.provenance.path,
        line=one.provenance.line,
        serves=subject.serves,
        grace=subject.grace,
        grace_is_default=subject.grace_is_default,
        on_signal=found.on_signal.value if found.on_signal else "unknown",
        outcome=found.outcome.value,
        containers=tuple(
            ContainerRecord(
                name=each.name,
                hook=_finite(each.hook.low) if each.hook.known else None,
                spelling=each.hook.spelling,
                assumed=each.hook.assumed,
                on_path=each.on_path,
                sidecar=each.sidecar,
                signal=each.stop_signal,
                told_by_hook=each.hook.stop.at if each.hook.stop is not None and each.hook.stop.sure else None,
            )
            for each in subject.containers
        ),
        terms=tuple(_term(term) for term in found.terms),
        margins=_margin_rows(found.margins, found.finishing),
        limits=tuple(
            LimitRecord(name=each.name, largest=_finite(each.largest), finishing=_finite(each.finishing))
            for each in found.limits
        ),
        bounded=found.bounded,
        first_to_change=found.first
        if found.outcome is BudgetOutcome.DOES_NOT_HOLD or found.margins.smallest <= 0
        else "",
        patch=_patch(found),
    )


def _patch(found: Budget) -> PatchRecord | None:
    patch = found.patch
    if patch is None or not found.subject.serves:
        return None
    return PatchRecord(grace=patch.grace, pre_stop=dict(patch.hooks), assumptions=patch.assumptions, text=patch.text)


def _budget_findings(found: Budget, around: Around) -> list[LintFinding]:
    """SP708 where the drain is lost for certain and no rule names a simpler reason."""
    subject = found.subject
    if found.outcome is not BudgetOutcome.DOES_NOT_HOLD or any(
        one.hook.low >= subject.grace > 0 for one in subject.ordinary
    ):
        return []
    shown = found.finishing or found.margins
    parts = [
        f"{name} {seconds:g} s" if seconds is not None else f"{name}: never by itself"
        for name, seconds in (
            (NEW_CONNECTIONS, shown.new_connections),
            (REQUESTS, shown.requests),
            (GRACEFUL_EXIT, shown.graceful_exit),
        )
        if seconds is None or seconds < 0
    ]
    return [
        LintFinding(
            "SP708",
            Level.ERROR,
            f"the drain of {subject.label} does not hold (grace {subject.grace} s): {', '.join(parts)}; "
            f"first to change: {found.first}",
            around.obj,
            found.first_field,
        )
    ]


def _finding(one: LintFinding, where: dict[int, Observation[Any]], places: Places | None) -> BudgetFinding:
    observation = where.get(id(one.obj))
    path = observation.provenance.path if observation else ""
    start = observation.provenance.line if observation else 0
    line, column = start, 0
    if places is not None and path:
        line, column = places.at(path, one.obj.kind, one.obj.namespace, one.obj.name, one.field, start)
    name = f"{one.obj.namespace}/{one.obj.name}" if one.obj.namespace else one.obj.name
    return BudgetFinding(
        code=one.code,
        level=one.level.value,
        message=one.message,
        title=entry(one.code).title,
        file=path,
        line=line,
        column=column,
        object=f"{one.obj.kind} {name}",
    )
