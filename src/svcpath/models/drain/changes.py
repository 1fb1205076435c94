"""What happened, moment by moment: changes from one state of an object to the next, remarks, and what is computed."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import Endpoint, EndpointSlice, Event, Object, Pod
from svcpath.models.drain.deletion import Deletion, words
from svcpath.models.drain.moments import PlaneChange, ReceivedEvent, Remark, seconds_of


class EndpointChange(enum.Enum):
    """What became of an endpoint in its slice, or of a backend in a node's data plane."""

    NONE = ""
    READY = "ready"
    SERVING = "serving"  #: not ready
    NOT_SERVING = "not-serving"
    REMOVED = "removed"
    SENDS = "sends"
    SENDS_NO_LONGER = "sends-no-longer"


class Moment(msgspec.Struct, frozen=True):
    """Something on the axis: ``at`` seconds after 0, ``kind`` delete, slice, pod, exit, signal, event, dataplane, client
    or rollout. ``exact`` is false for what is computed and not seen; ``place`` is where the recording says it. Of a slice
    or dataplane moment ``subject`` is the address or the node, with which the text begins, and ``change`` what became of
    it."""

    at: float
    kind: str
    text: str
    exact: bool = True
    place: str = ""
    subject: str = ""
    change: EndpointChange = EndpointChange.NONE


def of_objects(seen: Sequence[ReceivedEvent], deletions: Sequence[Deletion], zero: float) -> list[Moment]:
    """What changed from one state of an object to the next."""
    found: list[Moment] = []
    last: dict[tuple[str, str, str, str], Object] = {}
    for event in seen:
        obj = event.obj
        if not isinstance(obj, Object):
            continue
        key = (obj.kind, obj.namespace, obj.name, obj.metadata.uid)
        before = None if event.type == "ADDED" and not event.first and key not in last else last.get(key)
        at = event.received - zero
        if isinstance(obj, Pod):
            found.extend(_pod(event, obj, before if isinstance(before, Pod) else None, at, deletions, zero))
        elif isinstance(obj, EndpointSlice):
            found.extend(_slice(event, obj, before if isinstance(before, EndpointSlice) else None, at))
        elif isinstance(obj, Event):
            found.extend(_event(event, obj, at, zero))
        last[key] = obj
    return found


def _pod(
    received: ReceivedEvent, pod: Pod, before: Pod | None, at: float, deletions: Sequence[Deletion], zero: float
) -> list[Moment]:
    found: list[Moment] = []
    if received.type == "DELETED":
        return [Moment(at, "pod", f"{pod.name} deleted", place=received.place)]
    if pod.deleting and (before is None or not before.deleting):
        mine = next(
            (deletion for deletion in deletions if deletion.pod == pod.name and deletion.namespace == pod.namespace),
            None,
        )
        if mine is not None:
            uncertain = f", seen {received.received - mine.zero:.3f} s later" if not received.first else ""
            found.append(
                Moment(
                    mine.zero - zero, "delete", f"Pod {pod.name}, grace {mine.grace} s{uncertain}", place=received.place
                )
            )
    if before is None:
        if not pod.deleting and not received.first and at > 0:
            found.append(Moment(at, "pod", f"{pod.name} created", place=received.place))
        return found
    if pod.status.phase != before.status.phase:
        found.append(Moment(at, "pod", f"{pod.name} {before.status.phase} -> {pod.status.phase}", place=received.place))
    if pod.ready != before.ready and pod.ready is not None and before.ready is not None:
        found.append(Moment(at, "pod", f"{pod.name} {'ready' if pod.ready else 'not ready'}", place=received.place))
    ended = {
        status.name for status in before.status.container_statuses or () if status.state and status.state.terminated
    }
    for status in pod.status.container_statuses or ():
        over = status.state.terminated if status.state else None
        if over is not None and status.name not in ended:
            why = f" ({over.reason})" if over.reason else ""
            found.append(
                Moment(at, "exit", f"{pod.name}/{status.name} exit code {over.exit_code}{why}", place=received.place)
            )
    return found


def _slice(received: ReceivedEvent, new: EndpointSlice, before: EndpointSlice | None, at: float) -> list[Moment]:
    if before is None:
        return []
    old = {address: endpoint for endpoint in before.endpoints or () for address in endpoint.addresses}
    now = {address: endpoint for endpoint in new.endpoints or () for address in endpoint.addresses}
    if received.type == "DELETED":
        now = {}
    found = []
    for address, endpoint in now.items():
        text = words(endpoint)
        if address not in old or words(old[address]) != text:
            change = _condition(endpoint)
            found.append(Moment(at, "slice", f"{address} {text}", place=received.place, subject=address, change=change))
    left = ", ".join(now) or "no endpoint"
    for address in old:
        if address not in now:
            text = f"{address} removed; {new.name} lists {left}"
            found.append(
                Moment(at, "slice", text, place=received.place, subject=address, change=EndpointChange.REMOVED)
            )
    return found


def _condition(endpoint: Endpoint) -> EndpointChange:
    if endpoint.ready:
        return EndpointChange.READY
    return EndpointChange.SERVING if endpoint.serving else EndpointChange.NOT_SERVING


def _event(received: ReceivedEvent, event: Event, at: float, zero: float) -> list[Moment]:
    """Events of the recording's own time; those that a listing repeats from before are left out."""
    happened = seconds_of(event.at) if event.at else received.received
    if received.first or happened < zero - 1:
        return []
    text = f"{event.subject.kind} {event.subject.name}: {event.reason or ''}: {event.message or event.note or ''}"
    return [Moment(at, "event", text, place=received.place)]


def of_remarks(remarks: Sequence[Remark], zero: float) -> list[Moment]:
    """What clients and rollouts noted themselves."""
    return [
        Moment(
            remark.at - zero,
            "rollout" if remark.kind == "rollout" else "client",
            f"{remark.kind} {remark.text}".strip(),
            place=remark.place,
        )
        for remark in remarks
    ]


def computed(deletions: Sequence[Deletion], zero: float) -> list[Moment]:
    """SIGTERM (or the image's STOPSIGNAL), which nothing records: at the end of preStop by its definition."""
    found = []
    for deletion in deletions:
        if deletion.hook_ends is not None and (deletion.ended is None or deletion.ended >= deletion.hook_ends):
            how = f"preStop ends after {deletion.hook_ends:g} s" if deletion.hook_ends else "no preStop"
            found.append(
                Moment(
                    deletion.zero + deletion.hook_ends - zero,
                    "signal",
                    f"{deletion.pod}: SIGTERM ({how})",
                    exact=False,
                )
            )
    return found


def of_planes(planes: Sequence[PlaneChange], zero: float) -> list[Moment]:
    """Changes of nodes' data planes, from shortly before 0 on."""
    return [
        Moment(
            change.at - zero,
            "dataplane",
            _plane(change),
            subject=change.node,
            change=EndpointChange.SENDS if change.present else EndpointChange.SENDS_NO_LONGER,
        )
        for change in planes
        if change.at >= zero - 5
    ]


def _plane(change: PlaneChange) -> str:
    verb = "sends new connections" if change.present else "no longer sends new connections"
    late = "" if change.at - change.after < 0.005 else f" (or up to {change.at - change.after:.2f} s earlier)"
    return f"{change.node} {verb} of {change.frontend} to {change.backend}{late}"
