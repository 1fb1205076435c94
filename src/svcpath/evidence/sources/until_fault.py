"""Probes that are repeated until one fails: intermittent faults are the common ones.

Wraps a cluster: a Need for connections is met again and again, until an attempt fails or the time is over. The round
that failed is what the walk sees, with source ports and time, and the nodes are looked at again right after it, so that the
connection's entry is still there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from svcpath.evidence.facts.connections import Attempts
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.source import Then
from svcpath.evidence.sources.kube import ClusterSource

_FAILED = frozenset({"refused", "timeout", "reset", "no-route", "error"})
#: Seconds between two rounds.
PAUSE = 1.0


class UntilFault:
    """A Source. ``rounds`` and ``tried`` say how much was done; ``said`` is called after each round."""

    def __init__(
        self, source: ClusterSource, seconds: float, report: Callable[[int, int], None] = lambda rounds, tried: None
    ) -> None:
        self._source = source
        self._deadline = time.monotonic() + seconds
        self._said = report
        self.rounds = 0
        self.tried = 0
        self.failed = False

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        return (
            [self._repeat(need) if _is_probe(need) else self._source.observe([need])[0] for need in needs]
            if any(_is_probe(need) for need in needs)
            else self._source.observe(needs)
        )

    def settled(self, request: Request) -> Request:
        return self._source.settled(request)

    def expect(self, needs: Sequence[Need], then: Then | None = None) -> None:
        self._source.expect(needs, then)

    def confirm(self, request: Request) -> None:
        self._source.confirm(request)

    def _repeat(self, need: Need) -> tuple[Observation[Any], ...]:
        while True:
            (found,) = self._source.observe([need])
            attempts = [
                attempt
                for observation in found
                if isinstance(observation.value, Attempts)
                for attempt in observation.value.attempts
            ]
            self.rounds += 1
            self.tried += len(attempts)
            self._said(self.rounds, self.tried)
            self.failed = any(attempt.outcome in _FAILED for attempt in attempts)
            if self.failed:
                self._source.forget_nodes()
            if self.failed or not attempts or time.monotonic() + PAUSE >= self._deadline:
                return tuple(found)
            time.sleep(PAUSE)


def _is_probe(need: Need) -> bool:
    return need.kind is Kind.ATTEMPTS and need.cost is Cost.PROBE and bool(need.about)
