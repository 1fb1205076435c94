"""What a live look could not see, said in the layer that asked: no missing right or timeout passes for a fact.

A kind that a source just does not offer is no trouble.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation, Reason, State
from svcpath.findings.finding import LayerName, NotTested
from svcpath.walk.ask import Reply


def _is_trouble(one: Observation[Any]) -> bool:
    live = one.provenance.source == "kube"
    return live and one.state is State.UNREADABLE and one.reason is not Reason.NOT_OFFERED


def failed(observations: Iterable[Observation[Any]]) -> Observation[Any] | None:
    """The first look of ``observations`` that went wrong on a cluster, if one did."""
    return next((one for one in observations if _is_trouble(one)), None)


def unreached(observations: Iterable[Observation[Any]]) -> Observation[Any] | None:
    """A look into a Pod that no command reached."""
    found = failed(observations)
    return found if found is not None and found.reason is Reason.UNREACHED else None


def troubles(layer: LayerName, met: Iterable[Reply], told: Collection[str]) -> tuple[NotTested, ...]:
    """A gap of ``layer`` for each trouble by which something could not be looked at, but those that it ``told`` itself."""
    by_trouble: dict[tuple[Reason | None, str], tuple[dict[str, None], str]] = {}
    for reply in met:
        for observation in reply.not_read:
            if not _is_trouble(observation):
                continue
            trouble = (observation.reason, observation.why)
            whats, _ = by_trouble.setdefault(trouble, ({}, observation.provenance.command))
            whats[f"{reply.need.kind.value}{_of(reply.need, observation)}"] = None
    return tuple(
        NotTested(layer, ", ".join(list(whats)[:6]), why, command)
        for (_, why), (whats, command) in by_trouble.items()
        if why not in told
    )


def _of(need: Need, one: Observation[Any]) -> str:
    if need.pod:
        return f" of {need.pod}"
    node = need.node or one.provenance.node
    if node:
        return f" of node {node}"
    return f" in {need.namespace}" if need.namespace else ""
