"""What a lint rule is given and what it gives back."""

from __future__ import annotations

import enum

import msgspec

from svcpath.evidence.facts.kubernetes import Object, PodDisruptionBudget
from svcpath.evidence.facts.node import LoadBalancerHealth
from svcpath.models.drain.subject import Field


class Level(enum.Enum):
    """ERROR: can't work as written. WARNING: loses requests or blocks under ordinary events. NOTE: worth knowing.

    The words are SARIF's (2.1.0, 3.27.10)."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class LintFinding(msgspec.Struct, frozen=True):
    """``field`` is the place in ``obj``; the message says what is, with the numbers, and what to do."""

    code: str
    level: Level
    message: str
    obj: Object
    field: Field


class Around(msgspec.Struct, frozen=True):
    """The workload's own object and the objects beside it.

    ``quiescent`` is net.ipv4.vs.expire_quiescent_template where the evidence has it, ``ipvs`` whether a kube-proxy in
    IPVS mode is known.
    """

    obj: Object
    others: tuple[Object, ...] = ()
    disruptions: tuple[PodDisruptionBudget, ...] = ()
    health: tuple[LoadBalancerHealth, ...] = ()
    ipvs: bool = False
    quiescent: str | None = None
