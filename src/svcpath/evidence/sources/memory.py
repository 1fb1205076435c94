"""Evidence that is already in memory: package resources, bundles, tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.evidence.formats.evidence import EvidenceIndex, WatchEvent
from svcpath.evidence.sources.worth import usable


class BytesSource:
    """A Source over files given as path -> content. Paths are relative, with forward slashes."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.evidence = EvidenceIndex.of(sorted(files.items()))

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        return [self.evidence.meet(need) for need in needs]

    def settled(self, request: Request) -> Request:
        """Raises SourceUnavailable when no file could be used."""
        usable(self.inventory())
        return request

    def inventory(self) -> tuple[Observation[Any], ...]:
        """Every observation, in order of path and place in the file, Unplaced and Damaged ones included."""
        return self.evidence.observations

    def watch_events(self) -> tuple[WatchEvent, ...]:
        """All events of recorded watches, in recorded order per file."""
        return self.evidence.watched
