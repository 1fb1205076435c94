"""What a live look could not see, said in the layer that asked: no missing right or timeout passes for a fact.

A kind that a source just does not offer is no trouble.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation, Reason, State
from svcpath.findings.finding import Gap, LayerName
from svcpath.walk.ask import Reply


def _is_trouble(observation: Observation[Any]) -> bool:
    live = observation.provenance.source == "kube"
    return live and observation.state is State.UNREADABLE and observation.reason is not Reason.NOT_OFFERED


def failed(observations: Iterable[Observation[Any]]) -> Observation[Any] | None:
    """The first look of ``observations`` that went wrong on a cluster, if one did."""
    return next((observation for observation in observations if _is_trouble(observation)), None)


def unreached(observations: Iterable[Observation[Any]]) -> Observation[Any] | None:
    """A look into a Pod that no command reached."""
    found = failed(observations)
    return found if found is not None and found.reason is Reason.UNREACHED else None


class _Trouble(msgspec.Struct):
    """One line of the report: what could not be looked at, each once, and the looks that said so."""

    whats: dict[str, None] = msgspec.field(default_factory=dict)
    looks: list[Observation[Any]] = msgspec.field(default_factory=list)


def troubles(layer: LayerName, met: Iterable[Reply], reported: Iterable[Gap]) -> tuple[Gap, ...]:
    """A gap of ``layer`` for each trouble by which something could not be looked at, but those that it ``reported`` itself.

    Looks that failed alike are one line: those of one reason that say the same to people.
    """
    known = {id(look) for gap in reported for look in gap.looks}
    by_trouble: dict[tuple[Reason | None, str], _Trouble] = {}
    for reply in met:
        for observation in reply.not_read:
            if _is_trouble(observation):
                trouble = by_trouble.setdefault((observation.reason, observation.why), _Trouble())
                trouble.whats[f"{reply.need.kind.value}{_of(reply.need, observation)}"] = None
                trouble.looks.append(observation)
    return tuple(
        Gap(
            layer,
            ", ".join(list(trouble.whats)[:6]),
            trouble.looks[0].why,
            trouble.looks[0].provenance.command,
            tuple(trouble.looks),
        )
        for trouble in by_trouble.values()
        if not any(id(look) in known for look in trouble.looks)
    )


def _of(need: Need, observation: Observation[Any]) -> str:
    if need.pod:
        return f" of {need.pod}"
    node = need.node or observation.provenance.node
    if node:
        return f" of node {node}"
    return f" in {need.namespace}" if need.namespace else ""
