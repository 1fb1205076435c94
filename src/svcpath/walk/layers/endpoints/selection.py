"""The selector against the Pods' labels, with the near miss named."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from svcpath.evidence.facts.kubernetes import Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Gap
from svcpath.findings.shell import scope
from svcpath.models.policies.selectors import LabelDifference, differences, matches
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene, host_port
from svcpath.walk.subjects.selectors import as_text


def check(view: Scene) -> Asking[CheckResult]:
    service = view.service
    if service is None or not service.spec.selector:
        return CheckResult(looked=False)
    selector = service.spec.selector
    if view.pods_reply.unreadable:
        gap = Gap(
            "endpoints",
            "the Pods that the selector picks",
            view.pods_reply.why,
            f"kubectl {scope(service.namespace)} get pods -o yaml",
            view.pods_reply.in_vain,
        )
        return CheckResult(not_looked_at=(gap,), looked=False)
    if view.selected:
        return CheckResult()
    if view.distinct:
        # The slice controller saw Pods that this evidence has not: identity.py judges the addresses.
        return CheckResult()
    pods = [pod for pod in view.pods if not pod.fact.finished]
    finished = [pod for pod in view.pods if pod.fact.finished and matches(selector, pod.fact.labels)]
    near = [] if finished else nearest(selector, pods)
    complete = view.pods_reply.complete
    empty_slices = bool(view.slices)
    evidence = [
        Evidence(f"Service {service.name} selects {as_text(selector)}", view.service_observation),
        *(Evidence(f"Pod {pod.fact.name} matches, phase {pod.fact.status.phase}", pod) for pod in finished[:3]),
        *(Evidence(_labels(pod.fact), pod) for pod, _ in near),
        *(Evidence(f"EndpointSlice {slice_.fact.name} has no endpoints", slice_) for slice_ in view.slices[:2]),
    ]
    if not view.pods:
        evidence.append(Evidence(f"no Pod in namespace {service.namespace}", view.pods_reply.observations[0]))
    seen = "Pod that the evidence has" if not complete and not empty_slices else "Pod"
    sentence = f"selector {as_text(selector)} matches no {seen} of namespace {service.namespace}"
    if finished:
        sentence = (
            f"selector {as_text(selector)} matches finished Pods alone, which no slice lists: {_phases(finished)}"
        )
    if near:
        sentence += f"; nearest: {miss(near)}"
    makers, made = yield from _makers(service.namespace, selector)
    sentence += made
    evidence.extend(makers)
    details = [_refusal(view)] if service.cluster_ips else []
    everywhere = yield from ask.one(Need(Kind.POD, permission="list pods"))
    details.extend(_other_namespaces(service.namespace, selector, [pod.fact for pod in everywhere.present]))
    # Without a slice that says so, Pods that were not listed show no more than that these do not match.
    open_ = not empty_slices and not complete and (view.pods_sampled or not any(map(_slip, near)))
    missing = finding(
        "SP301",
        Status.INCONCLUSIVE if open_ or (view.pods_reply.partial and not empty_slices) else Status.FAIL,
        sentence,
        evidence=tuple(evidence),
        confidence=Confidence.POSSIBLE
        if open_
        else Confidence.PROVEN
        if complete or (empty_slices and not view.pods_reply.partial)
        else Confidence.SUPPORTED,
        details=tuple(details),
        remedy=_FINISHED if finished else _SCALED if made else _fix(near),
        share="all new connections",
        namespace=service.namespace,
        selector=as_text(selector),
    )
    return CheckResult(findings=(missing,))


#: Phase Succeeded or Failed is the end of a Pod: the slice controller leaves it out (pkg/controller/util/endpointslice,
#: ShouldPodBeInEndpoints), and it never becomes ready again.
_FINISHED = "Start Pods that stay (a Deployment's, not a Job's), or see why these ended."


_SCALED = "Scale it up, or fix what keeps it from making Pods; selector and labels agree."


def _makers(namespace: str, selector: Mapping[str, str]) -> Asking[tuple[list[Evidence], str]]:
    """Workloads whose Pods the selector would pick and that make none: scaled to zero, or kept from it (a quota, an
    admission webhook: condition ReplicaFailure)."""
    workloads = yield from ask.one(Need(Kind.WORKLOAD, namespace=namespace, permission="list deployments.apps"))
    evidence: list[Evidence] = []
    sentences: list[str] = []
    for workload in workloads.present:
        work = workload.fact
        if work.spec.template is None or not matches(selector, work.spec.template.metadata.labels or {}):
            continue
        if any(owner.controller for owner in work.metadata.owner_references or ()):
            continue
        failure = next(
            (
                condition
                for condition in work.status.conditions or ()
                if condition.type == "ReplicaFailure" and condition.status == "True"
            ),
            None,
        )
        why = ""
        if work.spec.replicas == 0:
            why = "is scaled to 0"
        elif failure is not None:
            why = f"can't make them ({(failure.message or failure.reason or 'ReplicaFailure').rstrip('.')})"
        if why:
            sentences.append(f"{work.kind} {work.name}, whose Pods it would match, {why}")
            evidence.append(Evidence(f"{work.kind} {work.name} {why}", workload))
    return evidence[:3], "".join(f"; {sentence}" for sentence in sentences[:3])


def _phases(finished: list[Observation[Pod]]) -> str:
    shown = [f"{pod.fact.name} {pod.fact.status.reason or pod.fact.status.phase}" for pod in finished[:4]]
    return ", ".join(shown) + (f" and {len(finished) - 4} more" if len(finished) > 4 else "")


def _other_namespaces(namespace: str, selector: Mapping[str, str], pods: list[Pod]) -> list[str]:
    """A Service selects in its own namespace only: Pods that match elsewhere are worth a word."""
    found: dict[str, int] = {}
    for pod in pods:
        if pod.namespace != namespace and not pod.finished and matches(selector, pod.labels):
            found[pod.namespace] = found.get(pod.namespace, 0) + 1
    return [
        f"{count(number, 'Pod')} of namespace {other} match{'' if number > 1 else 'es'}; "
        "a Service selects Pods of its own namespace only"
        for other, number in sorted(found.items())[:3]
    ]


def _refusal(view: Scene) -> str:
    service = view.service
    where = ", ".join(
        f"{host_port(ip, port.port)}/{port.protocol.lower()}"
        for ip in (service.cluster_ips if service else ())
        for port in view.service_ports[:3]
    )
    return f"connections to {where} are refused by the node's REJECT rule, not by the application"


Near = list[tuple[Observation[Pod], tuple[LabelDifference, ...]]]


def nearest(selector: Mapping[str, str], pods: list[Observation[Pod]]) -> Near:
    """The Pods that miss the fewest terms, at most three; none when no Pod is near (every term missed, none elsewhere)."""
    scored = [(pod, differences(selector, pod.fact.labels)) for pod in pods]
    near = [
        (pod, missed)
        for pod, missed in scored
        if len(missed) < len(selector) or any(label.elsewhere or _alike(label) for label in missed)
    ]
    if not near:
        return []
    fewest = min(len(missed) for _, missed in near)
    return [pair for pair in near if len(pair[1]) == fewest][:3]


def _slip(near: tuple[Observation[Pod], tuple[LabelDifference, ...]]) -> bool:
    """Whether the labels look like the selector misspelt, and not like those of another application."""
    return all(label.elsewhere or _alike(label) for label in near[1])


def _alike(difference: LabelDifference) -> bool:
    """Whether the label's value looks like a slip of the wanted one: same but for case, a few letters or an ending."""
    if difference.actual is None:
        return False
    wanted, actual = difference.wanted.lower(), difference.actual.lower()
    if not wanted or not actual:
        return False
    if wanted.startswith(actual) or actual.startswith(wanted) or _one_edit(wanted, actual):
        return True
    return min(len(wanted), len(actual)) >= 5 and difflib.SequenceMatcher(None, wanted, actual).ratio() >= 0.75


