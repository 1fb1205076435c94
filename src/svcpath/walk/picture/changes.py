"""Recent changes on the path, newest first: shown beside any verdict, since a change is the usual suspect.

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

#: How many are shown.
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
        *(
            change
            for workload in workloads.present
            if is_mine(view, workload.fact)
            for change in _object(workload.fact.kind, workload)
        ),
        *(change for workload in workloads.present for change in _revision(view, workload)),
        *_events(view, events.present),
        *_nodes(view, nodes.present),
    ]
    found.sort(key=lambda item: (item.at, item.what), reverse=True)
    return tuple(dict.fromkeys(found))[:LIMIT]


def _objects(view: Scene) -> Iterator[Change]:
    if view.service_observation is not None:
        yield from _object("Service", view.service_observation)
    for slice_ in view.slices:
        yield from _object("EndpointSlice", slice_)
        touched = slice_.fact.annotations.get("endpoints.kubernetes.io/last-change-trigger-time")
        if touched:
            yield Change(touched, f"EndpointSlice {slice_.fact.name}: a Pod's readiness changed", "", slice_)
    for pod in view.selected:
        yield from _object("Pod", pod)
        for condition in pod.fact.status.conditions or ():
            if condition.type == "Ready" and condition.last_transition_time:
                state = "became ready" if condition.status == "True" else "became not ready"
                yield Change(condition.last_transition_time, f"Pod {pod.fact.name} {state}", "kubelet", pod)


def _object(kind: str, observation: Observation[Object]) -> Iterator[Change]:
    meta = observation.fact.metadata
    if meta.deletion_timestamp:
        yield Change(meta.deletion_timestamp, f"{kind} {meta.name}: its deletion's deadline", "", observation)
    if meta.creation_timestamp:
        yield Change(meta.creation_timestamp, f"{kind} {meta.name} created", "", observation)
    for entry in meta.managed_fields or ():
        if entry.time and entry.time != meta.creation_timestamp and entry.subresource != "status":
            yield Change(entry.time, f"{kind} {meta.name} written", entry.manager, observation)


def _revision(view: Scene, observation: Observation[Workload]) -> Iterator[Change]:
    """A new ReplicaSet of a Deployment behind the Service is a new revision of its Pod template."""
    workload, template = observation.fact, observation.fact.spec.template
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
        yield Change(
            workload.metadata.creation_timestamp, f"ReplicaSet {workload.name} created{revision}", "", observation
        )


def _events(view: Scene, events: tuple[Observation[Event], ...]) -> Iterator[Change]:
    names = {pod.fact.name for pod in view.selected} | {view.request.service}
    for event in events:
        if event.fact.type == "Warning" and event.fact.subject.name in names and event.fact.at:
            text = (event.fact.message or event.fact.note or "").strip()
            subject = event.fact.subject
            yield Change(event.fact.at, f"{event.fact.reason} {subject.kind} {subject.name}: {text}", "", event)


def _nodes(view: Scene, nodes: tuple[Observation[Node], ...]) -> Iterator[Change]:
    mine = {endpoint.endpoint.node_name for endpoint in view.endpoints}
    for node in nodes:
        if node.fact.name not in mine:
            continue
        for condition in node.fact.status.conditions or ():
            if condition.type == "Ready" and condition.last_transition_time:
                yield Change(
                    condition.last_transition_time, f"Node {node.fact.name}: Ready is {condition.status}", "", node
                )
