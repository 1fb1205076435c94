"""The contract ``svcpath.budget/v1``: the drains of one or several workloads on a shutdown timeline.

``terms`` and ``margins`` at the top are those of the workload with the worst outcome; ``workloads`` has them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

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

#: A value of BudgetOutcome, and of a whole report also that there is no workload.
OutcomeWord = Annotated[str, msgspec.Meta(pattern="^(?:holds|does-not-hold|undetermined)$")]
WorstOutcomeWord = Annotated[str, msgspec.Meta(pattern="^(?:holds|does-not-hold|undetermined|none)$")]


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
    """One container's stop: ``hook`` seconds (null: not known), ``signal`` its stopSignal where the manifest sets it.
    ``stopped_by_hook``: seconds after which the hook itself stops the application (null: it does not)."""

    name: str
    hook: float | None
    spelling: str
    assumed: tuple[str, ...]
    on_path: bool
    sidecar: bool
    signal: str
    stopped_by_hook: float | None = None


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
    """``outcome``: holds, does-not-hold, or undetermined (it depends on what is not known)."""

    kind: str
    namespace: str
    name: str
    file: str
    line: int
    serves: bool
    grace: int
    grace_is_default: bool
    on_signal: str
    outcome: OutcomeWord
    containers: tuple[ContainerRecord, ...]
    terms: tuple[TermRecord, ...]
    margins: tuple[MarginRecord, ...]
    limits: tuple[LimitRecord, ...]
    bounded: bool
    first_to_change: str
    patch: PatchRecord | None


class UnreadRecord(Record, frozen=True, kw_only=True):
    """What was given and could not be read, so that a workload in it is not among ``workloads``."""

    file: str
    line: int
    why: str


class BudgetContract(Record, frozen=True, kw_only=True):
    schema: str
    outcome: WorstOutcomeWord
    terms: tuple[TermRecord, ...]
    margins: tuple[MarginRecord, ...]
    workloads: tuple[WorkloadRecord, ...]
    findings: tuple[BudgetFinding, ...]
    not_read: tuple[UnreadRecord, ...] = ()


class BudgetRequest(msgspec.Struct, frozen=True):
    """What the user said: terms, behaviour on the signal, containers on the path, one workload's name. ``unlisted``: resources
    that may stand in front and could not be listed."""

    given: GivenTerms | None = None
    on_signal: OnSignal | None = None
    path: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    kind: str = ""
    name: str = ""
    namespace: str = ""


def budget_report(
    observations: Sequence[Observation[Any]], asked: BudgetRequest, places: Places | None = None
) -> BudgetContract:
    """The budgets of every workload (and bare Pod) among ``observations``."""
    present = [observation for observation in observations if observation.state is State.PRESENT]
    services = tuple(observation.value for observation in present if isinstance(observation.value, Service))
    beside = Beside(observation.value for observation in present if isinstance(observation.value, OtherObject))
    health = tuple(observation.value for observation in present if isinstance(observation.value, LoadBalancerHealth))
    disruptions = tuple(
        observation.value for observation in present if isinstance(observation.value, PodDisruptionBudget)
    )
    where = {id(observation.value): observation for observation in present}
    records: list[WorkloadRecord] = []
    findings: list[BudgetFinding] = []
    for observation in present:
        obj = observation.value
        if not isinstance(obj, Object) or not _meant(obj, asked):
            continue
        subject = _subject(obj, services, asked)
        if subject is None:
            continue
        others = beside.of(subject.services)
        found = budget(
            subject,
            others=others,
            health=health,
            unlisted=asked.unlisted,
            given=asked.given,
            on_signal=asked.on_signal,
        )
        around = Around(
            obj=obj,
            others=others,
            disruptions=disruptions,
            health=health,
            ipvs=_ipvs(present),
            quiescent=_sysctl(present, "net.ipv4.vs.expire_quiescent_template"),
        )
        records.append(_workload(found, observation))
        findings.extend(
            _finding(finding, where, places) for finding in (*_budget_findings(found, around), *lint(found, around))
        )
    records.sort(key=lambda record: (record.file, record.line, record.kind, record.name))
    order = [BudgetOutcome.DOES_NOT_HOLD.value, BudgetOutcome.UNDETERMINED.value, BudgetOutcome.HOLDS.value]
    worst = min(records, key=lambda record: (order.index(record.outcome), not record.serves), default=None)
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
    """Objects that did not parse; where no workload was found also the unrecognized files."""
    for observation in present:
        if isinstance(observation.value, Damaged) or (isinstance(observation.value, Unplaced) and not found):
            line = observation.value.line if isinstance(observation.value, Damaged) else 0
            yield UnreadRecord(file=observation.provenance.path, line=line, why=observation.value.why)


def _subject(value: Object, services: Sequence[Service], asked: BudgetRequest) -> Subject | None:
    """The workload; ReplicaSets and Pods that another workload made are judged at their owner."""
    if pod_spec(value) is None:
        return None
    if any(owner.controller for owner in value.metadata.owner_references or ()):
        return None
    return subject_of(value, services, path=asked.path)


def _meant(value: Object, asked: BudgetRequest) -> bool:
    if asked.namespace and value.namespace not in ("", asked.namespace):
        return False
    return (not asked.name or value.name == asked.name) and (not asked.kind or value.kind == asked.kind)


def _ipvs(present: Sequence[Observation[Any]]) -> bool:
    return any(
        observation.kind is Kind.KUBE_PROXY_CONFIG and observation.fact.mode == "ipvs" for observation in present
    ) or any(observation.kind in (Kind.PROC_IP_VS, Kind.IPVSADM_LN) for observation in present)


def _sysctl(present: Sequence[Observation[Any]], key: str) -> str | None:
    for observation in present:
        if observation.kind is Kind.SYSCTL and key in observation.fact.values:
            return str(observation.fact.values[key])
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


def _workload(found: Budget, observation: Observation[Any]) -> WorkloadRecord:
    subject = found.subject
    return WorkloadRecord(
        kind=subject.kind,
        namespace=subject.namespace,
        name=subject.name,
        file=observation.provenance.path,
        line=observation.provenance.line,
        serves=subject.serves,
        grace=subject.grace,
        grace_is_default=subject.grace_is_default,
        on_signal=found.on_signal.value if found.on_signal else "unknown",
        outcome=found.outcome.value,
        containers=tuple(
            ContainerRecord(
                name=container.name,
                hook=_finite(container.hook.low) if container.hook.known else None,
                spelling=container.hook.spelling,
                assumed=container.hook.assumed,
                on_path=container.on_path,
                sidecar=container.sidecar,
                signal=container.stop_signal,
                stopped_by_hook=container.hook.stop.at
                if container.hook.stop is not None and container.hook.stop.sure
                else None,
            )
            for container in subject.containers
        ),
        terms=tuple(_term(term) for term in found.terms),
        margins=_margin_rows(found.margins, found.finishing),
        limits=tuple(
            LimitRecord(name=limit.name, largest=_finite(limit.largest), finishing=_finite(limit.finishing))
            for limit in found.limits
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
    """SP708 where the drain does not hold for certain and no rule names a simpler reason."""
    subject = found.subject
    if found.outcome is not BudgetOutcome.DOES_NOT_HOLD or any(
        container.hook.low >= subject.grace > 0 for container in subject.ordinary
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


def _finding(rule: LintFinding, where: dict[int, Observation[Any]], places: Places | None) -> BudgetFinding:
    observation = where.get(id(rule.obj))
    path = observation.provenance.path if observation else ""
    start = observation.provenance.line if observation else 0
    line, column = start, 0
    if places is not None and path:
        line, column = places.at(path, rule.obj.kind, rule.obj.namespace, rule.obj.name, rule.field, start)
    name = f"{rule.obj.namespace}/{rule.obj.name}" if rule.obj.namespace else rule.obj.name
    return BudgetFinding(
        code=rule.code,
        level=rule.level.value,
        message=rule.message,
        title=entry(rule.code).title,
        file=path,
        line=line,
        column=column,
        object=f"{rule.obj.kind} {name}",
    )
