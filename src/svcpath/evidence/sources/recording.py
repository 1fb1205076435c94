"""A Source that keeps what another Source answered: the log of Need -> Observations that a bundle is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.source import Source, Then, confirm, expect, settled


class RecordingSource:
    """Answers each Need once from ``source`` and from its own log ever after, so that all walks over it see one state."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.log: dict[Need, tuple[Observation[Any], ...]] = {}

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        fresh = self._fresh(needs)
        if fresh:
            for need, found in zip(fresh, self._source.observe(fresh), strict=True):
                self.log[need] = tuple(found)
        return [self.log[need] for need in needs]

    def settled(self, request: Request) -> Request:
        return settled(self._source, request)

    def expect(self, needs: Sequence[Need], then: Then | None = None) -> None:
        fresh = self._fresh(needs)

        def later(found: Sequence[tuple[Observation[Any], ...]]) -> Sequence[Need]:
            answers = dict(zip(fresh, found, strict=True))
            known = [answers[need] if need in answers else self.log[need] for need in needs]
            return self._fresh(then(known)) if then is not None else ()

        expect(self._source, fresh, later if then is not None else None)

    def _fresh(self, needs: Sequence[Need]) -> list[Need]:
        return [need for need in dict.fromkeys(needs) if need not in self.log]

    def confirm(self, request: Request) -> None:
        confirm(self._source, request)
