"""The index that meets Needs from a body of evidence: what was seen, and what it means that nothing was.

A Need is met from the narrowest group that its fields name (facts/observations.py), so that it costs what it returns, however
much else there is; a Need that comes again is given the very same answer. ``meets`` is the rule itself: the same observations
in the same order come from looking at all of them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Provenance, Reason, Trouble, absent, unreadable
from svcpath.evidence.facts.observations import NONE, Observations, same_pod, service_of
from svcpath.evidence.formats import commands

Observed = Observation[Any]

#: A Need for this Pod asks for what has no named owner.
UNOWNED = "?"
_CLUSTER_WIDE = frozenset({Kind.NODE, Kind.NAMESPACE})


class Gone(msgspec.Struct, frozen=True):
    """An object whose last watch event was DELETED."""

    kind: Kind
    namespace: str
    name: str
    service: str
    provenance: Provenance


class Index:
    """``gone`` are objects that were seen to be deleted, ``listed`` the kinds of which a complete list was seen."""

    def __init__(
        self, observations: tuple[Observed, ...], gone: tuple[Gone, ...] = (), listed: frozenset[Kind] = frozenset()
    ) -> None:
        by_kind: dict[Kind, list[Observed]] = defaultdict(list)
        for observation in observations:
            by_kind[observation.kind].append(observation)
        self._by_kind = {kind: Observations(found) for kind, found in by_kind.items()}
        self._gone: dict[Kind, list[Gone]] = defaultdict(list)
        for deleted in gone:
            self._gone[deleted.kind].append(deleted)
        self._listed = listed
        self._met: dict[Need, Observations] = {}
        self._owners: dict[Kind, tuple[str, ...]] = {}

    def of_kind(self, kind: Kind) -> Observations:
        return self._by_kind.get(kind, NONE)

    def meet(self, need: Need) -> Observations:
        """Every observation that meets the Need, or one that says absent or unreadable and why."""
        met = self._met.get(need)
        if met is None:
            met = self._met[need] = self._found(need) or Observations((self._missing(need),))
        return met

    def _found(self, need: Need) -> Observations:
        among = self.of_kind(need.kind)
        if among.objects:
            return _objects(among, need)
        if among.states:
            return _states(among, need)
        return _filtered(among, need)

    # --- what it means that nothing was seen --------------------------------------------------------------------------

    def _missing(self, need: Need) -> Observed:
        command = commands.for_need(need)
        for gone in self._gone.get(need.kind, ()):
            if _named(need, gone.namespace, gone.name, gone.service):
                return absent(need.kind, Reason.DELETED, "deleted, as the recorded watch shows", gone.provenance)
        if need.kind in commands.OBJECT_KINDS:
            return self._missing_object(need, command)
        why = f"no {need.kind.value} in the evidence"
        if owners := self._owners_of(need.kind):
            why = f"no {need.kind.value} of {_subject(need)} in the evidence, only of {', '.join(owners[:5])}"
        return _not_recorded(need, why, command)

    def _missing_object(self, need: Need, command: str) -> Observed:
        others = self.of_kind(need.kind)
        if need.namespace and need.kind not in _CLUSTER_WIDE:
            others = others.in_namespace(need.namespace)
        narrowed = bool(need.name or need.service)
        place = f" of namespace {need.namespace}" if need.namespace else ""
        if others and narrowed:
            listing = others.listing or need.kind in self._listed
            why = f"not among the {len(others)} {_plural(need.kind, len(others))}{place} in the evidence"
            path = others[0].provenance.path if listing else ""
            provenance = Provenance(command=command, path=path, listing=listing)
            return absent(need.kind, Reason.NOT_AMONG, why, provenance)
        if need.kind in self._listed:
            why = f"the list in the evidence has no {need.kind.value}{place}"
            return absent(need.kind, Reason.NOT_AMONG, why, Provenance(command=command, listing=True))
        return _not_recorded(need, f"no {_word(need.kind)}{place} in the evidence", command)

    def _owners_of(self, kind: Kind) -> tuple[str, ...]:
        """Whose state of a kind there is, sorted."""
        if kind not in self._owners:
            owners = {_owner(observation.provenance) for observation in self.of_kind(kind)}
            self._owners[kind] = tuple(sorted(owners))
        return self._owners[kind]


# --- the narrowest group -----------------------------------------------------------------------------------------


def _objects(among: Observations, need: Need) -> Observations:
    if need.namespace and need.kind not in _CLUSTER_WIDE:
        among = among.in_namespace(need.namespace)
    of_pods = need.kind is Kind.POD
    if need.name:
        return _filtered(among.about(need.name) if need.kind is Kind.EVENT else among.named(need.name), need)
    if need.service:
        return _filtered(among.of_service(need.service), need)
    if of_pods and need.pod:
        return _filtered(among.like(need.pod), need)
    if of_pods and need.node:
        return among.on_node(need.node)
    return among


def _states(among: Observations, need: Need) -> Observations:
    if need.pod == UNOWNED:
        return among.unowned
    if need.pod:
        return _filtered(among.of_pod(need.pod), need)
    if need.node:
        among = among.of_node(need.node)
    return _filtered(among, need) if need.container else among


def _filtered(among: Observations, need: Need) -> Observations:
    return Observations(observation for observation in among if meets(observation, need))


# --- the rule ----------------------------------------------------------------------------------------------------


def meets(observation: Observed, need: Need) -> bool:
    """Whether an observation of the Need's kind is of what it asks for."""
    value, provenance = observation.value, observation.provenance
    if isinstance(value, api.Object):
        cluster_wide = need.kind in _CLUSTER_WIDE
        namespace = "" if cluster_wide else value.namespace
        if not _named(need, namespace, value.name, service_of(value), check_namespace=not cluster_wide):
            return False
        if isinstance(value, api.Pod) and need.node and value.spec.node_name != need.node:
            return False
        return not (
            isinstance(value, api.Pod) and need.pod and not same_pod(need.pod, f"{value.namespace}/{value.name}")
        )
    if need.pod == UNOWNED:
        return not provenance.pod and not provenance.node
    if need.node and provenance.node != need.node:
        return False
    if need.pod and not (provenance.pod and same_pod(need.pod, provenance.pod)):
        return False
    return not (need.container and provenance.container and need.container != provenance.container)


