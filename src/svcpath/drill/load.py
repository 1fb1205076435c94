"""Read a recording back: a database that the recorder wrote, or files with watch events and a client's log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from svcpath.evidence.sources.files import FilesSource
from svcpath.models.drain.timeline import Timeline, timeline
from svcpath.reports.timeline import remarks_of, seen_of


def load(paths: Sequence[Path]) -> tuple[Timeline, tuple[str, ...]]:
    """The timeline of a recording, and where a gap in it can't be ruled out.

    Raises SourceUnavailable for a path that is not there, FormatError for a damaged database.
    """
    source = FilesSource(list(paths))
    return timeline(seen_of(source.watch_events()), remarks_of(source.inventory())), ()
