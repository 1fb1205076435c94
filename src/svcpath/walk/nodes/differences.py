"""What a difference between a node's table and the slices is called, and which ones break a new connection."""

from __future__ import annotations

from svcpath.models.dataplanes import DifferenceKind

CODES: dict[DifferenceKind, str] = {
    DifferenceKind.MISSING: "SP604",
    DifferenceKind.STALE: "SP603",
    DifferenceKind.WRONG_PORT: "SP603",
    DifferenceKind.WRONG_TARGET: "SP603",
    DifferenceKind.UNEXPECTED_REJECT: "SP602",
    DifferenceKind.UNEXPECTED_DROP: "SP602",
    DifferenceKind.FRONTEND_MISSING: "SP601",
    DifferenceKind.FOREIGN_RULE: "SP614",
    DifferenceKind.SHARE_LOST: "SP616",
    DifferenceKind.UNEVEN_SHARES: "SP616",
    DifferenceKind.SOURCE_RANGE_OPEN: "SP618",
    DifferenceKind.REJECT_MISSING: "SP618",
    DifferenceKind.DROP_MISSING: "SP618",
    DifferenceKind.MASQUERADE_MISSING: "SP618",
    DifferenceKind.MASQUERADE_UNEXPECTED: "SP618",
    DifferenceKind.HAIRPIN_MISSING: "SP618",
    DifferenceKind.AFFINITY_MISSING: "SP618",
    DifferenceKind.AFFINITY_UNEXPECTED: "SP618",
    DifferenceKind.AFFINITY_TIMEOUT: "SP618",
    DifferenceKind.HEALTH_CHECK_RULE_MISSING: "SP618",
}


#: Kinds that break a new connection, or keep it from an endpoint it should reach.
BREAKS = frozenset(
    {
        DifferenceKind.MISSING,
        DifferenceKind.STALE,
        DifferenceKind.WRONG_PORT,
        DifferenceKind.WRONG_TARGET,
        DifferenceKind.UNEXPECTED_REJECT,
        DifferenceKind.UNEXPECTED_DROP,
        DifferenceKind.FRONTEND_MISSING,
        DifferenceKind.FOREIGN_RULE,
        DifferenceKind.SHARE_LOST,
    }
)
