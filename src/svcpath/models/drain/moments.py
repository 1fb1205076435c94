"""What a recording holds, in the order of one clock: states of objects as a watch saw them, and what clients noted."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from svcpath.errors import FormatError


class ReceivedEvent(msgspec.Struct, frozen=True):
    """One watch event: ``received`` is seconds since the epoch on the recorder's clock; ``type`` ADDED, MODIFIED or
    DELETED. ``first`` marks the state that a listing gave before the watch began."""

    received: float
    type: str
    obj: Any
    place: str = ""
    first: bool = False


#: curl's and the lab's clients' word for an answer; 000 where none came.
_CODE = re.compile(r"(?:^|\s)code=(\d{3})(?!\S)")
#: The end of kubectl rollout status (pkg/polymorphichelpers/rollout_status.go).
_ROLLED_OUT = re.compile(r"successfully rolled out\s*$")


class Remark(msgspec.Struct, frozen=True):
    """A line of a client's log: seconds since the epoch, the first word as its kind, the rest. What others wrote there is
    read here and nowhere else."""

    at: float
    kind: str
    text: str
    place: str = ""

    @property
    def status(self) -> int | None:
        """The HTTP status that the line gives; 0: no answer came; None: it is not about an answer."""
        found = _CODE.search(self.text)
        return int(found[1]) if found else None

    @property
    def rolled_out(self) -> bool:
        """Whether it is kubectl's word that a rollout is complete."""
        return self.kind == "rollout" and _ROLLED_OUT.search(self.text) is not None

    def names(self, pod: str) -> bool:
        return pod in self.text.split()


class SampledConnection(msgspec.Struct, frozen=True):
    """One connection or request of a sampler, seconds since the epoch (None: not reached).

    ``due`` is when the schedule wanted it, ``start`` when it began. ``peer`` is the Pod that answered, by its own name or
    address; ``outcome`` ok, refused, reset, timeout, cut, http-error or error; ``opened``: a kept connection began with it.
    """

    kind: str
    due: float
    start: float
    connected: float | None
    first_byte: float | None
    end: float
    peer: str
    outcome: str
    status: int = 0
    detail: str = ""
    opened: bool = False


class PlaneChange(msgspec.Struct, frozen=True):
    """A node's data plane stopped or began sending new connections to a backend.

    It happened between ``after`` and ``at`` (equal: the change itself was seen), seconds since the epoch.
    """

    at: float
    after: float
    node: str
    frontend: str
    backend: str
    present: bool


def seconds_of(text: str) -> float:
    """Seconds since the epoch of an RFC 3339 time. Raises FormatError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise FormatError(f"no RFC 3339 time: {text[:40]!r}") from error
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return found.timestamp()


def stamp_of(seconds: float) -> str:
    """RFC 3339 in UTC with milliseconds."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    text = datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{milliseconds:03d}Z"
