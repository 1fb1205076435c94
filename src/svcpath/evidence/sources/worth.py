"""Whether files that were given hold anything at all that can be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from svcpath.errors import SourceUnavailable
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation

_USELESS = frozenset({Kind.UNPLACED, Kind.DAMAGED, Kind.MIXED_CLUSTERS})


def usable(inventory: Sequence[Observation[Any]]) -> None:
    """Raises SourceUnavailable when nothing of it could be used, with the reason for each file."""
    if any(observation.kind not in _USELESS for observation in inventory):
        return
    reasons = [f"{observation.provenance.path}: {observation.fact.why}" for observation in inventory]
    more = f"; and {len(reasons) - 5} more" if len(reasons) > 5 else ""
    why = "; ".join(reasons[:5]) + more if reasons else "there is no file in it, or its lists are empty"
    raise SourceUnavailable(f"nothing in the evidence could be used ({why})")
