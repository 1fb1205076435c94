"""Drives layers with a Source: each Need is met once, however many layers ask it."""

from __future__ import annotations

from typing import Any, TypeVar

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.source import Source
from svcpath.walk.ask import Asking, Reply

T = TypeVar("T")


class Driver:
    """Runs layer generators to their end. Replies are kept, so that a walk sees one state of the world."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._met: dict[Need, tuple[Observation[Any], ...]] = {}

    def run(self, asking: Asking[T]) -> T:
        """Run one generator, meeting its batches side by side; returns what it returns."""
        try:
            batch = next(asking)
            while True:
                self._meet(batch)
                batch = asking.send(tuple(Reply(need, self._met[need]) for need in batch))
        except StopIteration as end:
            value: T = end.value
            return value

    def _meet(self, batch: tuple[Need, ...]) -> None:
        fresh = tuple(need for need in dict.fromkeys(batch) if need not in self._met)
        if not fresh:
            return
        for need, observations in zip(fresh, self._source.observe(fresh), strict=True):
            self._met[need] = observations

    @property
    def observations(self) -> tuple[Observation[Any], ...]:
        """All that was seen, in the order in which it was asked for."""
        seen: dict[int, Observation[Any]] = {}
        for held in self._met.values():
            for one in held:
                seen.setdefault(id(one), one)
        return tuple(seen.values())
