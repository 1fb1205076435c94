"""No endpoint ready, some not ready, only terminating ones: and why each Pod is not ready.

The reason is read in the order in which the kubelet decides: phase, container states, readiness gates, the Ready
condition's message, then the newest event of the Pod that is about readiness.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import ContainerState, ContainerStatus, Event, Pod
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import Evidence, Finding, Judgement, Standing, Status
from svcpath.walk.layers.endpoints.selection import as_text
from svcpath.walk.scene import EndpointView, Scene


def check(view: Scene) -> Asking[Judgement]:
    if not view.slices and not view.selected:
        return Judgement(looked=False)
    if view.ready:
        sick = [one for one in view.selected if one.fact.ready is False and not one.fact.deleting]
        if not sick:
            return Judgement(looked=bool(view.slices))
        events = yield from ask.one(Need(Kind.EVENT, namespace=view.request.namespace, permission="list events"))
        return Judgement(findings=tuple(_some(view, sick, events.present)))
    if view.usable:
        return Judgement(findings=(_terminating_only(view),))
    if not view.distinct and not view.selected:
        return Judgement(looked=bool(view.slices), findings=tuple(_empty(view)))
    events = yield from ask.one(Need(Kind.EVENT, namespace=view.request.namespace, permission="list events"))
    return Judgement(findings=tuple(_none(view, events.present)))


def why_not_ready(pod: Pod, events: tuple[Observation[Event], ...] = ()) -> str:
    """In words, why this Pod is not ready; "not ready" when the evidence does not say."""
    status = pod.status
    if pod.deleting:
        return f"terminating since its deletion (deadline {pod.metadata.deletion_timestamp})"
    for container in (*(status.init_container_statuses or ()), *(status.container_statuses or ())):
        if not container.ready and (reason := _container_reason(container)):
            return reason + _event(pod, events, container.state)
    if starting := _starting(pod):
        return starting
    if status.phase == "Pending":
        unscheduled = next(
            (one for one in status.conditions or () if one.type == "PodScheduled" and one.status == "False"), None
        )
        if unscheduled is not None:
            return f"Pending: {(unscheduled.message or unscheduled.reason or '').rstrip('.')}"
        return "Pending" + _event(pod, events, None)
    for gate in pod.spec.readiness_gates or ():
        condition = next((one for one in status.conditions or () if one.type == gate.condition_type), None)
        if condition is None or condition.status != "True":
            return f"readiness gate {gate.condition_type} is {condition.status if condition else 'not set'}"
    if about := _told(pod, events, frozenset({"Unhealthy"})):
        return about
    ready = next((one for one in status.conditions or () if one.type == "Ready"), None)
    return (ready.message or ready.reason or "not ready").rstrip(".") if ready else "not ready"


#: Why a sandbox or a volume is not there yet, as the kubelet tells it (pkg/kubelet/events, v1.35).
_HINDERED = frozenset(
    {"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "NetworkNotReady", "FailedMapVolume", "Failed"}
)


def _event(pod: Pod, events: tuple[Observation[Event], ...], state: ContainerState | None) -> str:
    """What hinders a Pod that has not started, from its newest event; a container that waits for its image or its next
    try says so itself."""
    if state is not None and state.waiting and state.waiting.reason != "ContainerCreating":
        return ""
    told = _told(pod, events, _HINDERED)
    return f": {told}" if told else ""


def _told(pod: Pod, events: tuple[Observation[Event], ...], reasons: frozenset[str]) -> str:
    """The newest of a Pod's events with one of ``reasons``."""
    about = sorted(
        (one.fact.at or "", (one.fact.message or one.fact.note or "").strip().rstrip("."))
        for one in events
        if one.fact.subject.kind == "Pod" and one.fact.subject.name == pod.name and one.fact.reason in reasons
    )
    return about[-1][1] if about else ""


def _starting(pod: Pod) -> str:
    """The init container that has not ended: the others wait for it. A sidecar (restartPolicy Always) runs on by design."""
    sidecars = {one.name for one in pod.spec.init_containers or () if one.restart_policy == "Always"}
    for one in pod.status.init_container_statuses or ():
        state = one.state
        if one.name in sidecars and state and state.running:
            continue
        if state and state.running:
            return f"init container {one.name} has not ended"
        if state and state.waiting and not one.ready:
            return f"init container {one.name} waits: {state.waiting.reason}"
    return ""


def _container_reason(container: ContainerStatus) -> str:
    state = container.state
    if state and state.waiting and state.waiting.reason not in (None, "PodInitializing"):
        last = container.last_state.terminated if container.last_state else None
        ended = f", last exit {last.exit_code} ({last.reason})" if last else ""
        return f"container {container.name} waits: {state.waiting.reason}{ended}"
    if state and state.terminated and state.terminated.exit_code != 0:
        return f"container {container.name} ended with exit {state.terminated.exit_code} ({state.terminated.reason})"
    return ""


