"""A body of evidence: the facts of all its files, whose they are, and which file says what of one object.

Pure: files come in as paths and bytes, in any order, and the same files give the same observations. Of one object that
several files hold, the newest resourceVersion counts; a watch stream's last state, so that a DELETED object is known to
be gone. Objects without a resourceVersion are manifests: equal ones count once, different ones all stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.connections import Attempts
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, State, Trouble, absent, unreadable
from svcpath.evidence.facts.text import LogText
from svcpath.evidence.formats import archive, commands
from svcpath.evidence.formats.attribution import Attribution, collect
from svcpath.evidence.formats.item import Item, Listing, Watched
from svcpath.evidence.formats.recognise import recognise
from svcpath.evidence.formats.twins import KINDS, twins

Observed = Observation[Any]

#: A Need for this Pod asks for what nobody is named as the owner of.
UNOWNED = "?"
_Key = tuple[str, str, str, str]
_CLUSTER_WIDE = frozenset({Kind.NODE, Kind.NAMESPACE})


class WatchEvent(msgspec.Struct, frozen=True):
    """One event of a recorded watch, in recorded order."""

    type: str
    received: str
    observation: Observed


class _Entry(msgspec.Struct, frozen=True):
    path: str
    item: Item


class _Gone(msgspec.Struct, frozen=True):
    """An object whose last watch event was DELETED."""

    kind: Kind
    namespace: str
    name: str
    service: str
    provenance: Provenance


class Evidence:
    """Answers Needs from files. Build it with ``Evidence.of``."""

    def __init__(
        self,
        observations: tuple[Observed, ...],
        gone: tuple[_Gone, ...],
        listed: frozenset[Kind],
        watched: tuple[WatchEvent, ...],
    ) -> None:
        self.observations = observations
        self.watched = watched
        self._gone = gone
        self._listed = listed
        self._by_kind: dict[Kind, list[Observed]] = defaultdict(list)
        for observation in observations:
            self._by_kind[observation.kind].append(observation)

    @classmethod
    def of(cls, files: Iterable[tuple[str, bytes]], refused: Iterable[tuple[str, Item]] = ()) -> Evidence:
        """``files`` are (path relative to the evidence root, content); ``refused`` are files that were not read."""
        read: list[tuple[str, list[Item]]] = []
        listed: set[Kind] = set()
        for path, content in _opened(files):
            if isinstance(content, Item):
                read.append((path, [content]))
                continue
            items: list[Item] = []
            for found in recognise(content):
                if isinstance(found, Listing):
                    if found.kind is not None:
                        listed.add(found.kind)
                else:
                    items.append(found)
            read.append((path, items))
        read.extend((path, [item]) for path, item in refused)
        read.sort(key=lambda entry: entry[0])
        return cls._index(read, frozenset(listed))

    @classmethod
    def _index(cls, read: list[tuple[str, list[Item]]], listed: frozenset[Kind]) -> Evidence:
        entries = [_Entry(path, item) for path, items in read for item in items]
        attribution = Attribution(collect(entry.item for entry in entries), read)
        kept, gone = _latest(entries)
        observations = tuple(_observation(entry, attribution) for number, entry in enumerate(entries) if number in kept)
        lasting = ((one.path, one.item.value) for one in entries if one.item.watched is None and one.item.kind in KINDS)
        observations += tuple(
            Observation(Kind.TWINS, State.PRESENT, found, provenance=Provenance(path=path))
            for path, found in twins(lasting)
        )
        watched = tuple(
            WatchEvent(entry.item.watched.type, entry.item.watched.received, _observation(entry, attribution))
            for entry in entries
            if entry.item.watched is not None
        )
        return cls(observations, gone, listed, watched)

    def of_kind(self, kind: Kind) -> tuple[Observed, ...]:
        return tuple(self._by_kind.get(kind, ()))

    def meet(self, need: Need) -> tuple[Observed, ...]:
        """Every present observation that meets the Need, or one that says absent or unreadable and why."""
        found = tuple(observation for observation in self._by_kind.get(need.kind, ()) if _meets(observation, need))
        return found or (self._missing(need),)

    def _missing(self, need: Need) -> Observed:
        command = commands.for_need(need)
        for gone in self._gone:
            if gone.kind is need.kind and _named(need, gone.namespace, gone.name, gone.service):
                why = "deleted, as the recorded watch shows"
                return absent(need.kind, Reason.DELETED, why, gone.provenance)
        if need.kind in commands.OBJECT_KINDS:
            return self._missing_object(need, command)
        others = self._by_kind.get(need.kind, ())
        why = f"no {need.kind.value} in the evidence"
        if others:
            owners = sorted({_owner(other.provenance) for other in others})
            why = f"no {need.kind.value} of {_subject(need)} in the evidence, only of {', '.join(owners[:5])}"
        return _not_recorded(need, why, command)

    def _missing_object(self, need: Need, command: str) -> Observed:
        others = [
            other
            for other in self._by_kind.get(need.kind, ())
            if not need.namespace or need.kind in _CLUSTER_WIDE or _namespace(other) == need.namespace
        ]
        narrowed = bool(need.name or need.service)
        place = f" of namespace {need.namespace}" if need.namespace else ""
        if others and narrowed:
            listing = all(other.provenance.listing for other in others) or need.kind in self._listed
            why = f"not among the {len(others)} {_plural(need.kind, len(others))}{place} in the evidence"
            path = others[0].provenance.path if listing else ""
            provenance = Provenance(command=command, path=path, listing=listing)
            return absent(need.kind, Reason.NOT_AMONG, why, provenance)
        if need.kind in self._listed:
            why = f"the list in the evidence has no {need.kind.value}{place}"
            return absent(need.kind, Reason.NOT_AMONG, why, Provenance(command=command, listing=True))
        return _not_recorded(need, f"no {_word(need.kind)}{place} in the evidence", command)


def _opened(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes | Item]]:
    """The files, with archives replaced by what they hold."""
    for path, data in files:
        if archive.is_tar(data):
            yield from archive.members(path, data)
        else:
            yield path, data


def _namespace(observation: Observed) -> str:
    return observation.value.namespace if isinstance(observation.value, api.Object) else ""


def _not_recorded(need: Need, why: str, command: str) -> Observed:
    provenance = Provenance(command=command, node=need.node, pod=need.pod, container=need.container)
    return unreadable(need.kind, Trouble(Reason.NOT_RECORDED, why), provenance)


def _plural(kind: Kind, count: int) -> str:
    if count == 1 or kind.value.endswith("s"):
        return kind.value
    return kind.value.removesuffix("y") + "ies" if kind.value.endswith("cy") else kind.value + "s"


def _word(kind: Kind) -> str:
    """How a kind is called in a sentence. "no EndpointSlice" is easily misread as "no endpoints"."""
    return "slice" if kind is Kind.ENDPOINT_SLICE else kind.value


def _owner(provenance: Provenance) -> str:
    if provenance.pod:
        return f"Pod {provenance.pod}"
    if provenance.node == "?":
        return "an unnamed node"
    return f"node {provenance.node}" if provenance.node else "an unnamed owner"


def _subject(need: Need) -> str:
    if need.pod:
        return f"Pod {need.pod}" + (f", container {need.container}" if need.container else "")
    return f"node {need.node}" if need.node else "what was asked for"


# --- matching ----------------------------------------------------------------------------------------------------


def _meets(observation: Observed, need: Need) -> bool:
    value, provenance = observation.value, observation.provenance
    if isinstance(value, api.Object):
        cluster_wide = need.kind in _CLUSTER_WIDE
        namespace = "" if cluster_wide else value.namespace
        if not _named(need, namespace, value.name, service_of(value), check_namespace=not cluster_wide):
            return False
        if isinstance(value, api.Pod) and need.node and value.spec.node_name != need.node:
            return False
        return not (
            isinstance(value, api.Pod) and need.pod and not same_pod(need.pod, f"{value.namespace}/{value.name}")
        )
    if need.pod == UNOWNED:
        return not provenance.pod and not provenance.node
    if need.node and provenance.node != need.node:
        return False
    if need.pod and not (provenance.pod and same_pod(need.pod, provenance.pod)):
        return False
    return not (need.container and provenance.container and need.container != provenance.container)


def _named(need: Need, namespace: str, name: str, service: str, *, check_namespace: bool = True) -> bool:
    if check_namespace and need.namespace and namespace != need.namespace:
        return False
    if need.name and need.kind is not Kind.EVENT and name != need.name:
        return False
    if need.kind is Kind.EVENT and need.name and need.name not in (name, service):
        return False
    return not (need.service and service != need.service)


def service_of(obj: api.Object) -> str:
    """The Service that a slice or Endpoints serves; of an event its subject's name; of others the own name."""
    if isinstance(obj, api.EndpointSlice):
        return obj.service_name or ""
    if isinstance(obj, api.Event):
        return obj.subject.name
    return obj.name


