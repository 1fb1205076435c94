"""One deletion on one axis: from recorded watch events and client notes to moments, measures and what they say.

0 is the moment the API server accepted the delete: deletionTimestamp - deletionGracePeriodSeconds. Both stamps have whole
seconds, so 0 lies up to a second later, and no later than the first watch event that carries the stamp. Times of the API
(finishedAt) have whole seconds too; what a watch saw is taken at its receive time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from svcpath.evidence.facts.kubernetes import (
    ContainerStatus,
    Endpoint,
    EndpointSlice,
    Event,
    Object,
    Pod,
    Workload,
)
from svcpath.models.drain.hooks import hook_of
from svcpath.models.drain.moments import Connection, PlaneChange, Remark, Seen, seconds_of


@dataclass(frozen=True, slots=True)
class Moment:
    """Something on the axis: ``at`` seconds after 0, ``kind`` delete, slice, pod, exit, signal, event, dataplane, client
    or rollout. ``exact`` is false for what is computed and not seen; ``place`` is where the recording says it."""

    at: float
    kind: str
    text: str
    exact: bool = True
    place: str = ""


@dataclass(frozen=True, slots=True)
class Exit:
    """How one container ended; ``at`` when the watch saw it, ``finished`` the API's own stamp, seconds after 0."""

    container: str
    code: int
    reason: str
    at: float
    finished: float | None


@dataclass(frozen=True, slots=True)
class Deletion:
    """One Pod's deletion, seconds after its own 0 (None: not in the recording).

    ``uncertain``: 0 may lie up to this much later. ``noticed``: a slice first showed the endpoint as not ready or
    terminating. ``hook_ends``: when preStop ends by its definition, so when the signal comes. ``removed``: the slice listed
    it no more. ``gone``: the object was deleted.
    """

    pod: str
    namespace: str
    node: str
    zero: float
    uncertain: float
    grace: int
    addresses: tuple[str, ...]
    noticed: float | None
    conditions: str
    hook_ends: float | None
    exits: tuple[Exit, ...]
    removed: float | None
    gone: float | None
    planes: tuple[tuple[str, float, float], ...]

    @property
    def ended(self) -> float | None:
        return max((one.at for one in self.exits), default=None)

    @property
    def killed(self) -> tuple[Exit, ...]:
        """Containers that the kubelet killed when the grace period was used up: 137 at its end, and not for memory."""
        deadline = max(float(self.grace), (self.hook_ends or 0.0) + 2)
        return tuple(
            one
            for one in self.exits
            if one.code == 137 and one.reason != "OOMKilled" and one.at >= deadline - 1 and self.grace > 0
        )


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which new connections failed: the first that failed to the last before one that worked. The edges lie
    between the neighbours' starts: ``before`` and ``after`` are how much earlier and later it may have been."""

    start: float
    end: float
    failed: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """``zero`` is the epoch time of the axis; moments in order."""

    zero: float
    deletions: tuple[Deletion, ...]
    moments: tuple[Moment, ...]
    connections: tuple[Connection, ...]
    outages: tuple[Outage, ...]
    rollout_reported: float | None


def timeline(
    seen: Sequence[Seen],
    remarks: Sequence[Remark] = (),
    connections: Sequence[Connection] = (),
    planes: Sequence[PlaneChange] = (),
) -> Timeline:
    """Put a recording on one axis. Its 0 is the first deletion's, or the first thing recorded where nothing is deleted."""
    ordered = sorted(seen, key=lambda one: one.received)
    deletions = tuple(_deletion(name, ordered, planes) for name in _deleted(ordered))
    stamps = [one.received for one in ordered] + [one.at for one in remarks] + [one.start for one in connections]
    zero = min((one.zero for one in deletions), default=min(stamps, default=0.0))
    moments = [*_object_moments(ordered, deletions, zero), *_remarks(remarks, zero), *_computed(deletions, zero)]
    moments.extend(Moment(one.at - zero, "dataplane", _plane(one)) for one in planes if one.at >= zero - 5)
    moments.extend(_rollouts(ordered, zero))
    moments.sort(key=lambda one: (round(one.at, 6), one.kind))
    return Timeline(
        zero=zero,
        deletions=deletions,
        moments=tuple(moments),
        connections=tuple(connections),
        outages=tuple(outages(connections, zero)),
        rollout_reported=_reported(ordered, remarks, zero, deletions),
    )


# --- one deletion -------------------------------------------------------------------------------------------------

_Name = tuple[str, str, str]


def _deleted(seen: Iterable[Seen]) -> list[_Name]:
    """Pods (namespace, name, uid) that are being deleted in the recording, in the order in which it was seen."""
    found: dict[_Name, None] = {}
    for one in seen:
        if isinstance(one.obj, Pod) and one.obj.deleting:
            found.setdefault((one.obj.namespace, one.obj.name, one.obj.metadata.uid), None)
    return list(found)


