"""What no layer could look at, named once each: by the layers themselves, by the looks of a live walk that went wrong, and
by what was there to read and could not be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from svcpath.evidence.facts.observation import Observation, Provenance, Reason
from svcpath.evidence.facts.text import Unplaced
from svcpath.findings.finding import Gap, LayerName
from svcpath.walk.ask import Reply
from svcpath.walk.homes import HOME, WORDS
from svcpath.walk.troubles import troubles


def unread(observations: Iterable[Observation[Any]]) -> tuple[Gap, ...]:
    """What was there to look at and could not be read, each named. What was not recorded is the layers' to name."""
    gaps = []
    for observation in observations:
        if not observation.refused:
            continue
        where = observation.provenance.path or observation.provenance.pod or observation.provenance.node
        what = WORDS.get(observation.kind, observation.kind.value)
        subject = observation.provenance.command or where
        home: LayerName = HOME.get(observation.kind.value, "endpoints")
        named = f"{what} ({subject})" if subject else what
        gaps.append(Gap(home, named, observation.why, observation.provenance.command, (observation,)))
    return tuple(gaps)


def of_layer(
    name: LayerName, reported: tuple[Gap, ...], met: tuple[Reply, ...], unread: tuple[Gap, ...]
) -> tuple[Gap, ...]:
    """The layer's gaps: what it reported, each reason for which one of its own looks (``met``) went wrong, and what else of its
    kinds could not be read, unless a gap before it has the same command, or speaks of a look that gave nothing for the same
    reason at the same place."""
    gaps = (*reported, *troubles(name, met, reported))
    commands = {gap.command for gap in gaps} - {""}
    failures = {_failure(look) for gap in gaps for look in gap.looks}
    new = (gap for gap in unread if gap.layer == name and gap.command not in commands)
    return (*gaps, *(gap for gap in new if not failures.intersection(map(_failure, gap.looks))))


def _failure(look: Observation[Any]) -> tuple[Reason | None, Provenance]:
    return look.reason, look.provenance


def unplaced(observations: Iterable[Observation[Unplaced]]) -> tuple[Gap, ...]:
    """Files that no format knows, each with what it looks like."""
    return tuple(
        Gap("evidence", observation.provenance.path, f"unrecognized file: {observation.fact.why}")
        for observation in observations
    )
