"""What Cilium holds for one frontend, and where that sends a new connection.

Slot 0 of a service is its head; a backend in state ``terminating`` gets no new connection while an active one exists;
a frontend with scope ``/i`` answers inside the cluster where the external traffic policy is Local. Where the agent prefers
backends (service affinity of a cluster mesh), only those of them that are active are put into the map.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from svcpath.models.dataplanes.table import (
    Backend,
    Frontend,
    NotUnderstood,
    PacketOutcome,
    PacketVerdict,
    Share,
    TableEntry,
    TrafficOrigin,
)


class CiliumBackend(NamedTuple):
    """A backend as the agent or the map lists it; ``id`` "" where it is not given."""

    backend: Backend
    state: str
    slot: int
    line: int
    id: str = ""
    preferred: bool = False


class FrontendRead:
    """What was read of one frontend and scope."""

    __slots__ = ("count", "kind", "lines", "lost", "rev_nat", "service", "targets", "unread")

    def __init__(self) -> None:
        self.targets: list[CiliumBackend] = []
        self.lost: list[tuple[int, int]] = []
        self.lines: list[int] = []
        self.unread: list[NotUnderstood] = []
        self.kind = ""
        self.service: str | None = None
        self.rev_nat = 0
        self.count: tuple[int, int] | None = None


#: A frontend and its scope: internal, external, or "" for both.
Key = tuple[Frontend, str]


def entries_of(frontends: dict[Key, FrontendRead]) -> dict[Frontend, TableEntry]:
    """One entry per frontend; by origin where its scopes differ."""
    entries: dict[Frontend, TableEntry] = {}
    for frontend in dict.fromkeys(frontend for frontend, _ in frontends):
        if frontend.port == 0:
            continue  # 10.96.0.10:0/ANY: what is sent to another port of a cluster IP; no Service has port 0
        outer = frontends.get((frontend, "external")) or frontends.get((frontend, ""))
        inner = frontends.get((frontend, "internal"))
        lead = outer or inner
        assert lead is not None
        by_origin = None
        if inner is not None:
            within = _outcome(inner)
            by_origin = {TrafficOrigin.POD.value: within, TrafficOrigin.NODE.value: within}
            by_origin[TrafficOrigin.EXTERNAL.value] = (
                _outcome(outer) if outer is not None else PacketOutcome(verdict=PacketVerdict.NONE)
            )
        both = [item for item in (outer, inner) if item is not None]
        entries[frontend] = TableEntry(
            service=lead.service,
            target=lead.kind,
            kind=lead.kind,
            lines=tuple(line for item in both for line in item.lines),
            outcome=_outcome(lead),
            by_origin=by_origin,
            facts={
                "targets": tuple(target for item in both for target in item.targets),
                "lost": tuple(pair for item in both for pair in item.lost),
                "rev_nat": lead.rev_nat,
                "count": lead.count,
            },
        )
    return entries


def _outcome(read: FrontendRead) -> PacketOutcome:
    """Active backends share alike; with none, the terminating ones; a slot beyond COUNT is quarantined."""
    targets = read.targets
    if read.count is not None and any(target.slot for target in targets):
        within = [target for target in targets if target.slot <= read.count[0]]
        targets = within or targets
    taking = [target for target in targets if target.state in ("", "active")]
    if not taking:
        taking = [target for target in targets if target.state == "terminating"]
    taking = [target for target in taking if target.preferred] or taking
    lost = len(read.lost)
    whole = len(taking) + lost
    shares = tuple(Share(target.backend, Fraction(1, whole), target.line) for target in taking)
    unread = tuple(read.unread)
    if not shares:
        return PacketOutcome(verdict=PacketVerdict.DROP if lost else PacketVerdict.REJECT, undecided=unread)
    other = ((PacketVerdict.DROP, Fraction(lost, whole)),) if lost else ()
    return PacketOutcome(verdict=PacketVerdict.BACKENDS, backends=shares, other=other, undecided=unread)
