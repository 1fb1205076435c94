"""What a scenario is played with: one file a scenario has several, of which some hold and some fail for a stated reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScenarioVariant:
    """``holds`` is how it has to come out; ``why`` the reason, in words."""

    name: str
    holds: bool
    why: str