def _some(view: Scene, sick: list[Observation[Pod]], events: tuple[Observation[Event], ...]) -> list[Finding]:
    service = view.service
    names = "; ".join(f"{one.fact.name}: {why_not_ready(one.fact, events)}" for one in sick[:3])
    names += f"; and {len(sick) - 3} more" if len(sick) > 3 else ""
    are = "is" if len(sick) == 1 else "are"
    if service and service.spec.publish_not_ready_addresses:
        return [
            finding(
                "SP316",
                Status.WARN,
                f"{len(sick)} of {len(view.selected)} Pods {are} not ready and {are} published all the same ({names})",
                evidence=tuple(Evidence(f"Pod {one.fact.name} is not ready", one) for one in sick[:3]),
                standing=Standing.PROVEN,
                namespace=view.request.namespace,
                service=view.request.service,
            )
        ]
    still = {one.who for one in view.ready} & {one.fact.name for one in sick}
    effect = f"take{'s' if len(sick) == 1 else ''} no new connections"
    if still:
        effect = f"the slice still has {', '.join(sorted(still)[:3])} as ready"
    return [
        finding(
            "SP314",
            Status.WARN,
            f"{len(sick)} of {len(view.selected)} Pods {are} not ready and {effect} ({names})",
            evidence=tuple(Evidence(f"Pod {one.fact.name} is not ready", one) for one in sick[:3]),
            standing=Standing.PROVEN,
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
        standing=Standing.PROVEN,
        cause_layer="lifecycle",
        namespace=view.request.namespace,
        service=view.request.service,
    )


def _terminating_pods(view: Scene, serving: list[Observation[Pod]]) -> Finding:
    """The same from Pods alone, where no slice was looked at."""
    listed = ", ".join(f"{one.fact.name} ({', '.join(one.fact.ips)})" for one in serving[:4])
    return finding(
        "SP305",
        Status.WARN,
        f"no Pod that stays is ready; {len(serving)} ready while terminating would take new connections: {listed}",
        evidence=tuple(Evidence(f"Pod {one.fact.name} is ready and terminating", one) for one in serving[:4]),
        standing=Standing.SUPPORTED,
        cause_layer="lifecycle",
        namespace=view.request.namespace,
        service=view.request.service,
    )


def _none(view: Scene, events: tuple[Observation[Event], ...]) -> list[Finding]:
    service = view.service
    pods = {one.fact.name: one for one in view.selected}
    for endpoint in view.distinct:
        if endpoint.pod:
            pods.setdefault(endpoint.pod.fact.name, endpoint.pod)
    if not view.slices:
        if service is not None and service.spec.publish_not_ready_addresses:
            return []
        serving = [one for one in pods.values() if one.fact.ready and one.fact.deleting]
        if serving and all(one.fact.deleting or not one.fact.ready for one in pods.values()):
            return [_terminating_pods(view, serving)]
    unready = [one for one in pods.values() if one.fact.ready is not True or one.fact.deleting]
    if view.selected and not view.slices and view.slices_reply.unreadable and len(unready) < len(pods):
        return []
    if not view.distinct and len(unready) < len(pods):
        return _unlisted(view, [one for one in pods.values() if one.fact.ready and not one.fact.deleting])
    names = "; ".join(f"{one.fact.name}: {why_not_ready(one.fact, events)}" for one in unready[:3])
    if not names:
        names = "; ".join(
            f"{endpoint.who} ({endpoint.address}): {_conditions(endpoint)}" for endpoint in view.distinct[:3]
        )
    total = len(view.distinct) or len(pods)
    finished = [one for one in view.pods if service and one.fact.finished]
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
                *(Evidence(f"Pod {one.fact.name}: {why_not_ready(one.fact, events)}", one) for one in unready[:3]),
            ),
            standing=Standing.PROVEN if view.slices else Standing.SUPPORTED,
            share="all new connections",
            details=tuple(details),
            namespace=view.request.namespace,
            service=view.request.service,
        )
    ]


def _unlisted(view: Scene, ready: list[Observation[Pod]]) -> list[Finding]:
    """Slices are there, empty, though ready Pods match: families.py and identity.py may know why; else it is odd."""
    wanted = {6 if slice_.fact.address_type == "IPv6" else 4 for slice_ in view.slices}
    mine = [one for one in ready if any((6 if ":" in ip else 4) in wanted for ip in one.fact.ips)]
    if not mine or not view.slices:
        return []
    names = ", ".join(f"{one.fact.name} ({', '.join(one.fact.ips)})" for one in mine[:3])
    return [
        finding(
            "SP303",
            Status.FAIL,
            f"ready Pods match ({names}) and the slices of {view.request.service} hold no endpoint",
            evidence=(
                *(Evidence(f"slice {one.fact.name} has no endpoints", one) for one in view.slices[:2]),
                *(Evidence(f"Pod {one.fact.name} is ready and matches", one) for one in mine[:3]),
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
            evidence=tuple(Evidence(f"slice {one.fact.name} has no endpoints", one) for one in view.slices[:3]),
            standing=Standing.PROVEN,
            share="all new connections",
            namespace=view.request.namespace,
            service=view.request.service,
        )
    ]


def _because(view: Scene) -> str:
    selector = view.service.spec.selector if view.service else None
    return f": no Pod matches {as_text(selector)}, or none that does has an address" if selector else ""


def _conditions(endpoint: EndpointView) -> str:
    one = endpoint.endpoint
    return f"ready={_word(one.ready)} serving={_word(one.serving)} terminating={_word(one.terminating)}"


def _word(value: bool) -> str:
    return "true" if value else "false"


def _slices(views: tuple[EndpointView, ...]) -> tuple[Evidence, ...]:
    by_slice: dict[str, list[EndpointView]] = {}
    for each in views:
        by_slice.setdefault(each.slice.name, []).append(each)
    return tuple(
        Evidence(
            f"slice {name}: " + ", ".join(f"{each.address} {_conditions(each)}" for each in held[:4]),
            held[0].observation,
        )
        for name, held in by_slice.items()
    )
