"""What one comparison rests on, and what it remarks beside the differences: both handed to every part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import msgspec

from svcpath.models.dataplanes.drift.dating import SliceIndex
from svcpath.models.dataplanes.drift.difference import Difference, DifferenceKind, NotCovered
from svcpath.models.dataplanes.drift.samples import Sources
from svcpath.models.dataplanes.expected import Expectation
from svcpath.models.dataplanes.layout import Detector
from svcpath.models.dataplanes.table import Backend, ForeignRule, NotUnderstood, ServiceTable, TrafficOrigin
from svcpath.models.dataplanes.times import Times
from svcpath.models.dataplanes.trace import Tracer


class Scope(msgspec.Struct, frozen=True):
    """One node's table, the slices, and the packets to ask it with. ``detectors`` by family (4, 6)."""

    table: ServiceTable
    node: str
    tracer: Tracer
    detectors: Mapping[int, Detector | None]
    sources: Sources
    slices: SliceIndex
    times: Times
    release: tuple[int, int] | None = None

    @property
    def netfilter(self) -> bool:
        """Are there rules to walk? IPVS and the eBPF maps have none."""
        return self.table.ruleset is not None

    def text(self, line: int) -> str:
        return self.table.ruleset.line(line) if self.table.ruleset is not None and line else ""

    def row(
        self,
        item: Expectation,
        kind: DifferenceKind,
        origin: TrafficOrigin,
        backend: Backend | None = None,
        *,
        rule: int = 0,
        share: Fraction | None = None,
        note: str = "",
    ) -> Difference:
        return Difference(
            node=self.node,
            frontend=item.frontend,
            service=item.service,
            kind=kind,
            backend=backend,
            rule=rule,
            text=self.text(rule),
            origins=(origin,),
            share=share,
            note=note,
        )


@dataclass(slots=True)
class Remarks:
    """Filled on the way. ``undecided`` and ``foreign`` by line and chain, so that each stands once; ``not_covered`` is
    an ordered set."""

    undecided: dict[tuple[int, str], NotUnderstood] = field(default_factory=dict)
    foreign: dict[tuple[int, str], ForeignRule] = field(default_factory=dict)
    not_covered: dict[NotCovered, None] = field(default_factory=dict)

    def unread(self, line: NotUnderstood) -> None:
        self.undecided.setdefault((line.line, line.chain), line)

    def of_others(self, rule: ForeignRule) -> None:
        self.foreign.setdefault((rule.line, rule.chain), rule)

    def no_table(self, name: str) -> None:
        text = f"the dump has no table {name}"
        self.undecided.setdefault((0, text), NotUnderstood(0, text))
