"""Drives layers with a Source: each Need is met once, however many layers ask it."""

from __future__ import annotations

from typing import Any, TypeVar

from svcpath.evidence.facts.need import Cost, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.facts.observations import Observations
from svcpath.evidence.facts.source import Source
from svcpath.walk.ask import Asking, Reply

T = TypeVar("T")


class Driver:
    """Runs layer generators to their end. Replies are kept, so that a walk sees one state of the world."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._met: dict[Need, tuple[Observation[Any], ...]] = {}
        self._probed: list[Need] = []

    def run(self, asking: Asking[T]) -> T:
        """Run one generator, meeting its batches side by side; returns what it returns."""
        try:
            batch = next(asking)
            while True:
                self._meet(batch)
                batch = asking.send(tuple(Reply(need, self._known(need)) for need in batch))
        except StopIteration as end:
            value: T = end.value
            return value

    def _meet(self, batch: tuple[Need, ...]) -> None:
        fresh = tuple(need for need in dict.fromkeys(batch) if need not in self._met)
        if not fresh:
            return
        for need, observations in zip(fresh, self._source.observe(fresh), strict=True):
            self._met[need] = Observations.of(observations)
            if need.about and need.cost is Cost.PROBE:
                self._probed.append(need)

    def _known(self, need: Need) -> tuple[Observation[Any], ...]:
        """What met a Need, and what probes made since then found of the same kind."""
        held = self._met[need]
        more = [
            one
            for probe in self._probed
            if probe is not need and probe.kind is need.kind and need.pod in ("", probe.pod)
            for one in self._met[probe]
        ]
        if not more:
            return held
        known = {id(one): one for one in (*held, *more)}
        present = tuple(one for one in known.values() if one.state is State.PRESENT)
        return (*present, *(one for one in more if one.state is not State.PRESENT)) or held

    def since(self, asked: int) -> tuple[tuple[Need, tuple[Observation[Any], ...]], ...]:
        """What was asked after the first ``asked`` Needs, and what met it."""
        return tuple(self._met.items())[asked:]

    @property
    def asked(self) -> int:
        return len(self._met)

    @property
    def observations(self) -> tuple[Observation[Any], ...]:
        """All that was seen, in the order in which it was asked for."""
        seen: dict[int, Observation[Any]] = {}
        for held in self._met.values():
            for one in held:
                seen.setdefault(id(one), one)
        return tuple(seen.values())
