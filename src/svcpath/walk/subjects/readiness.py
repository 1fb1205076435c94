"""Why a Pod is not ready, in the order in which the kubelet decides: phase, container states, readiness gates, the Ready
condition's message, then the newest event of the Pod that is about readiness."""

from __future__ import annotations

import enum
import re

import msgspec

from svcpath.evidence.facts.kubernetes import ContainerState, ContainerStatus, Event, Pod
from svcpath.evidence.facts.observation import Observation


class UnreadyCause(enum.Enum):
    """What keeps a Pod from being ready."""

    DELETED = "deleted"
    CONTAINER = "container"  #: one waits or has ended
    INIT_CONTAINER = "init container"  #: one has not ended
    UNSCHEDULED = "unscheduled"
    PENDING = "pending"
    GATE = "readiness gate"
    PROBE_TIMEOUT = "probe timeout"  #: the kubelet's probe got no answer in time
    PROBE = "probe"  #: it got an answer that is none, or was refused
    UNSTATED = "unstated"  #: the Ready condition says no more than that it is not


class NotReady(msgspec.Struct, frozen=True):
    """``text`` says it with the kubelet's own words."""

    cause: UnreadyCause
    text: str


#: How a probe's event tells that the time was over: of Go's net/http, its context, and gRPC (pkg/probe, v1.35).
_TIMED_OUT = re.compile(r"deadline exceeded|time[d -]*out", re.I)


def not_ready(pod: Pod, events: tuple[Observation[Event], ...] = ()) -> NotReady:
    """Why this Pod is not ready; UNSTATED, "not ready", when nothing says why."""
    status = pod.status
    if pod.deleting:
        return NotReady(
            UnreadyCause.DELETED, f"terminating since its deletion (deadline {pod.metadata.deletion_timestamp})"
        )
    for container in (*(status.init_container_statuses or ()), *(status.container_statuses or ())):
        if not container.ready and (reason := _container_reason(container)):
            return NotReady(UnreadyCause.CONTAINER, reason + _event(pod, events, container.state))
    if starting := _starting(pod):
        return NotReady(UnreadyCause.INIT_CONTAINER, starting)
    conditions = {condition.type: condition for condition in reversed(status.conditions or ())}
    if status.phase == "Pending":
        scheduled = conditions.get("PodScheduled")
        if scheduled is not None and scheduled.status == "False":
            text = f"Pending: {(scheduled.message or scheduled.reason or '').rstrip('.')}"
            return NotReady(UnreadyCause.UNSCHEDULED, text)
        return NotReady(UnreadyCause.PENDING, "Pending" + _event(pod, events, None))
    for gate in pod.spec.readiness_gates or ():
        condition = conditions.get(gate.condition_type)
        if condition is None or condition.status != "True":
            state = condition.status if condition else "not set"
            return NotReady(UnreadyCause.GATE, f"readiness gate {gate.condition_type} is {state}")
    if probed := _newest_event(pod, events, frozenset({"Unhealthy"})):
        return NotReady(UnreadyCause.PROBE_TIMEOUT if _TIMED_OUT.search(probed) else UnreadyCause.PROBE, probed)
    ready = conditions.get("Ready")
    text = (ready.message or ready.reason or "not ready").rstrip(".") if ready else "not ready"
    return NotReady(UnreadyCause.UNSTATED, text)


def why_not_ready(pod: Pod, events: tuple[Observation[Event], ...] = ()) -> str:
    """``not_ready`` in words."""
    return not_ready(pod, events).text


#: Why a sandbox or a volume is not there yet, as the kubelet tells it (pkg/kubelet/events, v1.35).
_HINDERED = frozenset(
    {"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "NetworkNotReady", "FailedMapVolume", "Failed"}
)


def _event(pod: Pod, events: tuple[Observation[Event], ...], state: ContainerState | None) -> str:
    """What hinders a Pod that has not started, from its newest event; a container that waits for its image or its next
    try says so itself."""
    if state is not None and state.waiting and state.waiting.reason != "ContainerCreating":
        return ""
    hindrance = _newest_event(pod, events, _HINDERED)
    return f": {hindrance}" if hindrance else ""


def _newest_event(pod: Pod, events: tuple[Observation[Event], ...], reasons: frozenset[str]) -> str:
    """The newest of a Pod's events with one of ``reasons``."""
    about = sorted(
        (event.fact.at or "", (event.fact.message or event.fact.note or "").strip().rstrip("."))
        for event in events
        if event.fact.subject.kind == "Pod" and event.fact.subject.name == pod.name and event.fact.reason in reasons
    )
    return about[-1][1] if about else ""


def _starting(pod: Pod) -> str:
    """The init container that has not ended: the others wait for it. A sidecar (restartPolicy Always) runs on by design."""
    sidecars = {container.name for container in pod.spec.init_containers or () if container.restart_policy == "Always"}
    for status in pod.status.init_container_statuses or ():
        state = status.state
        if status.name in sidecars and state and state.running:
            continue
        if state and state.running:
            return f"init container {status.name} has not ended"
        if state and state.waiting and not status.ready:
            return f"init container {status.name} waits: {state.waiting.reason}"
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
