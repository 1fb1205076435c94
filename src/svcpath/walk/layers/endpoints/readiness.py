"""No endpoint ready, some not ready, only terminating ones: and why each Pod is not ready.

The reason is read in the order in which the kubelet decides: phase, container states, readiness gates, the Ready
condition's message, then the newest event of the Pod that is about readiness.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Event, Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import EndpointView, Scene
from svcpath.walk.subjects.readiness import why_not_ready
from svcpath.walk.subjects.selectors import as_text


def check(view: Scene) -> Asking[CheckResult]:
    if not view.slices and not view.selected:
        return CheckResult(looked=False)
    if view.ready:
        sick = [pod for pod in view.selected if pod.fact.ready is False and not pod.fact.deleting]
        if not sick:
            return CheckResult(looked=bool(view.slices))
        events = yield from ask.one(Need(Kind.EVENT, namespace=view.request.namespace, permission="list events"))
        return CheckResult(findings=tuple(_some(view, sick, events.present)))
    if view.usable:
        return CheckResult(findings=(_terminating_only(view),))
    if not view.distinct and not view.selected:
        return CheckResult(looked=bool(view.slices), findings=tuple(_empty(view)))
    events = yield from ask.one(Need(Kind.EVENT, namespace=view.request.namespace, permission="list events"))
    return CheckResult(findings=tuple(_none(view, events.present)))


def _some(view: Scene, sick: list[Observation[Pod]], events: tuple[Observation[Event], ...]) -> list[Finding]:
    service = view.service
    names = "; ".join(f"{pod.fact.name}: {why_not_ready(pod.fact, events)}" for pod in sick[:3])
    names += f"; and {len(sick) - 3} more" if len(sick) > 3 else ""
    are = "is" if len(sick) == 1 else "are"
    if service and service.spec.publish_not_ready_addresses:
        return [
            finding(
                "SP316",
                Status.WARN,
                f"{len(sick)} of {len(view.selected)} Pods {are} not ready and {are} published all the same ({names})",
                evidence=tuple(Evidence(f"Pod {pod.fact.name} is not ready", pod) for pod in sick[:3]),
                confidence=Confidence.PROVEN,
                namespace=view.request.namespace,
                service=view.request.service,
            )
        ]
    still = {endpoint.who for endpoint in view.ready} & {pod.fact.name for pod in sick}
    effect = f"take{'s' if len(sick) == 1 else ''} no new connections"
    if still:
        effect = f"the slice still has {', '.join(sorted(still)[:3])} as ready"
    return [
        finding(
            "SP314",
            Status.WARN,
            f"{len(sick)} of {len(view.selected)} Pods {are} not ready and {effect} ({names})",
            evidence=tuple(Evidence(f"Pod {pod.fact.name} is not ready", pod) for pod in sick[:3]),
            confidence=Confidence.PROVEN,
            namespace=view.request.namespace,
            selector=as_text(service.spec.selector or {}) if service else "",
        )
    ]


def _terminating_only(view: Scene) -> Finding:
    listed = ", ".join(f"{endpoint.who} ({endpoint.address})" for endpoint in view.usable[:4])
    return finding(
        "SP305",
        Status.WARN,
        f"no endpoint is ready; {len(view.usable)} serving while terminating take new connections: {listed}",
        evidence=_slices(view.usable),
        confidence=Confidence.PROVEN,
        cause_layer="lifecycle",
        namespace=view.request.namespace,
        service=view.request.service,
    )


def _terminating_pods(view: Scene, serving: list[Observation[Pod]]) -> Finding:
    """The same from Pods alone, where no slice was looked at."""
    listed = ", ".join(f"{endpoint.fact.name} ({', '.join(endpoint.fact.ips)})" for endpoint in serving[:4])
    return finding(
        "SP305",
        Status.WARN,
        f"no Pod that stays is ready; {len(serving)} ready while terminating would take new connections: {listed}",
        evidence=tuple(
            Evidence(f"Pod {endpoint.fact.name} is ready and terminating", endpoint) for endpoint in serving[:4]
        ),
        confidence=Confidence.SUPPORTED,
        cause_layer="lifecycle",
        namespace=view.request.namespace,
        service=view.request.service,
    )


def _none(view: Scene, events: tuple[Observation[Event], ...]) -> list[Finding]:
    service = view.service
    pods = {pod.fact.name: pod for pod in view.selected}
    for endpoint in view.distinct:
        if endpoint.pod:
            pods.setdefault(endpoint.pod.fact.name, endpoint.pod)
    if not view.slices:
        if service is not None and service.spec.publish_not_ready_addresses:
            return []
        serving = [pod for pod in pods.values() if pod.fact.ready and pod.fact.deleting]
        if serving and all(pod.fact.deleting or not pod.fact.ready for pod in pods.values()):
            return [_terminating_pods(view, serving)]
    unready = [pod for pod in pods.values() if pod.fact.ready is not True or pod.fact.deleting]
    if view.selected and not view.slices and view.slices_reply.unreadable and len(unready) < len(pods):
        return []
    if not view.distinct and len(unready) < len(pods):
        return _unlisted(view, [pod for pod in pods.values() if pod.fact.ready and not pod.fact.deleting])
    names = "; ".join(f"{pod.fact.name}: {why_not_ready(pod.fact, events)}" for pod in unready[:3])
    if not names:
        names = "; ".join(
            f"{endpoint.who} ({endpoint.address}): {_conditions(endpoint)}" for endpoint in view.distinct[:3]
        )
    total = len(view.distinct) or len(pods)
    finished = [pod for pod in view.pods if service and pod.fact.finished]
    details = (
        [f"{len(finished)} Pods of the namespace have finished and count for nothing"] if finished and not pods else []
    )
    return [
        finding(
            "SP304",
            Status.FAIL,
            f"0 of {total} {'endpoints' if view.distinct else 'Pods'} ready: {names}",
            evidence=(
                *_slices(view.distinct),
                *(Evidence(f"Pod {pod.fact.name}: {why_not_ready(pod.fact, events)}", pod) for pod in unready[:3]),
            ),
            confidence=Confidence.PROVEN if view.slices else Confidence.SUPPORTED,
            share="all new connections",
            details=tuple(details),
            namespace=view.request.namespace,
            service=view.request.service,
        )
    ]


def _unlisted(view: Scene, ready: list[Observation[Pod]]) -> list[Finding]:
    """Slices are there, empty, though ready Pods match: families.py and identity.py may know why; else it is odd."""
    wanted = {6 if slice_.fact.address_type == "IPv6" else 4 for slice_ in view.slices}
    mine = [pod for pod in ready if any((6 if ":" in ip else 4) in wanted for ip in pod.fact.ips)]
    if not mine or not view.slices:
        return []
    names = ", ".join(f"{pod.fact.name} ({', '.join(pod.fact.ips)})" for pod in mine[:3])
    return [
        finding(
            "SP303",
            Status.FAIL,
            f"ready Pods match ({names}) and the slices of {view.request.service} hold no endpoint",
            evidence=(
                *(Evidence(f"slice {slice_.fact.name} has no endpoints", slice_) for slice_ in view.slices[:2]),
                *(Evidence(f"Pod {pod.fact.name} is ready and matches", pod) for pod in mine[:3]),
            ),
            share="all new connections",
            namespace=view.request.namespace,
            service=view.request.service,
        )
    ]


def _empty(view: Scene) -> list[Finding]:
    """Slices without endpoints, and no Pods in the evidence to say why."""
    if view.service is not None and view.pods_reply.present and view.service.spec.selector:
        return []  # selection.py has the reason
    if not view.slices:
        return []
    return [
        finding(
            "SP304",
            Status.FAIL,
            f"the slices of {view.request.service} hold no endpoint{_because(view)}",
            evidence=tuple(
                Evidence(f"slice {slice_.fact.name} has no endpoints", slice_) for slice_ in view.slices[:3]
            ),
            confidence=Confidence.PROVEN,
            share="all new connections",
            namespace=view.request.namespace,
            service=view.request.service,
        )
    ]


def _because(view: Scene) -> str:
    selector = view.service.spec.selector if view.service else None
    return f": no Pod matches {as_text(selector)}, or none that does has an address" if selector else ""


def _conditions(endpoint: EndpointView) -> str:
    conditions = endpoint.endpoint
    return (
        f"ready={_word(conditions.ready)} serving={_word(conditions.serving)} "
        f"terminating={_word(conditions.terminating)}"
    )


def _word(value: bool) -> str:
    return "true" if value else "false"


def _slices(views: tuple[EndpointView, ...]) -> tuple[Evidence, ...]:
    by_slice: dict[str, list[EndpointView]] = {}
    for endpoint in views:
        by_slice.setdefault(endpoint.slice.name, []).append(endpoint)
    return tuple(
        Evidence(
            f"slice {name}: " + ", ".join(f"{endpoint.address} {_conditions(endpoint)}" for endpoint in listed[:4]),
            listed[0].observation,
        )
        for name, listed in by_slice.items()
    )
