"""Old Pods that are left while a rollout reports done, rollouts under way, status behind its generation.

Source: kubectl rollout status looks at Deployment counters only (pkg/polymorphichelpers/rollout_status.go); a terminating
Pod is in none of them (terminatingReplicas, KEP-3973, is shown where it is served).
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Pod, Workload
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.policies.selectors import label_selector_matches
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.scene import EndpointView, Scene
from svcpath.walk.subjects.workloads import is_mine


def check(view: Scene, reply: Reply) -> CheckResult:
    mine = [workload for workload in reply.present if is_mine(view, workload.fact)]
    findings: list[Finding] = []
    for workload in mine:
        findings.extend(_lag(workload) or _under_way(workload))
    terminating = [endpoint for endpoint in view.distinct if endpoint.endpoint.terminating]
    leaving = [pod for pod in _pods(view, mine) if pod.fact.deleting and not pod.fact.finished]
    if not any(found.code in ("SP702", "SP704") for found in findings):
        findings.extend(_left(view, mine, leaving, terminating))
    phrase = ""
    if terminating and not findings:
        phrase = f"{count(len(terminating), 'endpoint')} terminating, new connections avoid {'it' if len(terminating) == 1 else 'them'}"
    elif not findings:
        statuses = [workload.fact for workload in mine if workload.fact.status.observed_generation is not None]
        if statuses or view.endpoints or view.pods:
            phrase = "no Pod terminating"
        phrase += f", {statuses[0].kind} {statuses[0].name} complete" if statuses else ""
    # Manifests alone tell nothing of a rollout.
    return CheckResult(findings=tuple(findings), phrase=phrase, looked=bool(findings or phrase))


def _pods(view: Scene, mine: list[Observation[Workload]]) -> list[Observation[Pod]]:
    if view.service is not None:
        return list(view.selected)
    return [
        pod
        for pod in view.pods
        if any(
            label_selector_matches(workload.fact.spec.selector, pod.fact.labels)
            for workload in mine
            if workload.fact.spec.selector
        )
    ]


def _lag(recorded: Observation[Workload]) -> list[Finding]:
    workload = recorded.fact
    generation, observed = workload.metadata.generation, workload.status.observed_generation
    if generation is None or observed is None or observed >= generation:
        return []
    return [
        finding(
            "SP702",
            Status.WARN,
            f"{workload.kind} {workload.name}: observedGeneration {observed} is behind generation {generation}, "
            "its status is about the earlier specification",
            evidence=(
                Evidence(f"{workload.kind} {workload.name}: generation {generation}, observed {observed}", recorded),
            ),
            confidence=Confidence.PROVEN,
            namespace=workload.namespace,
            kind=workload.kind.lower(),
            workload=workload.name,
        )
    ]


def _under_way(observed: Observation[Workload]) -> list[Finding]:
    workload, status = observed.fact, observed.fact.status
    desired = workload.spec.replicas if workload.spec.replicas is not None else 1
    if workload.kind == "DaemonSet":
        desired = status.desired_number_scheduled or 0
        updated, ready = status.updated_number_scheduled, status.number_ready
    else:
        updated, ready = status.updated_replicas, status.available_replicas
        if workload.kind == "StatefulSet":
            ready = status.ready_replicas
    if status.observed_generation is None and updated is None and ready is None:
        return []  # a manifest without status
    stuck = next(
        (
            condition
            for condition in status.conditions or ()
            if condition.type == "Progressing" and condition.status == "False"
        ),
        None,
    )
    total = status.replicas if status.replicas is not None else desired
    if (updated or 0) >= desired and (ready or 0) >= desired and total <= desired and stuck is None:
        return []
    why = f"; {stuck.reason}: {stuck.message}" if stuck else ""
    return [
        finding(
            "SP704",
            Status.WARN,
            f"rollout of {workload.kind} {workload.name} is {'stuck' if stuck else 'under way'}: {updated or 0} of {desired} updated, "
            f"{ready or 0} available{why}",
            evidence=(
                Evidence(
                    f"{workload.kind} {workload.name}: {updated or 0}/{desired} updated, {ready or 0} available",
                    observed,
                ),
            ),
            confidence=Confidence.PROVEN,
            namespace=workload.namespace,
            kind=workload.kind.lower(),
            workload=workload.name,
        )
    ]


def _left(
    view: Scene,
    mine: list[Observation[Workload]],
    leaving: list[Observation[Pod]],
    terminating: list[EndpointView],
) -> list[Finding]:
    """The rollout reports complete, and old Pods are still there."""
    complete = [workload for workload in mine if workload.fact.status.observed_generation is not None]
    if not complete or not leaving:
        return []
    done = complete[0]
    old = leaving[0].fact
    fresh = ", ".join(endpoint.who for endpoint in view.ready[:3]) or "none"
    serving = {endpoint.who for endpoint in terminating if endpoint.endpoint.serving}
    state = " (serving)" if old.name in serving else ""
    until = f" until {old.metadata.deletion_timestamp}" if old.metadata.deletion_timestamp else ""
    more = f" and {len(leaving) - 1} more" if len(leaving) > 1 else ""
    return [
        finding(
            "SP701",
            Status.WARN,
            f"{done.fact.kind} {done.fact.name}: rollout complete, old Pod {old.name}{more} still terminating{state}{until}; "
            f"new connections go to {fresh}, old connections may persist",
            evidence=(
                Evidence(f"{done.fact.kind} {done.fact.name}: all replicas updated and available", done),
                *(Evidence(f"Pod {pod.fact.name} has a deletionTimestamp", pod) for pod in leaving[:3]),
                *(
                    Evidence(f"slice {endpoint.slice.name}: {endpoint.address} terminating", endpoint.observation)
                    for endpoint in terminating[:2]
                ),
            ),
            confidence=Confidence.PROVEN,
            remedy="wait for old Pods to be gone before testing",
            namespace=view.request.namespace,
            pod=old.name,
        )
    ]
