"""Why a Pod is not ready, in the order in which the kubelet decides: phase, container states, readiness gates, the Ready
condition's message, then the newest event of the Pod that is about readiness."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import ContainerState, ContainerStatus, Event, Pod
from svcpath.evidence.facts.observation import Observation


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
