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
from svcpath.evidence.facts.observation import Observation, Provenance, State
from svcpath.evidence.facts.observations import Observations, service_of
from svcpath.evidence.facts.text import LogText
from svcpath.evidence.formats import archive, commands
from svcpath.evidence.formats.attribution import Attribution, collect
from svcpath.evidence.formats.index import Gone, Index
from svcpath.evidence.formats.item import Item, Listing, Watched
from svcpath.evidence.formats.mixed_clusters import KINDS, mixed_clusters
from svcpath.evidence.formats.recognise import recognise

Observed = Observation[Any]

_Key = tuple[str, str, str, str]


class WatchEvent(msgspec.Struct, frozen=True):
    """One event of a recorded watch, in recorded order."""

    type: str
    received: str
    observation: Observed


class _Entry(msgspec.Struct, frozen=True, gc=False):
    path: str
    item: Item


class EvidenceIndex:
    """Answers Needs from files. Build it with ``EvidenceIndex.of``."""

    def __init__(
        self,
        observations: tuple[Observed, ...],
        gone: tuple[Gone, ...],
        listed: frozenset[Kind],
        watched: tuple[WatchEvent, ...],
    ) -> None:
        self.observations = observations
        self.watched = watched
        self._index = Index(observations, gone, listed)

    @classmethod
    def of(cls, files: Iterable[tuple[str, bytes]], refused: Iterable[tuple[str, Item]] = ()) -> EvidenceIndex:
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
        return cls._of_items(read, frozenset(listed))

    @classmethod
    def _of_items(cls, read: list[tuple[str, list[Item]]], listed: frozenset[Kind]) -> EvidenceIndex:
        entries = [_Entry(path, item) for path, items in read for item in items]
        attribution = Attribution(collect(entry.item for entry in entries), read)
        kept, gone = _latest(entries)
        observations = tuple(_observation(entry, attribution) for number, entry in enumerate(entries) if number in kept)
        lasting = (
            (entry.path, entry.item.value)
            for entry in entries
            if entry.item.watched is None and entry.item.kind in KINDS
        )
        observations += tuple(
            Observation(Kind.MIXED_CLUSTERS, State.PRESENT, found, provenance=Provenance(path=path))
            for path, found in mixed_clusters(lasting)
        )
        watched = tuple(
            WatchEvent(entry.item.watched.type, entry.item.watched.received, _observation(entry, attribution))
            for entry in entries
            if entry.item.watched is not None
        )
        return cls(observations, gone, listed, watched)

    def meet(self, need: Need) -> Observations:
        """Every present observation that meets the Need, or one that says absent or unreadable and why."""
        return self._index.meet(need)


def _opened(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes | Item]]:
    """The files, with archives replaced by what they hold."""
    for path, data in files:
        if archive.is_tar(data):
            yield from archive.members(path, data)
        else:
            yield path, data


# --- which of several states of an object counts -----------------------------------------------------------------


def _key(obj: api.Object) -> _Key:
    return obj.kind, obj.api_version.rpartition("/")[0], obj.namespace, obj.name


def _version(obj: api.Object) -> int:
    version = obj.metadata.resource_version
    return int(version) if version.isdecimal() and version.isascii() and len(version) < 30 else -1


def _latest(entries: list[_Entry]) -> tuple[set[int], tuple[Gone, ...]]:
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
    gone: list[Gone] = []
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


def _deleted(entry: _Entry, watched: Watched) -> Gone:
    obj = entry.item.value
    provenance = Provenance(
        command=commands.for_object(obj),
        path=entry.path,
        line=entry.item.line,
        at=watched.received or None,
        listing=True,
    )
    return Gone(entry.item.kind, obj.namespace, obj.name, service_of(obj), provenance)


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