def _named(need: Need, namespace: str, name: str, service: str, *, check_namespace: bool = True) -> bool:
    if check_namespace and need.namespace and namespace != need.namespace:
        return False
    if need.name and need.kind is not Kind.EVENT and name != need.name:
        return False
    if need.kind is Kind.EVENT and need.name and need.name not in (name, service):
        return False
    return not (need.service and service != need.service)


# --- in words ----------------------------------------------------------------------------------------------------


def _not_recorded(need: Need, why: str, command: str) -> Observed:
    provenance = Provenance(command=command, node=need.node, pod=need.pod, container=need.container)
    return unreadable(need.kind, Trouble(Reason.NOT_RECORDED, why), provenance)


def _plural(kind: Kind, count: int) -> str:
    if count == 1 or kind.value.endswith("s"):
        return kind.value
    return kind.value.removesuffix("y") + "ies" if kind.value.endswith("cy") else kind.value + "s"


def _word(kind: Kind) -> str:
    """How a kind is called in a sentence. "no EndpointSlice" is easily misread as "no endpoints"."""
    return "slice" if kind is Kind.ENDPOINT_SLICE else kind.value


def _owner(provenance: Provenance) -> str:
    if provenance.pod:
        return f"Pod {provenance.pod}"
    if provenance.node == "?":
        return "an unnamed node"
    return f"node {provenance.node}" if provenance.node else "an unnamed owner"


def _subject(need: Need) -> str:
    if need.pod:
        return f"Pod {need.pod}" + (f", container {need.container}" if need.container else "")
    return f"node {need.node}" if need.node else "what was asked for"
