"""What a difference between a node's table and the Services is, and the report that holds them.

The kinds are those of what kube-proxy programs (pkg/proxy/{iptables,ipvs,nftables}/proxier.go): backends, rejects,
source ranges, masquerade marks, affinity, the cluster IP check, the health check node port.
"""

from __future__ import annotations

import enum
from fractions import Fraction

import msgspec

from svcpath.models.dataplanes.table import (
    Backend,
    Dialect,
    ForeignRule,
    Frontend,
    NotUnderstood,
    PacketVerdict,
    TrafficOrigin,
)
from svcpath.models.dataplanes.times import StaleCause


class DifferenceKind(enum.Enum):
    """What differs. The first group decides where a new connection goes, the second how it is treated."""

    MISSING = "missing"
    STALE = "stale"
    WRONG_PORT = "wrong port"
    WRONG_TARGET = "wrong target"  #: the port of a named targetPort moved
    UNEXPECTED_REJECT = "unexpected reject"
    UNEXPECTED_DROP = "unexpected drop"
    REJECT_MISSING = "reject missing"
    DROP_MISSING = "drop missing"
    FRONTEND_MISSING = "frontend missing"
    FRONTEND_STALE = "frontend stale"  #: the Service is there, this address or port is not its any more
    SERVICE_UNKNOWN = "service unknown"
    LEFTOVER = "leftover"
    FOREIGN_RULE = "foreign rule"
    SHARE_LOST = "share lost"
    UNEVEN_SHARES = "uneven shares"
    SOURCE_RANGE_OPEN = "source range open"
    MASQUERADE_MISSING = "masquerade missing"
    MASQUERADE_UNEXPECTED = "masquerade unexpected"
    HAIRPIN_MISSING = "hairpin masquerade missing"
    AFFINITY_MISSING = "affinity missing"
    AFFINITY_UNEXPECTED = "affinity unexpected"
    AFFINITY_TIMEOUT = "affinity timeout"
    CLUSTER_IP_CHECK_MISSING = "cluster IP check missing"
    HEALTH_CHECK_RULE_MISSING = "health check rule missing"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One difference on one node.

    ``backend`` None where the frontend as a whole differs; ``wanted`` the backend that should stand there (wrong port).
    ``rule`` is the line in the dump, 0 if there is none; ``origins`` whose connections differ; ``share`` of new
    connections; ``age`` seconds since the slice changed, None if not known; ``slice`` the one that changed;
    ``verdict`` what a leftover does to a packet that it catches, ``dialect`` the mode it is left from.
    """

    node: str
    frontend: Frontend | None
    service: str
    kind: DifferenceKind
    backend: Backend | None = None
    wanted: Backend | None = None
    rule: int = 0
    text: str = ""
    origins: tuple[TrafficOrigin, ...] = ()
    share: Fraction | None = None
    age: float | None = None
    cause: StaleCause = StaleCause.UNKNOWN
    slice: str = ""
    verdict: PacketVerdict | None = None
    dialect: Dialect | None = None
    note: str = ""


class NotCovered(msgspec.Struct, frozen=True):
    """What a dump does not show: a whole ``family`` (4 or 6), or what the slices' backends get of a ``frontend`` that a
    redirect gives to others. ``text`` says it."""

    text: str
    family: int | None = None
    frontend: Frontend | None = None


class DriftReport(msgspec.Struct, frozen=True, kw_only=True):
    """``undecided`` non-empty: what was compared may differ from what the rows say. ``not_covered`` is what the dump
    does not show at all. ``foreign`` are rules of others on the way, certain and possible."""

    node: str
    dialect: Dialect
    rows: tuple[Difference, ...]
    frontends: int
    backends: int
    undecided: tuple[NotUnderstood, ...] = ()
    foreign: tuple[ForeignRule, ...] = ()
    not_covered: tuple[NotCovered, ...] = ()

    @property
    def decided(self) -> bool:
        return not self.undecided

    @property
    def clean(self) -> bool:
        """No drift, and nothing that would keep one from saying so."""
        return not self.rows and not self.undecided
