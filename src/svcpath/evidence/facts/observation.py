"""One fact with its provenance, and the three ways a look can end.

``present``: it was looked at and here it is. ``absent``: it was looked for where it would be, and it is not there.
``unreadable``: it could not be looked at, and why. "Not observed" is ``unreadable``, never ``absent``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from svcpath.errors import ModelError
from svcpath.evidence.facts.need import Kind

FactT_co = TypeVar("FactT_co", covariant=True)


class State(enum.Enum):
    PRESENT = "present"
    ABSENT = "absent"
    UNREADABLE = "unreadable"


class Reason(enum.Enum):
    """Why an observation is not present. Code decides by it alone; ``Observation.why`` says it to people."""

    # absent: it was looked for where it would be
    NOT_AMONG = "not-among"  #: the objects of its kind were looked at, and it is none of them
    DELETED = "deleted"  #: it was there, and was seen to be deleted
    NOTHING_THERE = "nothing-there"  #: the place was looked at and holds nothing of the kind
    # unreadable, though nothing went wrong
    NOT_RECORDED = "not-recorded"  #: these files do not hold it
    NOT_OFFERED = "not-offered"  #: this source has nothing of the kind, or was not asked about anything
    NO_WAY_IN = "no-way-in"  #: nothing is there through which it could be looked at
    # unreadable: it was there to look at
    NOT_EVERYWHERE = "not-everywhere"  #: not all places were looked at, by the Need's own bound
    LEFT_OUT = "left-out"  #: it was looked at, and is not in this bundle
    NOT_ALLOWED = "not-allowed"  #: the caller forbade such looks
    DENIED = "denied"  #: the account has not the right
    LIMIT = "limit"  #: a bound of this run was reached
    TIMED_OUT = "timed-out"  #: the API server did not answer in time
    UNREACHED = "unreached"  #: no command got to the kubelet of the Pod's node, or none came back in time
    NOT_RUNNING = "not-running"  #: the Pod to look into is not there or does not run
    NO_TOOL = "no-tool"  #: the container has no program that can show it
    MALFORMED = "malformed"  #: what came back does not parse
    FAILED = "failed"  #: it went wrong in another way


#: Unreadable, and yet no look was refused: there was nothing to look at.
_NOTHING_REFUSED = frozenset({Reason.NOT_RECORDED, Reason.NOT_OFFERED, Reason.NO_WAY_IN})


class Trouble(msgspec.Struct, frozen=True):
    """Why a look gave nothing: for code, and for people."""

    reason: Reason
    why: str

    def __str__(self) -> str:
        return self.why


class Provenance(msgspec.Struct, frozen=True, gc=False):
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
    """What one look gave. ``value`` is set exactly when ``state`` is present, ``reason`` otherwise, with ``why`` as its text."""

    kind: Kind
    state: State
    value: FactT_co | None = None
    reason: Reason | None = None
    why: str = ""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if (self.value is not None) != (self.state is State.PRESENT):
            raise ValueError("an Observation has a value exactly when it is present")
        if (self.reason is None) != (self.state is State.PRESENT):
            raise ValueError("an Observation has a reason exactly when it is not present")

    @property
    def fact(self) -> FactT_co:
        """The value of a present Observation; a caller's mistake on any other."""
        if self.value is None:
            raise ModelError(f"no value: the observation is {self.state.value}")
        return self.value

    @property
    def refused(self) -> bool:
        """It was there to look at and could not be read: what the others do not have may be in it."""
        return self.state is State.UNREADABLE and self.reason not in _NOTHING_REFUSED


def unreadable(kind: Kind, trouble: Trouble, provenance: Provenance) -> Observation[Any]:
    return Observation(kind, State.UNREADABLE, reason=trouble.reason, why=trouble.why, provenance=provenance)


def absent(kind: Kind, reason: Reason, why: str, provenance: Provenance) -> Observation[Any]:
    return Observation(kind, State.ABSENT, reason=reason, why=why, provenance=provenance)
