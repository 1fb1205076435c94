"""Why a Pod is not ready: the first of the kubelet's reasons, and whether a probe got no answer."""

from __future__ import annotations

import msgspec
import pytest

from svcpath.evidence.facts.kubernetes import Event, Pod
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation, State
from svcpath.walk.subjects.readiness import UnreadyCause, not_ready
from tests.fixtures.objects import Obj, pod


def _event(reason: str, message: str) -> Observation[Event]:
    event = msgspec.convert(
        {
            "metadata": {"name": "web-1.1", "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "name": "web-1", "namespace": "shop"},
            "reason": reason,
            "message": message,
            "lastTimestamp": "2026-01-02T03:04:05Z",
        },
        Event,
    )
    return Observation(Kind.EVENT, State.PRESENT, event)


def _unready(**changes: object) -> Obj:
    made = pod("web-1", ("10.244.1.11",), ready=False)
    made["status"].update(changes)
    return made


CRASHING = {
    "name": "timeouts",
    "ready": False,
    "restartCount": 4,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
}
CREATING = {"name": "main", "ready": False, "restartCount": 0, "state": {"waiting": {"reason": "ContainerCreating"}}}
UNSCHEDULED = {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available: timed out."}


@pytest.mark.parametrize(
    ("made", "event", "cause", "text"),
    [
        (
            _unready(),
            ("Unhealthy", "Readiness probe failed: context deadline exceeded"),
            UnreadyCause.PROBE_TIMEOUT,
            "deadline",
        ),
        (
            _unready(),
            ("Unhealthy", "Readiness probe failed: command timed out after 1s"),
            UnreadyCause.PROBE_TIMEOUT,
            "after 1s",
        ),
        (_unready(), ("Unhealthy", "Readiness probe failed: HTTP probe failed: 503"), UnreadyCause.PROBE, "503"),
        (_unready(containerStatuses=[CRASHING]), None, UnreadyCause.CONTAINER, "timeouts waits: CrashLoopBackOff"),
        (
            _unready(containerStatuses=[CREATING]),
            ("FailedCreatePodSandBox", "context deadline exceeded"),
            UnreadyCause.CONTAINER,
            "context deadline exceeded",
        ),
        (
            _unready(phase="Pending", containerStatuses=[], conditions=[UNSCHEDULED]),
            None,
            UnreadyCause.UNSCHEDULED,
            "timed out",
        ),
        (_unready(), None, UnreadyCause.UNSTATED, "NotReady"),
    ],
)
def test_the_first_reason_of_the_kubelet_is_the_cause(
    made: Obj, event: tuple[str, str] | None, cause: UnreadyCause, text: str
) -> None:
    found = not_ready(msgspec.convert(made, Pod), (_event(*event),) if event else ())
    assert found.cause is cause
    assert text in found.text
