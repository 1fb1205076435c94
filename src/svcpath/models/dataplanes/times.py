"""How old a difference is, and what its age says, from times that others recorded.

A slice's managedFields carry the time of its last write; the annotation
endpoints.kubernetes.io/last-change-trigger-time follows Ready transitions only and is the second choice. kube-proxy
tells when it last synced (metric kubeproxy_sync_proxy_rules_last_timestamp_seconds) and when a sync was last queued.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice
from svcpath.evidence.facts.node import Metrics

_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
_LAST_SYNC = "kubeproxy_sync_proxy_rules_last_timestamp_seconds"
_LAST_QUEUED = "kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds"
#: iptables.syncPeriod and nftables.syncPeriod of kube-proxy, and what it clamps a full resync to.
DEFAULT_SYNC_PERIOD = 30.0


class StaleCause(enum.Enum):
    """``LATE``: the change is newer than the last sync, and younger than the sync period. ``STUCK``: newer than the
    last sync, and older than that. ``ALTERED``: synced since the change and different all the same: someone else
    wrote."""

    UNKNOWN = ""
    LATE = "late"
    STUCK = "stuck"
    ALTERED = "altered"


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds since the epoch. ``at`` is when the dump was taken; where it is not known the newest known time stands
    in, which can only make a difference look younger."""

    at: float | None = None
    last_sync: float | None = None
    last_queued: float | None = None
    sync_period: float = DEFAULT_SYNC_PERIOD

    def seen_at(self, change: float) -> float:
        if self.at is not None:
            return self.at
        return max(time for time in (change, self.last_sync, self.last_queued) if time is not None)

    def age(self, change: float) -> float | None:
        return max(0.0, self.seen_at(change) - change) if self.at is not None or self.last_queued is not None else None


def cause_of(change: float, times: Times) -> StaleCause:
    if times.last_sync is None:
        return StaleCause.UNKNOWN
    if times.last_sync >= change:
        return StaleCause.ALTERED
    return StaleCause.LATE if times.seen_at(change) - change <= times.sync_period else StaleCause.STUCK


def changed_at(item: EndpointSlice) -> float | None:
    """When the slice was last written, as far as it tells."""
    written = [seconds_of(field.time) for field in item.metadata.managed_fields or () if field.time]
    known = [time for time in written if time is not None]
    if known:
        return max(known)
    return seconds_of(item.annotations.get(_TRIGGER_TIME, "")) or seconds_of(item.metadata.creation_timestamp or "")


def seconds_of(text: str) -> float | None:
    """RFC 3339, as the API writes it, to seconds; None if it is none."""
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()


def times_of(metrics: Iterable[Metrics], *, at: float | None = None, sync_period: float | None = None) -> Times:
    """From kube-proxy's metrics; a zero (never synced) counts as not known."""
    moments: dict[str, float] = {}
    for item in metrics:
        for sample in item.samples:
            if sample.name in (_LAST_SYNC, _LAST_QUEUED) and sample.value > 0:
                moments[sample.name] = max(sample.value, moments.get(sample.name, 0.0))
    return Times(
        at=at,
        last_sync=moments.get(_LAST_SYNC),
        last_queued=moments.get(_LAST_QUEUED),
        sync_period=sync_period if sync_period else DEFAULT_SYNC_PERIOD,
    )
