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
    for one in seen:
        obj = one.obj
        if not isinstance(obj, Object):
            continue
        key = (obj.kind, obj.namespace, obj.name, obj.metadata.uid)
        before = None if one.type == "ADDED" and not one.first and key not in last else last.get(key)
        at = one.received - zero
        if isinstance(obj, Pod):
            found.extend(_pod(one, obj, before if isinstance(before, Pod) else None, at, deletions, zero))
        elif isinstance(obj, EndpointSlice):
            found.extend(_slice(one, obj, before if isinstance(before, EndpointSlice) else None, at))
        elif isinstance(obj, Event):
            found.extend(_event(one, obj, at, zero))
        last[key] = obj
    return found


def _pod(
    one: ReceivedEvent, pod: Pod, before: Pod | None, at: float, deletions: Sequence[Deletion], zero: float
) -> list[Moment]:
    found: list[Moment] = []
    if one.type == "DELETED":
        return [Moment(at, "pod", f"{pod.name} deleted", place=one.place)]
    if pod.deleting and (before is None or not before.deleting):
        mine = next((each for each in deletions if each.pod == pod.name and each.namespace == pod.namespace), None)
        if mine is not None:
            uncertain = f", seen {one.received - mine.zero:.3f} s later" if not one.first else ""
            found.append(
                Moment(mine.zero - zero, "delete", f"Pod {pod.name}, grace {mine.grace} s{uncertain}", place=one.place)
            )
    if before is None:
        if not pod.deleting and not one.first and at > 0:
            found.append(Moment(at, "pod", f"{pod.name} created", place=one.place))
        return found
    if pod.status.phase != before.status.phase:
        found.append(Moment(at, "pod", f"{pod.name} {before.status.phase} -> {pod.status.phase}", place=one.place))
    if pod.ready != before.ready and pod.ready is not None and before.ready is not None:
        found.append(Moment(at, "pod", f"{pod.name} {'ready' if pod.ready else 'not ready'}", place=one.place))
    ended = {
        status.name for status in before.status.container_statuses or () if status.state and status.state.terminated
    }
    for status in pod.status.container_statuses or ():
        over = status.state.terminated if status.state else None
        if over is not None and status.name not in ended:
            why = f" ({over.reason})" if over.reason else ""
            found.append(
                Moment(at, "exit", f"{pod.name}/{status.name} exit code {over.exit_code}{why}", place=one.place)
            )
    return found


def _slice(one: ReceivedEvent, new: EndpointSlice, before: EndpointSlice | None, at: float) -> list[Moment]:
    if before is None:
        return []
    old = {address: endpoint for endpoint in before.endpoints or () for address in endpoint.addresses}
    now = {address: endpoint for endpoint in new.endpoints or () for address in endpoint.addresses}
    if one.type == "DELETED":
        now = {}
    found = []
    for address, endpoint in now.items():
        text = words(endpoint)
        if address not in old or words(old[address]) != text:
            change = _condition(endpoint)
            found.append(Moment(at, "slice", f"{address} {text}", place=one.place, subject=address, change=change))
    left = ", ".join(now) or "nobody"
    for address in old:
        if address not in now:
            text = f"{address} removed; {new.name} lists {left}"
            found.append(Moment(at, "slice", text, place=one.place, subject=address, change=EndpointChange.REMOVED))
    return found


def _condition(endpoint: Endpoint) -> EndpointChange:
    if endpoint.ready:
        return EndpointChange.READY
    return EndpointChange.SERVING if endpoint.serving else EndpointChange.NOT_SERVING


def _event(one: ReceivedEvent, event: Event, at: float, zero: float) -> list[Moment]:
    """Events of the recording's own time; those that a listing repeats from before are left out."""
    happened = seconds_of(event.at) if event.at else one.received
    if one.first or happened < zero - 1:
        return []
    text = f"{event.subject.kind} {event.subject.name}: {event.reason or ''}: {event.message or event.note or ''}"
    return [Moment(at, "event", text, place=one.place)]


def of_remarks(remarks: Sequence[Remark], zero: float) -> list[Moment]:
    """What clients and rollouts noted themselves."""
    return [
        Moment(
            one.at - zero,
            "rollout" if one.kind == "rollout" else "client",
            f"{one.kind} {one.text}".strip(),
            place=one.place,
        )
        for one in remarks
    ]


def computed(deletions: Sequence[Deletion], zero: float) -> list[Moment]:
    """The stop signal, which nothing records: at the end of preStop by its definition."""
    found = []
    for one in deletions:
        if one.hook_ends is not None and (one.ended is None or one.ended >= one.hook_ends):
            how = f"preStop ends after {one.hook_ends:g} s" if one.hook_ends else "no preStop"
            found.append(
                Moment(one.zero + one.hook_ends - zero, "signal", f"{one.pod}: stop signal ({how})", exact=False)
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
