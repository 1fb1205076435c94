"""Drives layers with a Source: each Need is met once, however many layers ask it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from svcpath.evidence.facts.need import Cost, Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.facts.observations import Observations
from svcpath.evidence.facts.source import Source, expect
from svcpath.walk.ask import Asking, Batch, Replies, Reply

T = TypeVar("T")


class Driver:
    """Runs layer generators to their end. Replies are kept, so that a walk sees one state of the world."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._met: dict[Need, Reply] = {}
        self._probed: list[Reply] = []

    def run(self, asking: Asking[T]) -> T:
        """Run one generator, meeting its batches side by side; returns what it returns."""
        try:
            batch = next(asking)
            while True:
                self._meet(batch)
                batch = asking.send(tuple(self._reply(need) for need in batch))
        except StopIteration as end:
            value: T = end.value
            return value

    def expect(self, needs: Batch, then: Callable[[Replies], Batch] | None = None) -> None:
        """Say what is going to be asked, and what will be known from that; a Source that can begins to look."""
        if not needs:
            return
        if then is None:
            expect(self._source, needs)
            return
        after = then

        def later(observed: Sequence[tuple[Observation[Any], ...]]) -> Batch:
            return after(tuple(_replied(need, found) for need, found in zip(needs, observed, strict=True)))

        expect(self._source, needs, later)

    def _meet(self, batch: tuple[Need, ...]) -> None:
        fresh = tuple(need for need in dict.fromkeys(batch) if need not in self._met)
        if not fresh:
            return
        for need, observations in zip(fresh, self._source.observe(fresh), strict=True):
            self._met[need] = _replied(need, observations)
            if need.about and need.cost is Cost.PROBE:
                self._probed.append(self._met[need])

    def _reply(self, need: Need) -> Reply:
        """What met a Need, and what probes made since then found of the same kind."""
        own = self._met[need]
        more = [
            observation
            for probe in self._probed
            if probe.need is not need and probe.need.kind is need.kind and need.pod in ("", probe.need.pod)
            for observation in probe.observations
        ]
        if not more:
            return own
        known = {id(observation): observation for observation in (*own.observations, *more)}
        present = tuple(observation for observation in known.values() if observation.state is State.PRESENT)
        joined = (*present, *(observation for observation in more if observation.state is not State.PRESENT))
        return Reply(need, Observations(joined) if joined else own.observations)

    def since(self, asked: int) -> tuple[Reply, ...]:
        """What met the Needs after the first ``asked``."""
        return tuple(self._met.values())[asked:]

    @property
    def asked(self) -> int:
        return len(self._met)

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All that was met, in the order in which it was asked for."""
        return tuple(self._met.values())


def _replied(need: Need, observations: Sequence[Observation[Any]]) -> Reply:
    return Reply(need, Observations.of(observations))
