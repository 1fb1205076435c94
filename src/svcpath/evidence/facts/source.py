"""The seam: whatever can meet Needs is a Source. Files, a bundle, a cluster and a recorder are Sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation


class Source(Protocol):
    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        """Meet a batch of Needs.

        Returns, in the order of ``needs``, a non-empty tuple each: all present Observations, or a single absent or
        unreadable one. Never raises for a Need that can't be met; raises SourceUnavailable when nothing can be.
        """
        ...
