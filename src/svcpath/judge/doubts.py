"""What the evidence itself puts in doubt, and the findings that are made of it.

A finding that fails by something that is missing fails only if the place where it would be was read whole: a slice that
could not be read, a file that is cut off, or objects of two clusters side by side leave it undecided. Which code rests on
which absence stands in the catalogue (``rests_on``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.text import SameNameObjects
from svcpath.findings.catalogue import Rests, entry, finding
from svcpath.findings.finding import Evidence, Finding
from svcpath.status import Confidence, Status
from svcpath.walk.quality import Damage, Quality

_A_SLICE = "a slice could not be read"
_A_FILE = "a file of the evidence is damaged"
_TWO_CLUSTERS = "the evidence may be of two clusters"
#: Slices are objects too: what is in no slice of a file that is cut off may be in one that it lost.
_IN_OBJECTS = frozenset({Rests.OBJECTS, Rests.SLICES})


class Doubts(msgspec.Struct, frozen=True):
    """``slices``: some slice could not be read beside others that were. ``objects``: a file of objects is cut off.
    ``cut``: paths of files that lost something on the path. ``mixed``: nothing that fails can be trusted."""

    slices: bool
    objects: bool
    cut: frozenset[str]
    mixed: bool

    def lowered(self, found: Finding) -> Finding:
        """The finding as it may stand: one that fails by what may only be missing from the evidence decides nothing."""
        why = self._why(found) if found.status is Status.FAIL else ""
        return _inconclusive(found, why) if why else found

    def _why(self, found: Finding) -> str:
        rests_on = entry(found.code).rests_on
        if self.slices and Rests.SLICES in rests_on:
            return _A_SLICE
        if self.objects and rests_on & _IN_OBJECTS and not _shown_empty(found):
            return _A_FILE
        if Rests.TABLE in rests_on and self.cut & _paths(found):
            return _A_FILE
        return _TWO_CLUSTERS if self.mixed else ""


def doubts(quality: Quality, unread: Iterable[Observation[Any]]) -> Doubts:
    return Doubts(
        slices=quality.some_slice and any(look.refused and look.kind is Kind.ENDPOINT_SLICE for look in unread),
        objects=any(damage.layer == "endpoints" and damage.cut for damage in quality.damages),
        cut=frozenset(damage.path for damage in quality.damages if damage.cut),
        mixed=bool(quality.mixed),
    )


def _paths(found: Finding) -> set[str]:
    return {shown.observation.provenance.path for shown in found.evidence if shown.observation}


def _shown_empty(found: Finding) -> bool:
    """Where the catalogue says so, an empty slice shows that nothing is selected, whatever else was lost."""
    values = [shown.observation.value for shown in found.evidence if shown.observation is not None]
    slices = [value for value in values if isinstance(value, EndpointSlice)]
    empty = bool(slices) and not any(slice_.endpoints for slice_ in slices)
    return entry(found.code).empty_slice_proves and empty


def _inconclusive(found: Finding, why: str) -> Finding:
    return msgspec.structs.replace(
        found,
        status=Status.INCONCLUSIVE,
        sentence=f"{found.sentence}; {why}",
        hypotheses=tuple(
            hypothesis
            if hypothesis.confidence is Confidence.REFUTED
            else msgspec.structs.replace(hypothesis, confidence=Confidence.POSSIBLE)
            for hypothesis in found.hypotheses
        ),
    )


def findings(quality: Quality) -> tuple[Finding, ...]:
    """What is said about the evidence itself: objects of two clusters (SP002), damaged files (SP001)."""
    return (*_mixed(quality.mixed), *(_damaged(damage) for damage in quality.damages))


def _mixed(mixed: tuple[Observation[SameNameObjects], ...]) -> tuple[Finding, ...]:
    if not mixed:
        return ()
    first = min(mixed, key=lambda pair: pair.fact.kind != "Service")
    pair = first.fact
    subject = f"{pair.kind} {pair.name}" + (f" of namespace {pair.namespace}" if pair.namespace else "")
    others = ", ".join(pair.others[:3])
    return (
        finding(
            "SP002",
            Status.INCONCLUSIVE,
            f"the evidence is of two clusters, or from before and after {pair.kind} {pair.name} was recreated: {subject} "
            f"has {pair.what} {pair.first} in {first.provenance.path} and {pair.second} in {others}",
            evidence=(Evidence(f"{subject}: {pair.what} {pair.first}, elsewhere {pair.second}", first),),
            confidence=None,
            layer="service",
        ),
    )


def _damaged(damage: Damage) -> Finding:
    fact, path = damage.observation.fact, damage.path
    at = f" at line {fact.line}" if fact.line else ""
    read = f" ({fact.read} read)" if fact.read else ""
    return finding(
        "SP001",
        Status.INCONCLUSIVE if damage.cut else Status.WARN,
        f"{path}: damaged {fact.kind}{at}: {fact.why}{read}",
        evidence=(Evidence(f"{path} is damaged: {fact.why}", damage.observation),),
        confidence=None,
        layer=damage.layer,
    )
