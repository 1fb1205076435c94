"""What the evidence itself is worth: damaged files, files of no known kind, objects of two clusters side by side.

Only gathered here; how it weighs on findings is the judge's.
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.need import DATA_PLANE_DUMPS, Kind, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.facts.text import Damaged, Twins, Unplaced
from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import LayerName
from svcpath.walk.homes import FORMATS, HOME
from svcpath.walk.request import Request

#: What of these kinds is missing from a damaged file may be what the Service fails by.
ON_THE_PATH = frozenset({Kind.SERVICE, Kind.ENDPOINT_SLICE, Kind.POD, *DATA_PLANE_DUMPS})

#: Services and namespaces that every cluster has: two of one name are of two clusters.
_SERVICES = frozenset({("default", "kubernetes"), ("kube-system", "kube-dns")})
_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease", "default"})


class Quality(msgspec.Struct, frozen=True):
    """``mixed`` are objects on the path that exist twice: of two clusters, or from before and after."""

    damages: tuple[Damage, ...]
    unplaced: tuple[Observation[Unplaced], ...]
    mixed: tuple[Observation[Twins], ...]


class Damage(msgspec.Struct, frozen=True):
    """One damaged file: whose layer it is, and whether what it lost may matter to the path (``cut``)."""

    observation: Observation[Damaged]
    layer: LayerName
    cut: bool

    @property
    def path(self) -> str:
        return self.observation.provenance.path


def damages(observations: tuple[Observation[Any], ...], request: Request) -> Asking[tuple[Damage, ...]]:
    """Every damaged file. ``observations`` are what the walk looked at: they tell which files hold parts of the path. No
    node's table is on the path of a headless Service or an ExternalName."""
    services = [one.value for one in observations if one.kind is Kind.SERVICE and isinstance(one.value, Service)]
    mine = [one for one in services if (one.namespace, one.name) == (request.namespace, request.service)]
    untranslated = any(one.is_headless or one.is_external_name for one in mine)
    on_path = ON_THE_PATH - set(DATA_PLANE_DUMPS) if untranslated else ON_THE_PATH
    kinds: dict[str, set[Kind]] = {}
    for one in observations:
        if one.state is State.PRESENT and one.kind is not Kind.DAMAGED:
            kinds.setdefault(one.provenance.path, set()).add(one.kind)
    (reply,) = yield (Need(Kind.DAMAGED),)
    return tuple(_damage(one, kinds.get(one.provenance.path, set()), on_path) for one in reply.present)


def _damage(one: Observation[Damaged], held: set[Kind], parts: frozenset[Kind]) -> Damage:
    name = one.fact.kind
    layer: LayerName = HOME.get(name, "lifecycle")
    layer = next((home for start, home in FORMATS if name.startswith(start)), layer)
    replaced = "not UTF-8" in one.fact.why or "no Kubernetes objects" in one.fact.why
    if layer == "endpoints" and held and not held & parts:
        layer = "pod" if Kind.NODE in held else "resolution" if Kind.CONFIG_MAP in held else "lifecycle"
    on_path = bool(held & parts) or (layer == "endpoints" and not held)
    return Damage(one, layer, cut=on_path and not replaced)


def gather(observations: tuple[Observation[Any], ...], request: Request) -> Asking[Quality]:
    """``observations`` are what the walk looked at: they tell which files hold parts of the path."""
    damaged = yield from damages(observations, request)
    unplaced, twins = yield (Need(Kind.UNPLACED), Need(Kind.TWINS))
    return Quality(
        damages=damaged,
        unplaced=unplaced.present,
        mixed=tuple(pair for pair in twins.present if _on_path(pair.fact, request)),
    )


def _on_path(pair: Twins, request: Request) -> bool:
    """Only what the path depends on counts: the Service itself, those of the cluster DNS and the API server, nodes, and the
    namespaces that every cluster has or that the Service is in."""
    if pair.kind == "Service":
        return (pair.namespace, pair.name) in {*_SERVICES, (request.namespace, request.service)}
    if pair.kind == "Namespace":
        return pair.name in _NAMESPACES or pair.name in (request.namespace, request.client_namespace)
    return pair.kind == "Node"
