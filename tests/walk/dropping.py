"""A Source that hides one observation of another: it could not be looked at, and says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from svcpath.evidence.facts.need import Need
from svcpath.evidence.facts.observation import Observation, State
from svcpath.evidence.facts.source import Source


class Without:
    """``inner`` without one observation. Where it was the only one that met a Need, it is unreadable there; where
    others are left, an unreadable one stands beside them, so that nothing can be concluded from what is missing."""

    def __init__(self, inner: Source, hidden: Observation[Any]) -> None:
        self._inner = inner
        self._hidden = hidden
        self.asked = False

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        return [self._without(held) for held in self._inner.observe(needs)]

    def _without(self, held: tuple[Observation[Any], ...]) -> tuple[Observation[Any], ...]:
        if not any(one is self._hidden for one in held):
            return held
        self.asked = True
        unread = dataclasses.replace(
            self._hidden,
            state=State.UNREADABLE,
            value=None,
            reason="hidden",
            provenance=dataclasses.replace(self._hidden.provenance, listing=False),
        )
        return tuple(unread if one is self._hidden else one for one in held)


class Recording:
    """Which observations a walk over ``inner`` is given, in the order in which it meets them."""

    def __init__(self, inner: Source) -> None:
        self._inner = inner
        self.given: dict[int, Observation[Any]] = {}

    def observe(self, needs: Sequence[Need]) -> Sequence[tuple[Observation[Any], ...]]:
        replies = self._inner.observe(needs)
        for held in replies:
            for one in held:
                if one.state is State.PRESENT:
                    self.given.setdefault(id(one), one)
        return replies
