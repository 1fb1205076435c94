"""A Source that hides one observation of another, which could not be looked at and says so; and what must hold then."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from svcpath.api import diagnose
from svcpath.errors import UsageError
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation, Reason, State
from svcpath.evidence.facts.source import Source
from svcpath.reports.report import Report
from tests.walk.options import Asked

STANDINGS = ("refuted", "possible", "supported", "proven")


def same(one: Observation[Any], other: Observation[Any]) -> bool:
    """Whether both saw the same thing by the same look: on a cluster an object is seen by itself and in a list."""
    if one is other:
        return True
    alike = one.provenance.command == other.provenance.command != "" and one.provenance.path == other.provenance.path
    return (
        one.kind is other.kind and alike and one.provenance.line == other.provenance.line and one.value == other.value
    )


class Without:
    """``inner`` without one observation, however often it was made. Where it was the only one that met a Need, it is
    unreadable there; where others are left, an unreadable one stands beside them, so that nothing can be concluded from what is
    missing."""

    def __init__(self, inner: Source, hidden: Observation[Any]) -> None:
        self._inner = inner
        self._hidden = hidden
        self.asked = False

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        return [self._without(held) for held in self._inner.observe(needs)]

    def _without(self, held: tuple[Observation[Any], ...]) -> tuple[Observation[Any], ...]:
        if not any(same(one, self._hidden) for one in held):
            return held
        self.asked = True
        unread = dataclasses.replace(
            self._hidden,
            state=State.UNREADABLE,
            value=None,
            reason=Reason.FAILED,
            why="hidden",
            provenance=msgspec.structs.replace(self._hidden.provenance, listing=False),
        )
        return tuple(unread if same(one, self._hidden) else one for one in held)


class Recording:
    """Which observations a walk over ``inner`` is given, in the order in which it meets them."""

    def __init__(self, inner: Source) -> None:
        self._inner = inner
        self.given: dict[int, Observation[Any]] = {}

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        replies = self._inner.observe(needs)
        for held in replies:
            for one in held:
                if one.state is State.PRESENT and not any(same(one, known) for known in self.given.values()):
                    self.given[id(one)] = one
        return replies


@dataclass(frozen=True)
class Dropped:
    """What one walk said with one observation hidden; ``named`` are words of which one must tell of it."""

    kind: Kind
    what: str
    base: Report
    report: Report
    rested: bool
    layers: frozenset[str]

    @property
    def said(self) -> str:
        one, other = self.base.verdict, self.report.verdict
        return f"without {self.what}: {one.status} {one.code} -> {other.status} {other.code}: {other.summary}"


def _each(source: Source, options: Asked) -> tuple[Dropped, ...]:
    recorder = Recording(source)
    base = diagnose(recorder, **options)
    found = []
    for one in recorder.given.values():
        try:
            report = diagnose(Without(source, one), **options)
        except UsageError:
            continue  # without it, nothing says which Service is meant
        ids = {
            each.id
            for each in base.observations
            if (each.kind, each.path, each.line, each.command)
            == (one.kind.value, one.provenance.path, one.provenance.line, one.provenance.command)
        }
        layers = frozenset(
            finding.layer
            for finding in base.findings
            if finding.status in ("fail", "warn") and any(each.observation in ids for each in finding.evidence)
        )
        what = one.provenance.command or one.provenance.path
        found.append(Dropped(one.kind, what, base, report, bool(layers), layers))
    return tuple(found)


def a_hidden_observation_never_accuses_what_was_healthy(dropped: tuple[Dropped, ...]) -> None:
    for one in dropped:
        if one.base.verdict.status == "healthy" and not _warns_by_rule(one):
            assert one.report.verdict.status in ("healthy", "inconclusive"), one.said


def _warns_by_rule(one: Dropped) -> bool:
    """Two warnings are what less evidence makes: of a client whose resolver is not known, which resolvers would fail; of a
    policy that was read where no connection was tried, that it may be enforced."""
    said = one.report.verdict
    if said.status != "warning":
        return False
    return (one.kind is Kind.RUNTIME and said.layer == "resolution") or (
        said.code == "SP503" and said.standing == "possible"
    )


def a_fault_becomes_healthy_only_with_the_sentence_that_names_what_was_not_tested(dropped: tuple[Dropped, ...]) -> None:
    for one in dropped:
        if one.base.verdict.status == "fault" and one.report.verdict.status == "healthy":
            gaps = [gap for gap in one.report.not_tested if gap.why == "hidden" or gap.command == one.what]
            gaps += [gap for gap in one.report.not_tested if one.kind is Kind.SOCKETS and "sockets" in gap.what]
            gaps += [gap for gap in one.report.not_tested if one.kind in DUMPS and gap.what == "the nodes' tables"]
            assert gaps, f"{one.said}\nnothing says that {one.what} was not looked at"
            assert any(gap.what in one.report.verdict.summary for gap in gaps), one.said


DUMPS = frozenset(kind for kind in Kind if kind.value in ("iptables-save", "nft-list", "nft-json", "ipvsadm-Ln"))


def what_a_finding_rested_on_is_missed(dropped: tuple[Dropped, ...]) -> None:
    """Its layer is not tested or undecided, a standing is lower, the finding is another, or a look is named as missing."""
    for one in dropped:
        if not one.rested:
            continue
        before = {layer.name: layer.status for layer in one.base.layers}
        after = {layer.name: layer.status for layer in one.report.layers}
        changed = any(
            after[layer] in ("not-tested", "inconclusive", "skipped") and after[layer] != before[layer]
            for layer in one.layers
        )
        lower = _standing(one.report) < _standing(one.base)
        other = [each.sentence for each in one.report.findings] != [each.sentence for each in one.base.findings]
        named = [gap for gap in one.report.not_tested if gap not in one.base.not_tested]
        assert changed or lower or other or named, one.said


def every_look_counts(source: Source, options: Asked) -> int:
    """Hides each observation once and holds what is said then against what was said with it. Returns how many there are."""
    dropped = _each(source, options)
    assert dropped
    a_hidden_observation_never_accuses_what_was_healthy(dropped)
    a_fault_becomes_healthy_only_with_the_sentence_that_names_what_was_not_tested(dropped)
    what_a_finding_rested_on_is_missed(dropped)
    no_standing_rises_because_less_was_looked_at(dropped)
    return len(dropped)


def _standing(report: Report) -> int:
    return STANDINGS.index(report.verdict.standing or "refuted")


def no_standing_rises_because_less_was_looked_at(dropped: tuple[Dropped, ...]) -> None:
    for one in dropped:
        if one.base.verdict.code == one.report.verdict.code and one.base.verdict.standing:
            assert _standing(one.report) <= _standing(one.base), one.said
