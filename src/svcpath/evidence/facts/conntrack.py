"""Connection tracking entries and per-CPU statistics, as conntrack(8) and /proc/net/nf_conntrack print them."""

from __future__ import annotations

import msgspec


class Tuple(msgspec.Struct, frozen=True):
    """One direction of a flow; ports are 0 for protocols without."""

    source: str
    destination: str
    source_port: int = 0
    destination_port: int = 0


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """``protocol`` TCP, UDP, SCTP, ICMP, ...; ``state`` the TCP state or ""; ``timeout`` seconds left."""

    protocol: str
    original: Tuple
    reply: Tuple
    state: str = ""
    timeout: int | None = None
    unreplied: bool = False
    assured: bool = False
    mark: int | None = None
    zone: int | None = None
    id: int | None = None
    line: int = 0


class FlowTable(msgspec.Struct, frozen=True, kw_only=True):
    flows: tuple[Flow, ...]


class ConntrackStats(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over CPUs of `conntrack -S`, by counter name (insert_failed, drop, early_drop, ...)."""

    counters: dict[str, int]
    cpus: int