def _one_edit(label: str, other: str) -> bool:
    """Damerau-Levenshtein distance of at most 1."""
    if abs(len(label) - len(other)) > 1:
        return False
    short, long = sorted((label, other), key=len)
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        rest = short[at + 1 :] == long[at + 1 :]
        swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
        return rest or swapped
    return short[at:] == long[at + 1 :]


def _labels(pod: Pod) -> str:
    return f"Pod {pod.name} has {as_text(pod.labels) or 'no labels'}"


def miss(near: Near) -> str:
    parts: dict[str, list[str]] = {}
    for pod, missed in near:
        terms = []
        for label in missed:
            if label.elsewhere:
                terms.append(
                    f"{label.elsewhere}={pod.fact.labels[label.elsewhere]} instead of {label.key}={label.wanted}"
                )
            elif label.actual is not None:
                terms.append(f"{label.key}={label.actual} instead of {label.key}={label.wanted}")
            else:
                terms.append(f"no label {label.key}")
        parts.setdefault(", ".join(terms), []).append(pod.fact.name)
    return "; ".join(
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} {terms}" for terms, names in parts.items()
    )


def _fix(near: Near) -> str:
    if not near:
        return "Start Pods with these labels, or select labels that Pods carry."
    pod, missed = near[0]
    if len(missed) != 1:
        return "Make the selector and the Pods' labels agree."
    label = missed[0]
    if label.elsewhere:
        return (
            f"select {label.elsewhere}={pod.fact.labels[label.elsewhere]}, or label the Pods {label.key}={label.wanted}"
        )
    if label.actual is not None:
        return f"select {label.key}={label.actual}, or label the Pods {label.key}={label.wanted}"
    return f"label the Pods {label.key}={label.wanted}, or drop {label.key} from the selector"
