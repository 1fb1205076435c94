"""Manifests before anything runs: would the Service pick the Pods of a template beside it, and find its ports there?

Without Pods and slices nothing of a cluster is shown, so nothing fails; what can't meet as written is said all the same.
"""

from __future__ import annotations

import dataclasses

from svcpath.evidence.facts.kubernetes import ObjectMeta, Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.policies.selectors import matches
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.endpoints.selection import miss, nearest
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.selectors import as_text
from svcpath.walk.subjects.target_ports import declared, is_named, target_port


def check(view: Scene) -> Asking[CheckResult]:
    service = view.service
    selector = service.spec.selector if service is not None else None
    if service is None or not selector or view.pods or view.slices or not view.pods_reply.unreadable:
        return CheckResult(looked=False)
    workloads = yield from ask.one(Need(Kind.WORKLOAD, namespace=service.namespace))
    pods = [
        dataclasses.replace(
            workload,
            value=Pod(
                metadata=ObjectMeta(
                    name=f"{workload.fact.kind} {workload.fact.name}",
                    labels=dict(workload.fact.spec.template.metadata.labels or {}),
                ),
                spec=workload.fact.spec.template.spec,
            ),
        )
        for workload in workloads.present
        if workload.fact.spec.template is not None and workload.fact.kind not in ("Job", "CronJob")
    ]
    if not pods:
        return CheckResult(looked=False)
    mine = [pod for pod in pods if matches(selector, pod.fact.labels)]
    about = Evidence(f"Service {service.name} selects {as_text(selector)}", view.service_observation)
    if not mine:
        near = nearest(selector, pods)
        found = finding(
            "SP301",
            Status.INCONCLUSIVE,
            f"selector {as_text(selector)} matches no Pod template of the evidence"
            + (f"; nearest: {miss(near)}" if near else "")
            + "; no Pod was looked at",
            evidence=(
                about,
                *(Evidence(f"template of {pod.fact.name}: {as_text(pod.fact.labels)}", pod) for pod in pods[:3]),
            ),
            confidence=Confidence.POSSIBLE,
            namespace=service.namespace or "default",
            selector=as_text(selector),
        )
        return CheckResult(findings=(found,))
    return CheckResult(findings=tuple(_ports(view, selector, mine)), looked=False)


def _ports(view: Scene, selector: dict[str, str], mine: list[Observation[Pod]]) -> list[Finding]:
    """Named target ports that no template declares."""
    found = []
    for port in view.service_ports:
        if not is_named(port) or any(target_port(pod.fact, port) is not None for pod in mine):
            continue
        ports = ", ".join(
            f"{port.name or 'unnamed'} {port.container_port}" for pod in mine[:3] for port in declared(pod.fact)
        )
        found.append(
            finding(
                "SP401",
                Status.INCONCLUSIVE,
                f'targetPort name "{port.target_port}" is declared in no Pod template that the selector picks '
                f"({', '.join(pod.fact.name for pod in mine[:3])}: {ports or 'no ports'}); no Pod was looked at",
                evidence=tuple(
                    Evidence(f"template of {pod.fact.name}: {ports or 'no ports'}", pod) for pod in mine[:3]
                ),
                confidence=Confidence.POSSIBLE,
                namespace=view.request.namespace or "default",
                selector=as_text(selector),
                target=str(port.target_port),
                protocol=port.protocol,
            )
        )
    return found
