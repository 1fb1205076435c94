"""What changed lately on the path, newest first: said beside any verdict, since a change is the usual suspect.

Times are the API's: managedFields per writer, creation and deletion timestamps, the transition times of conditions, and
warning events. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.evidence.facts.kubernetes import Event, Node, Object, Workload
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.finding import Change
from svcpath.models.policies.selectors import matches
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.workloads import is_mine

#: How many are told.
LIMIT = 8


def changes(view: Scene) -> Asking[tuple[Change, ...]]:
    request = view.request
    if not request.service:
        return ()
    workloads = yield from ask.one(Need(Kind.WORKLOAD, namespace=request.namespace))
    events = yield from ask.one(Need(Kind.EVENT, namespace=request.namespace))
    nodes = yield from ask.nodes()
    found = [
        *_objects(view),
        *(change for one in workloads.present if is_mine(view, one.fact) for change in _object(one.fact.kind, one)),
        *(change for one in workloads.present for change in _revision(view, one)),
        *_events(view, events.present),
        *_nodes(view, nodes.present),
    ]
    found.sort(key=lambda one: (one.at, one.what), reverse=True)
    return tuple(dict.fromkeys(found))[:LIMIT]


def _objects(view: Scene) -> Iterator[Change]:
    if view.service_observation is not None:
        yield from _object("Service", view.service_observation)
    for one in view.slices:
        yield from _object("EndpointSlice", one)
        touched = one.fact.annotations.get("endpoints.kubernetes.io/last-change-trigger-time")
        if touched:
            yield Change(touched, f"EndpointSlice {one.fact.name}: a Pod's readiness changed", "", one)
    for pod in view.selected:
        yield from _object("Pod", pod)
        for condition in pod.fact.status.conditions or ():
            if condition.type == "Ready" and condition.last_transition_time:
                state = "became ready" if condition.status == "True" else "became not ready"
                yield Change(condition.last_transition_time, f"Pod {pod.fact.name} {state}", "kubelet", pod)


def _object(kind: str, one: Observation[Object]) -> Iterator[Change]:
    meta = one.fact.metadata
    if meta.deletion_timestamp:
        yield Change(meta.deletion_timestamp, f"{kind} {meta.name}: its deletion's deadline", "", one)
    if meta.creation_timestamp:
        yield Change(meta.creation_timestamp, f"{kind} {meta.name} created", "", one)
    for entry in meta.managed_fields or ():
        if entry.time and entry.time != meta.creation_timestamp and entry.subresource != "status":
            yield Change(entry.time, f"{kind} {meta.name} written", entry.manager, one)


def _revision(view: Scene, one: Observation[Workload]) -> Iterator[Change]:
    """A new ReplicaSet of a Deployment behind the Service is a new revision of its Pod template."""
    workload, template = one.fact, one.fact.spec.template
    if (
        workload.kind != "ReplicaSet"
        or template is None
        or view.service is None
        or not workload.metadata.creation_timestamp
    ):
        return
    if matches(view.service.spec.selector or {}, template.metadata.labels or {}):
        number = workload.annotations.get("deployment.kubernetes.io/revision", "")
        revision = f", revision {number}" if number else ""
        yield Change(workload.metadata.creation_timestamp, f"ReplicaSet {workload.name} created{revision}", "", one)


def _events(view: Scene, events: tuple[Observation[Event], ...]) -> Iterator[Change]:
    names = {pod.fact.name for pod in view.selected} | {view.request.service}
    for one in events:
        if one.fact.type == "Warning" and one.fact.subject.name in names and one.fact.at:
            text = (one.fact.message or one.fact.note or "").strip()
            subject = one.fact.subject
            yield Change(one.fact.at, f"{one.fact.reason} {subject.kind} {subject.name}: {text}", "", one)


def _nodes(view: Scene, nodes: tuple[Observation[Node], ...]) -> Iterator[Change]:
    mine = {endpoint.endpoint.node_name for endpoint in view.endpoints}
    for one in nodes:
        if one.fact.name not in mine:
            continue
        for condition in one.fact.status.conditions or ():
            if condition.type == "Ready" and condition.last_transition_time:
                yield Change(
                    condition.last_transition_time, f"Node {one.fact.name}: Ready is {condition.status}", "", one
                )
