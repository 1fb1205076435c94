"""What a difference between a node's table and the slices is called, and which ones break a new connection."""

from __future__ import annotations

from svcpath.models.dataplanes import Kind

CODES: dict[Kind, str] = {
    Kind.MISSING: "SP604",
    Kind.STALE: "SP603",
    Kind.WRONG_PORT: "SP603",
    Kind.WRONG_TARGET: "SP603",
    Kind.UNEXPECTED_REJECT: "SP602",
    Kind.UNEXPECTED_DROP: "SP602",
    Kind.FRONTEND_MISSING: "SP601",
    Kind.FOREIGN_RULE: "SP614",
    Kind.SHARE_LOST: "SP616",
    Kind.UNEVEN_SHARES: "SP616",
    Kind.SOURCE_RANGE_OPEN: "SP618",
    Kind.REJECT_MISSING: "SP618",
    Kind.DROP_MISSING: "SP618",
    Kind.MASQUERADE_MISSING: "SP618",
    Kind.MASQUERADE_UNEXPECTED: "SP618",
    Kind.HAIRPIN_MISSING: "SP618",
    Kind.AFFINITY_MISSING: "SP618",
    Kind.AFFINITY_UNEXPECTED: "SP618",
    Kind.AFFINITY_TIMEOUT: "SP618",
    Kind.HEALTH_CHECK_RULE_MISSING: "SP618",
}


#: Kinds that break a new connection, or keep it from an endpoint it should reach.
BREAKS = frozenset(
    {
        Kind.MISSING,
        Kind.STALE,
        Kind.WRONG_PORT,
        Kind.WRONG_TARGET,
        Kind.UNEXPECTED_REJECT,
        Kind.UNEXPECTED_DROP,
        Kind.FRONTEND_MISSING,
        Kind.FOREIGN_RULE,
        Kind.SHARE_LOST,
    }
)
