"""One Pod's deletion: when it was asked for, noticed by slices, signalled, ended, listed no more, and gone.

0 is the moment the API server accepted the delete: deletionTimestamp - deletionGracePeriodSeconds. Both stamps have whole
seconds, so 0 lies up to a second later, and no later than the first watch event that carries the stamp. Times of the API
(finishedAt) have whole seconds too; what a watch saw is taken at its receive time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import ContainerStatus, Endpoint, EndpointSlice, Pod
from svcpath.models.drain.hooks import hook_of
from svcpath.models.drain.moments import PlaneChange, ReceivedEvent, seconds_of


class ContainerExit(msgspec.Struct, frozen=True):
    """How one container ended; ``at`` when the watch saw it, ``finished`` the API's own stamp, seconds after 0."""

    container: str
    code: int
    reason: str
    at: float
    finished: float | None


class Deletion(msgspec.Struct, frozen=True):
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
    exits: tuple[ContainerExit, ...]
    removed: float | None
    gone: float | None
    planes: tuple[tuple[str, float, float], ...]

    @property
    def ended(self) -> float | None:
        return max((exit_.at for exit_ in self.exits), default=None)

    @property
    def killed(self) -> tuple[ContainerExit, ...]:
        """Containers that the kubelet killed when the grace period was used up: 137 at its end, and not for memory."""
        deadline = max(float(self.grace), (self.hook_ends or 0.0) + 2)
        return tuple(
            exit_
            for exit_ in self.exits
            if exit_.code == 137 and exit_.reason != "OOMKilled" and exit_.at >= deadline - 1 and self.grace > 0
        )


def deletions_of(seen: Sequence[ReceivedEvent], planes: Sequence[PlaneChange]) -> tuple[Deletion, ...]:
    """Every deletion of a recording, which is in the order of receipt."""
    return tuple(_deletion(name, seen, planes) for name in _deleted(seen))


_Name = tuple[str, str, str]


def _deleted(seen: Iterable[ReceivedEvent]) -> list[_Name]:
    """Pods (namespace, name, uid) that are being deleted in the recording, in the order in which it was seen."""
    found: dict[_Name, None] = {}
    for event in seen:
        if isinstance(event.obj, Pod) and event.obj.deleting:
            found.setdefault((event.obj.namespace, event.obj.name, event.obj.metadata.uid), None)
    return list(found)


def _deletion(name: _Name, seen: Sequence[ReceivedEvent], planes: Sequence[PlaneChange]) -> Deletion:
    states = [event for event in seen if isinstance(event.obj, Pod) and _is(event.obj, name)]
    stamped = next(state for state in states if state.obj.deleting)
    pod: Pod = stamped.obj
    grace = pod.metadata.deletion_grace_period_seconds or 0
    zero = seconds_of(pod.metadata.deletion_timestamp or "") - grace
    uncertain = min(1.0, max(0.0, stamped.received - zero)) if not stamped.first else 1.0
    addresses = pod.ips or next((state.obj.ips for state in states if state.obj.ips), ())
    noticed, conditions, removed = _slices(seen, pod, zero)
    gone = next((state.received - zero for state in states if state.type == "DELETED"), None)
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
            (change.node, change.at - zero, change.at - change.after)
            for change in planes
            if not change.present and change.at >= zero and change.backend.rpartition(":")[0].strip("[]") in addresses
        ),
    )


def _is(pod: Pod, name: _Name) -> bool:
    return (pod.namespace, pod.name, pod.metadata.uid) == name


def _hook_ends(pod: Pod, grace: int) -> float | None:
    """When the last ordinary container gets its signal; None where a hook's length can't be read off."""
    hooks = [
        hook_of(container.lifecycle.pre_stop if container.lifecycle else None)
        for container in pod.spec.containers or ()
    ]
    if any(not hook.known for hook in hooks):
        return None
    return max((min(hook.low, float(grace)) for hook in hooks), default=0.0)


def _exits(states: Sequence[ReceivedEvent], zero: float) -> list[ContainerExit]:
    found: dict[str, ContainerExit] = {}
    for state in states:
        statuses: tuple[ContainerStatus, ...] = (
            *(state.obj.status.container_statuses or ()),
            *(state.obj.status.init_container_statuses or ()),
        )
        for status in statuses:
            ended = status.state.terminated if status.state else None
            if ended is None or status.name in found:
                continue
            finished = seconds_of(ended.finished_at) - zero if ended.finished_at else None
            if finished is not None and finished < -1:
                continue  # an init container that ended long before
            found[status.name] = ContainerExit(
                status.name, ended.exit_code, ended.reason or "", state.received - zero, finished
            )
    return list(found.values())


def _mine(endpoint: Endpoint, pod: Pod) -> bool:
    reference = endpoint.target_ref
    if reference is not None and reference.uid and pod.metadata.uid:
        return reference.uid == pod.metadata.uid
    if reference is not None and reference.name:
        return reference.name == pod.name
    return bool(set(endpoint.addresses) & set(pod.ips))


def _slices(seen: Sequence[ReceivedEvent], pod: Pod, zero: float) -> tuple[float | None, str, float | None]:
    """When slices first showed the Pod leaving, with which conditions, and when the last slice listed it no more."""
    noticed: float | None = None
    conditions = ""
    holding: set[str] = set()
    removed: float | None = None
    for event in seen:
        if not isinstance(event.obj, EndpointSlice) or event.obj.namespace != pod.namespace:
            continue
        mine = [endpoint for endpoint in event.obj.endpoints or () if _mine(endpoint, pod)]
        if event.type == "DELETED" or not mine:
            if event.obj.name in holding:
                holding.discard(event.obj.name)
                removed = event.received - zero if not holding else None
            continue
        holding.add(event.obj.name)
        leaving = next((endpoint for endpoint in mine if endpoint.terminating or not endpoint.ready), None)
        if leaving is not None and noticed is None and event.received >= zero:
            noticed, conditions = event.received - zero, words(leaving)
    return noticed, conditions, removed


def words(endpoint: Endpoint) -> str:
    return f"ready={_bool(endpoint.ready)} serving={_bool(endpoint.serving)} terminating={_bool(endpoint.terminating)}"


def _bool(value: bool) -> str:
    return "true" if value else "false"