def _deletion(name: _Name, seen: Sequence[Seen], planes: Sequence[PlaneChange]) -> Deletion:
    states = [one for one in seen if isinstance(one.obj, Pod) and _is(one.obj, name)]
    stamped = next(one for one in states if one.obj.deleting)
    pod: Pod = stamped.obj
    grace = pod.metadata.deletion_grace_period_seconds or 0
    zero = seconds_of(pod.metadata.deletion_timestamp or "") - grace
    uncertain = min(1.0, max(0.0, stamped.received - zero)) if not stamped.first else 1.0
    addresses = pod.ips or next((one.obj.ips for one in states if one.obj.ips), ())
    noticed, conditions, removed = _slices(seen, pod, zero)
    gone = next((one.received - zero for one in states if one.type == "DELETED"), None)
    return Deletion(
        pod=pod.name,
        namespace=pod.namespace,
        node=pod.spec.node_name or "",
        zero=zero,
        uncertain=uncertain,
        grace=grace,
        addresses=tuple(addresses),
        noticed=noticed,
        conditions=conditions,
        hook_ends=_hook_ends(pod, grace),
        exits=tuple(_exits(states, zero)),
        removed=removed,
        gone=gone,
        planes=tuple(
            (one.node, one.at - zero, one.at - one.after)
            for one in planes
            if not one.present and one.at >= zero and one.backend.rpartition(":")[0].strip("[]") in addresses
        ),
    )


def _is(pod: Pod, name: _Name) -> bool:
    return (pod.namespace, pod.name, pod.metadata.uid) == name


def _hook_ends(pod: Pod, grace: int) -> float | None:
    """When the last ordinary container gets its signal; None where a hook's length can't be read off."""
    hooks = [hook_of(one.lifecycle.pre_stop if one.lifecycle else None) for one in pod.spec.containers or ()]
    if any(not one.known for one in hooks):
        return None
    return max((min(one.low, float(grace)) for one in hooks), default=0.0)


def _exits(states: Sequence[Seen], zero: float) -> list[Exit]:
    found: dict[str, Exit] = {}
    for one in states:
        statuses: tuple[ContainerStatus, ...] = (
            *(one.obj.status.container_statuses or ()),
            *(one.obj.status.init_container_statuses or ()),
        )
        for status in statuses:
            ended = status.state.terminated if status.state else None
            if ended is None or status.name in found:
                continue
            finished = seconds_of(ended.finished_at) - zero if ended.finished_at else None
            if finished is not None and finished < -1:
                continue  # an init container that ended long before
            found[status.name] = Exit(status.name, ended.exit_code, ended.reason or "", one.received - zero, finished)
    return list(found.values())


def _mine(endpoint: Endpoint, pod: Pod) -> bool:
    reference = endpoint.target_ref
    if reference is not None and reference.uid and pod.metadata.uid:
        return reference.uid == pod.metadata.uid
    if reference is not None and reference.name:
        return reference.name == pod.name
    return bool(set(endpoint.addresses) & set(pod.ips))


def _slices(seen: Sequence[Seen], pod: Pod, zero: float) -> tuple[float | None, str, float | None]:
    """When slices first showed the Pod leaving, with which conditions, and when the last slice listed it no more."""
    noticed: float | None = None
    conditions = ""
    holding: set[str] = set()
    removed: float | None = None
    for one in seen:
        if not isinstance(one.obj, EndpointSlice) or one.obj.namespace != pod.namespace:
            continue
        mine = [each for each in one.obj.endpoints or () if _mine(each, pod)]
        if one.type == "DELETED" or not mine:
            if one.obj.name in holding:
                holding.discard(one.obj.name)
                removed = one.received - zero if not holding else None
            continue
        holding.add(one.obj.name)
        leaving = next((each for each in mine if each.terminating or not each.ready), None)
        if leaving is not None and noticed is None and one.received >= zero:
            noticed, conditions = one.received - zero, words(leaving)
    return noticed, conditions, removed


def words(endpoint: Endpoint) -> str:
    return f"ready={_bool(endpoint.ready)} serving={_bool(endpoint.serving)} terminating={_bool(endpoint.terminating)}"


def _bool(value: bool) -> str:
    return "true" if value else "false"


# --- moments ------------------------------------------------------------------------------------------------------


def _object_moments(seen: Sequence[Seen], deletions: Sequence[Deletion], zero: float) -> list[Moment]:
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
    one: Seen, pod: Pod, before: Pod | None, at: float, deletions: Sequence[Deletion], zero: float
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