def same_pod(one: str, other: str) -> bool:
    """Whether two Pod names can mean the same Pod; a missing namespace fits any."""
    space_one, _, name_one = one.rpartition("/")
    space_other, _, name_other = other.rpartition("/")
    return name_one == name_other and (not space_one or not space_other or space_one == space_other)


# --- which of several states of an object counts -----------------------------------------------------------------


def _key(obj: api.Object) -> _Key:
    return obj.kind, obj.api_version.rpartition("/")[0], obj.namespace, obj.name


def _version(obj: api.Object) -> int:
    version = obj.metadata.resource_version
    return int(version) if version.isdecimal() and version.isascii() and len(version) < 30 else -1


def _latest(entries: list[_Entry]) -> tuple[set[int], tuple[_Gone, ...]]:
    """Numbers of the entries that count, and the objects whose last state is DELETED."""
    kept: set[int] = set()
    groups: dict[_Key, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        value = entry.item.value
        if isinstance(value, api.Object) and value.name:
            if entry.item.watched is None or entry.item.watched.type != "BOOKMARK":
                groups[_key(value)].append(number)
        elif not (isinstance(value, api.Object) and entry.item.watched is not None):
            kept.add(number)
    gone: list[_Gone] = []
    for numbers in groups.values():
        versioned = [number for number in numbers if _version(entries[number].item.value) >= 0]
        streamed = [number for number in numbers if entries[number].item.watched is not None]
        if versioned:
            last = max(versioned, key=lambda number: (_version(entries[number].item.value), _later(entries, number)))
        elif streamed:
            last = streamed[-1]
        else:
            kept.update(_distinct(entries, numbers))
            continue
        watched = entries[last].item.watched
        if watched is not None and watched.type == "DELETED":
            gone.append(_deleted(entries[last], watched))
        else:
            kept.add(last)
    return kept, tuple(gone)


def _later(entries: list[_Entry], number: int) -> tuple[bool, bool, int]:
    """Order among equal versions: a deletion ends it, a listed object is the fuller proof, else the first file."""
    item = entries[number].item
    deleted = item.watched is not None and item.watched.type == "DELETED"
    return deleted, item.listing, -number


def _distinct(entries: list[_Entry], numbers: list[int]) -> list[int]:
    """First of each group of equal manifests; a listed copy stands for its equals."""
    found: list[int] = []
    for number in numbers:
        same = next(
            (at for at, other in enumerate(found) if entries[other].item.value == entries[number].item.value), None
        )
        if same is None:
            found.append(number)
        elif entries[number].item.listing and not entries[found[same]].item.listing:
            found[same] = number
    return found


def _deleted(entry: _Entry, watched: Watched) -> _Gone:
    obj = entry.item.value
    provenance = Provenance(
        command=commands.for_object(obj),
        path=entry.path,
        line=entry.item.line,
        at=watched.received or None,
        listing=True,
    )
    return _Gone(entry.item.kind, obj.namespace, obj.name, service_of(obj), provenance)


# --- observations ------------------------------------------------------------------------------------------------


def _observation(entry: _Entry, attribution: Attribution) -> Observed:
    item = entry.item
    value = item.value
    if isinstance(value, api.Object):
        provenance = Provenance(
            command=commands.for_object(value),
            path=entry.path,
            line=item.line,
            at=(item.watched.received or None) if item.watched else None,
            listing=item.listing,
        )
        return Observation(item.kind, State.PRESENT, value, provenance=provenance)
    owner = attribution.owner(entry.path, item)
    if isinstance(value, Attempts) and owner.pod:
        named = tuple(
            attempt if attempt.client else msgspec.structs.replace(attempt, client=owner.pod)
            for attempt in value.attempts
        )
        value = msgspec.structs.replace(value, attempts=named)
    command = commands.for_state(item.kind, owner.node, owner.pod, owner.container)
    if isinstance(value, LogText) and not owner.pod:
        command = commands.for_log(value.component)
    provenance = Provenance(
        command=command,
        path=entry.path,
        line=item.line,
        node=owner.node,
        pod=owner.pod,
        container=owner.container,
    )
    return Observation(item.kind, State.PRESENT, value, provenance=provenance)
