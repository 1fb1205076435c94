"""Read a recording back: a database that the recorder wrote, or files with watch events and a client's log."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from svcpath.drain.store import MAGIC, Store
from svcpath.errors import FormatError
from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats import kubernetes
from svcpath.evidence.formats.item import Item
from svcpath.evidence.sources.files import FilesSource
from svcpath.models.drain.moments import ReceivedEvent, stamp_of
from svcpath.models.drain.timeline import DrainTimeline, timeline
from svcpath.reports.timeline import remarks_of, seen_of


def load(paths: Sequence[Path]) -> tuple[DrainTimeline, tuple[str, ...]]:
    """The timeline of a recording, and where a gap in it can't be ruled out.

    Raises SourceUnavailable for a path that is not there, FormatError for a damaged database.
    """
    if len(paths) == 1 and is_database(paths[0]):
        store = Store(paths[0], reading=True)
        try:
            return of_store(store)
        except FormatError as error:
            raise FormatError(error.message, path=str(paths[0])) from error
        except (sqlite3.Error, TypeError, ValueError) as error:
            raise FormatError(f"the recording is damaged: {error}", path=str(paths[0])) from error
        finally:
            store.close()
    source = FilesSource(list(paths))
    events, inventory = source.watch_events(), source.inventory()
    if not events and not any(item.kind is Kind.TIMELINE and item.value is not None for item in inventory):
        names = ", ".join(str(path) for path in paths)
        raise FormatError(f"no recording: neither a database of svcpath drain watch nor watch events in {names}")
    return timeline(seen_of(events), remarks_of(inventory)), ()


def is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def of_store(store: Store) -> tuple[DrainTimeline, tuple[str, ...]]:
    found = timeline(seen(store), store.remarks(), store.connections(), store.planes())
    gaps = [f"{gap.resource} from {stamp_of(gap.since)} to {stamp_of(gap.until)}: {gap.why}" for gap in store.gaps()]
    sessions = store.sessions()
    for (_, ended, _), (begun, _, _) in itertools.pairwise(sessions):
        if ended is None:
            gaps.append(
                f"the recorder was killed and went on at {stamp_of(begun)}: changes of objects in between are complete, "
                "their receive times are late"
            )
    return found, tuple(gaps)


def seen(store: Store) -> list[ReceivedEvent]:
    """Every state of every object, in the order of receipt."""
    states: list[ReceivedEvent] = []
    last: dict[str, api.Object] = {}
    for number, change in enumerate(store.changes(), 1):
        if change.type == "VANISHED":
            obj = last.get(change.uid)
        else:
            try:
                obj = next((obj.value for obj in kubernetes.read_json(change.body) if isinstance(obj, Item)), None)
            except FormatError as error:
                raise FormatError(f"event {number} of the recording: {error.message}") from error
        if not isinstance(obj, api.Object):
            raise FormatError(f"event {number} of the recording holds no object")
        last[change.uid] = obj
        kind = {"LISTED": "ADDED", "VANISHED": "DELETED"}.get(change.type, change.type)
        states.append(
            ReceivedEvent(change.wall, kind, obj, f"{change.resource} {change.version}", change.type == "LISTED")
        )
    return states