def _slice(one: Seen, new: EndpointSlice, before: EndpointSlice | None, at: float) -> list[Moment]:
    if before is None:
        return []
    old = {address: words(each) for each in before.endpoints or () for address in each.addresses}
    now = {address: words(each) for each in new.endpoints or () for address in each.addresses}
    if one.type == "DELETED":
        now = {}
    found = [
        Moment(at, "slice", f"{address} {text}", place=one.place)
        for address, text in now.items()
        if old.get(address) != text
    ]
    left = ", ".join(now) or "nobody"
    found.extend(
        Moment(at, "slice", f"{address} removed; {new.name} lists {left}", place=one.place)
        for address in old
        if address not in now
    )
    return found


def _event(one: Seen, event: Event, at: float, zero: float) -> list[Moment]:
    """Events of the recording's own time; those that a listing repeats from before are left out."""
    happened = seconds_of(event.at) if event.at else one.received
    if one.first or happened < zero - 1:
        return []
    text = f"{event.subject.kind} {event.subject.name}: {event.reason or ''}: {event.message or event.note or ''}"
    return [Moment(at, "event", text, place=one.place)]


def _remarks(remarks: Sequence[Remark], zero: float) -> list[Moment]:
    return [
        Moment(
            one.at - zero,
            "rollout" if one.kind == "rollout" else "client",
            f"{one.kind} {one.text}".strip(),
            place=one.place,
        )
        for one in remarks
    ]


def _computed(deletions: Sequence[Deletion], zero: float) -> list[Moment]:
    """The stop signal, which nothing records: at the end of preStop by its definition."""
    found = []
    for one in deletions:
        if one.hook_ends is not None and (one.ended is None or one.ended >= one.hook_ends):
            how = f"preStop ends after {one.hook_ends:g} s" if one.hook_ends else "no preStop"
            found.append(
                Moment(one.zero + one.hook_ends - zero, "signal", f"{one.pod}: stop signal ({how})", exact=False)
            )
    return found


def _plane(change: PlaneChange) -> str:
    verb = "sends new connections" if change.present else "no longer sends new connections"
    late = "" if change.after == change.at else f" (polled: up to {change.at - change.after:.2f} s earlier)"
    return f"{change.node} {verb} of {change.frontend} to {change.backend}{late}"


def complete(workload: Workload) -> bool:
    """What ``kubectl rollout status`` takes for done (pkg/polymorphichelpers/rollout_status.go): counters alone."""
    status, desired = workload.status, workload.spec.replicas if workload.spec.replicas is not None else 1
    observed = status.observed_generation or 0
    if workload.metadata.generation is not None and observed < workload.metadata.generation:
        return False
    updated, available = status.updated_replicas or 0, status.available_replicas or 0
    return updated >= desired and (status.replicas or 0) <= updated and available >= updated


def _rollouts(seen: Sequence[Seen], zero: float) -> list[Moment]:
    found = []
    last: dict[str, bool] = {}
    for one in seen:
        if isinstance(one.obj, Workload) and one.obj.kind == "Deployment":
            done = complete(one.obj)
            if one.obj.name in last and last[one.obj.name] != done:
                left = one.obj.status.terminating_replicas
                more = f", {left} old Pods still Terminating" if done and left else ""
                text = f"{one.obj.name} {'complete' if done else 'under way'}{more}"
                found.append(Moment(one.received - zero, "rollout", text, place=one.place))
            last[one.obj.name] = done
    return found


def _reported(
    seen: Sequence[Seen], remarks: Sequence[Remark], zero: float, deletions: Sequence[Deletion]
) -> float | None:
    """When the rollout was reported complete after the first deletion."""
    told = [one.at - zero for one in remarks if one.kind == "rollout" and "successfully" in one.text]
    told += [one.at for one in _rollouts(seen, zero) if " complete" in one.text and one.at > 0]
    return min(told, default=None) if deletions else None


# --- outages ------------------------------------------------------------------------------------------------------


def outages(connections: Sequence[Connection], zero: float = 0.0) -> list[Outage]:
    """Runs of new connections that failed, in the order of their start, with the uncertainty of each edge."""
    ordered = sorted((one for one in connections if one.kind == "new"), key=lambda one: one.start)
    found: list[Outage] = []
    run: list[Connection] = []
    good: Connection | None = None
    for one in ordered:
        if one.outcome != "ok":
            run.append(one)
            continue
        if run:
            found.append(_outage(run, good, one, zero))
            run = []
        good = one
    if run:
        found.append(_outage(run, good, None, zero))
    return found


def _outage(run: Sequence[Connection], before: Connection | None, after: Connection | None, zero: float) -> Outage:
    first, last = run[0], run[-1]
    return Outage(
        start=first.start - zero,
        end=last.start - zero,
        failed=len(run),
        before=first.start - before.start if before else 0.0,
        after=after.start - last.start if after else 0.0,
    )
