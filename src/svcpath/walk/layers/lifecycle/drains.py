"""Whether the next deletion of a Pod can drain: preStop and grace period against what stands in front, budgets that block.

A risk to the next change on a path that passes now is a warning; a manifest on its own that can't hold is a fault. The
clock is models/drain's; this file only turns its answers into findings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from svcpath.evidence.facts.kubernetes import OtherObject, Service, Workload
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.drain.budget import Budget, BudgetOutcome, budget
from svcpath.models.drain.lint import Around, Level, LintFinding, lint
from svcpath.models.drain.subject import Subject, pod_spec, subject_of
from svcpath.models.drain.terms import REMOVAL
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.workloads import is_mine

#: Lint codes that a diagnosis reports; the others are for svcpath budget, which is asked about manifests alone.
REPORTED = frozenset({"SP706", "SP707", "SP710", "SP712", "SP715", "SP718"})
#: Of these, what a manifest on its own cannot survive.
FATAL = frozenset({"SP706", "SP715"})
#: Servers that go on answering for a while after their signal by themselves (CoreDNS: health's lameduck).
_WAITS_ITSELF = re.compile(r"(?:^|/)coredns(?:$|[:@/])")


def check(view: Scene, workloads: Reply) -> Asking[CheckResult]:
    mine = [
        workload
        for workload in workloads.present
        if is_mine(view, workload.fact) and workload.fact.spec.template is not None
    ]
    if not mine:
        return CheckResult(looked=False)
    namespace = view.request.namespace
    health = yield from ask.one(Need(Kind.LOAD_BALANCER_HEALTH))
    others = yield from ask.one(Need(Kind.OTHER_OBJECT, namespace=namespace))
    disruptions = yield from ask.one(
        Need(Kind.POD_DISRUPTION_BUDGET, namespace=namespace, permission="list poddisruptionbudgets.policy")
    )
    services: tuple[Service, ...] = (view.service,) if view.service is not None else ()
    beside = tuple(obj for obj in others.values if isinstance(obj, OtherObject))
    findings: list[Finding] = []
    phrases: list[str] = []
    for workload in mine:
        subject = subject_of(workload.fact, services)
        if subject is None:
            continue
        found = budget(subject, others=beside, health=health.values)
        around = Around(obj=workload.fact, others=beside, disruptions=tuple(disruptions.values))
        alone = not view.endpoints and not view.pods and workload.fact.status.observed_generation is None
        known = alone or bool(subject.services)
        given = [
            risk
            for risk in lint(found, around)
            if risk.code in REPORTED and not _excused(risk, workload.fact, subject, service_known=known)
        ]
        findings.extend(_finding(risk, workload, disruptions, fatal=alone and _fatal(risk)) for risk in given)
        if found.outcome is BudgetOutcome.DOES_NOT_HOLD and not any(_fatal(risk) for risk in given):
            findings.append(_lost(found, workload, alone))
        if not findings:
            phrases.append(_phrase(found, workload.fact))
    return CheckResult(
        findings=tuple(findings), phrase=", ".join(dict.fromkeys(phrase for phrase in phrases if phrase))
    )


def _fatal(risk: LintFinding) -> bool:
    return risk.code in FATAL and risk.level is Level.ERROR


def _excused(risk: LintFinding, workload: Workload, subject: Subject, *, service_known: bool) -> bool:
    """A missing preStop is no risk that the evidence shows where no container declares a port, where a running workload's
    Service is not in the evidence, or where the server waits by itself."""
    if risk.code != "SP707":
        return False
    if not service_known:
        return True
    spec = pod_spec(workload)
    declares = any(container.ports for container in (spec.containers or () if spec else ()))
    return not declares or any(_WAITS_ITSELF.search(container.image) for container in subject.on_path)


def _finding(risk: LintFinding, workload: Observation[Workload], disruptions: Reply, *, fatal: bool) -> Finding:
    obj = workload.fact
    seen = next((disruption for disruption in disruptions.present if disruption.value is risk.obj), workload)
    return finding(
        risk.code,
        Status.FAIL if fatal else Status.WARN,
        f"{obj.kind} {obj.name}: {risk.message}",
        evidence=(Evidence(_shown(obj, risk), seen),),
        confidence=Confidence.PROVEN if risk.code in ("SP706", "SP710", "SP712") else Confidence.SUPPORTED,
        cause=_CAUSES.get(risk.code, ""),
        namespace=obj.namespace or "default",
        kind=obj.kind.lower(),
        workload=obj.name,
    )


_CAUSES = {"SP706": "preStop runs inside the grace period and uses it up"}


def _shown(obj: Workload, risk: LintFinding) -> str:
    if risk.obj is not obj:
        return f"{risk.obj.kind} {risk.obj.name}: {'.'.join(str(step) for step in risk.field)}"
    subject = subject_of(obj)
    grace = "terminationGracePeriodSeconds is not set, so it is the default 30 s"
    if subject is not None and not subject.grace_is_default:
        grace = f"terminationGracePeriodSeconds {subject.grace}"
    waits = [
        f"{container.name} {container.hook.low:g} s{'' if container.hook.known else ' or more'}"
        for container in (subject.containers if subject else ())
        if container.hook.spelling
    ]
    return f"{obj.kind} {obj.name}: {grace}, preStop: {', '.join(waits) or 'none'}"


def _lost(found: Budget, workload: Observation[Workload], alone: bool) -> Finding:
    shown = found.finishing or found.margins
    margins: Sequence[tuple[str, float | None]] = (
        ("new connections", shown.new_connections),
        ("requests", shown.requests),
        ("graceful exit", shown.graceful_exit),
    )
    parts = [f"{name} {value:g} s" for name, value in margins if value is not None and value < 0] or ["it never ends"]
    removal = found.term(REMOVAL)
    front = f", load balancer removal {removal.low:g} s ({removal.detail})" if removal.low else ""
    return finding(
        "SP708",
        Status.FAIL if alone else Status.WARN,
        f"{workload.fact.kind} {workload.fact.name}: the drain does not hold (grace {found.subject.grace} s{front}): "
        f"{', '.join(parts)}; first to change: {found.first}",
        evidence=(Evidence(_shown(workload.fact, LintFinding("SP708", Level.ERROR, "", workload.fact, ())), workload),),
        namespace=workload.fact.namespace or "default",
        kind=workload.fact.kind.lower(),
        workload=workload.fact.name,
    )


def _phrase(found: Budget, workload: Workload) -> str:
    """What is left, in seconds, where something in front is known; nothing for workloads without traffic."""
    subject = found.subject
    waits = [container.hook.low for container in subject.on_path if container.hook.spelling and container.hook.known]
    if not waits:
        return ""
    wait = min(waits)
    removal = found.term(REMOVAL)
    text = f"{workload.kind} {workload.name}: preStop {wait:g} s inside the grace period of {subject.grace} s"
    if removal.known and removal.low:
        left = subject.grace - wait - removal.low
        text += f" covers {removal.low:g} s of load balancer removal, {wait - removal.low:g} s to spare"
        text += f", {left:g} s left after the drain" if left > 0 else ""
    return text
