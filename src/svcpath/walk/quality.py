"""What the evidence itself is worth: damaged files, unrecognized files, objects of two clusters side by side.

Only gathered here; how it weighs on findings is the judge's.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.need import DATA_PLANE_DUMPS, Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.text import Damaged, Harm, SameNameObjects, Unplaced
from svcpath.findings.finding import LayerName
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.homes import FORMATS, HOME
from svcpath.walk.scene import Scene

#: What of these kinds is missing from a damaged file may be what the Service fails by.
ON_THE_PATH = frozenset({Kind.SERVICE, Kind.ENDPOINT_SLICE, Kind.POD, *DATA_PLANE_DUMPS})

#: Services and namespaces that every cluster has: two of one name are of two clusters.
_SERVICES = frozenset({("default", "kubernetes"), ("kube-system", "kube-dns")})
_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease", "default"})


class Quality(msgspec.Struct, frozen=True):
    """``some_slice``: an EndpointSlice was read. ``mixed`` are objects on the path that exist twice: of two clusters, or from
    before and after."""

    some_slice: bool
    damages: tuple[Damage, ...]
    unplaced: tuple[Observation[Unplaced], ...]
    mixed: tuple[Observation[SameNameObjects], ...]


class Damage(msgspec.Struct, frozen=True):
    """One damaged file: whose layer it is, and whether what it lost may matter to the path (``cut``)."""

    observation: Observation[Damaged]
    layer: LayerName
    cut: bool

    @property
    def path(self) -> str:
        return self.observation.provenance.path


def gather(replies: Sequence[Reply], scene: Scene) -> Asking[Quality]:
    """``replies`` are what the walk was given: they tell which files hold parts of the path."""
    damaged, unplaced, mixed = yield (Need(Kind.DAMAGED), Need(Kind.UNPLACED), Need(Kind.MIXED_CLUSTERS))
    return Quality(
        some_slice=any(reply.present for reply in replies if reply.need.kind is Kind.ENDPOINT_SLICE),
        damages=_damages(damaged, replies, scene.service),
        unplaced=unplaced.present,
        mixed=tuple(pair for pair in mixed.present if _on_path(pair.fact, scene.request)),
    )


def _damages(damaged: Reply, replies: Sequence[Reply], service: Service | None) -> tuple[Damage, ...]:
    """Every damaged file. No node's table is on the path of a headless Service or an ExternalName."""
    if not damaged.present:
        return ()
    untranslated = service is not None and (service.is_headless or service.is_external_name)
    on_path = ON_THE_PATH - set(DATA_PLANE_DUMPS) if untranslated else ON_THE_PATH
    kinds: dict[str, set[Kind]] = {observation.provenance.path: set() for observation in damaged.present}
    for reply in replies:
        for observation in reply.present if reply.need.kind is not Kind.DAMAGED else ():
            if (found := kinds.get(observation.provenance.path)) is not None:
                found.add(observation.kind)
    return tuple(_damage(file, kinds[file.provenance.path], on_path) for file in damaged.present)


def _damage(file: Observation[Damaged], kinds: set[Kind], parts: frozenset[Kind]) -> Damage:
    """``held`` are the kinds that were read from the file, ``parts`` those that the path depends on."""
    format_ = file.fact.kind
    layer: LayerName = HOME.get(format_, "lifecycle")
    layer = next((home for start, home in FORMATS if format_.startswith(start)), layer)
    if layer == "endpoints" and kinds and not kinds & parts:
        layer = "pod" if Kind.NODE in kinds else "resolution" if Kind.CONFIG_MAP in kinds else "lifecycle"
    on_path = bool(kinds & parts) or (layer == "endpoints" and not kinds)
    return Damage(file, layer, cut=on_path and file.fact.harm is Harm.LOST)


def _on_path(pair: SameNameObjects, request: Request) -> bool:
    """Only what the path depends on counts: the Service itself, those of the cluster DNS and the API server, nodes, and the
    namespaces that every cluster has or that the Service is in."""
    if pair.kind == "Service":
        return (pair.namespace, pair.name) in {*_SERVICES, (request.namespace, request.service)}
    if pair.kind == "Namespace":
        return pair.name in _NAMESPACES or pair.name in (request.namespace, request.client_namespace)
    return pair.kind == "Node"
