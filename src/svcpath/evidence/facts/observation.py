"""One fact with its provenance, and the three ways a look can end.

``present``: it was looked at and here it is. ``absent``: it was looked for where it would be, and it is not there.
``unreadable``: it could not be looked at, and why. "Not observed" is ``unreadable``, never ``absent``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

from svcpath.errors import ModelError
from svcpath.evidence.facts.need import Kind

FactT_co = TypeVar("FactT_co", covariant=True)


class State(enum.Enum):
    PRESENT = "present"
    ABSENT = "absent"
    UNREADABLE = "unreadable"


class Provenance(msgspec.Struct, frozen=True):
    """Where a fact comes from, so that anyone can look again.

    ``command`` is a copy-paste shell command or API call; ``path`` is relative to the evidence root (empty for a live
    look) and ``line`` counts from 1 (0: the whole). ``node``, ``pod`` ("namespace/name" or a bare name when the
    namespace is not known) and ``container`` say whose state it is; empty means the evidence does not say.
    ``listing`` is true when the fact was one item of a complete list (a List object, an API list): only then does a
    missing neighbour mean that it does not exist.
    """

    source: str = "files"
    command: str = ""
    path: str = ""
    line: int = 0
    at: str | None = None
    node: str = ""
    pod: str = ""
    container: str = ""
    listing: bool = False


@dataclass(frozen=True, slots=True)
class Observation(Generic[FactT_co]):
    """What one look gave. ``value`` is set exactly when ``state`` is present; ``reason`` says why not otherwise."""

    kind: Kind
    state: State
    value: FactT_co | None = None
    reason: str = ""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if (self.value is not None) != (self.state is State.PRESENT):
            raise ValueError("an Observation has a value exactly when it is present")

    @property
    def fact(self) -> FactT_co:
        """The value of a present Observation; a caller's mistake on any other."""
        if self.value is None:
            raise ModelError(f"no value: the observation is {self.state.value}")
        return self.value
