"""What a live look could not see, said in the layer that asked: no missing right or timeout passes for a fact.

A look that went wrong carries the command that would repeat it; a kind that a source just does not offer carries none and
is no trouble.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.walk.ask import Reply
from svcpath.walk.findings.finding import LayerName, NotTested

#: How a look ends that the API server could not hand on to the kubelet of the Pod's node, or that got nothing from it.
_UNREACHED = re.compile(r"did not end in \d|does not reach the kubelet")


def _is_trouble(one: Observation[Any]) -> bool:
    return one.state is State.UNREADABLE and one.provenance.source == "kube" and bool(one.provenance.command)


def failed(observations: Iterable[Observation[Any]]) -> Observation[Any] | None:
    """The first look of ``observations`` that went wrong on a cluster, if one did."""
    return next((one for one in observations if _is_trouble(one)), None)


def unreached(observations: Iterable[Observation[Any]]) -> Observation[Any] | None:
    """A look into a Pod that no command reached."""
    found = failed(observations)
    return found if found is not None and _UNREACHED.search(found.reason) else None


def troubles(layer: LayerName, met: Iterable[Reply], told: Collection[str]) -> tuple[NotTested, ...]:
    """A gap of ``layer`` for each reason why something could not be looked at, but those that it ``told`` itself."""
    by_reason: dict[str, tuple[dict[str, None], str]] = {}
    for reply in met:
        for observation in reply.not_read:
            if not _is_trouble(observation):
                continue
            whats, _ = by_reason.setdefault(observation.reason, ({}, observation.provenance.command))
            whats[f"{reply.need.kind.value}{_of(reply.need, observation)}"] = None
    return tuple(
        NotTested(layer, ", ".join(list(whats)[:6]), reason, command)
        for reason, (whats, command) in by_reason.items()
        if reason not in told
    )


def _of(need: Need, one: Observation[Any]) -> str:
    if need.pod:
        return f" of {need.pod}"
    node = need.node or one.provenance.node
    if node:
        return f" of node {node}"
    return f" in {need.namespace}" if need.namespace else ""
