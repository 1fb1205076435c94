"""Which of a node's tables is in use, what says so, and what another mode left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice
from svcpath.evidence.facts.node import KubeProxyConfig
from svcpath.models.dataplanes import Times, changed_at, times_of
from svcpath.models.dataplanes.mode import last_sync_of_log, node_plane, release_of_log
from svcpath.walk.ask import Reply
from svcpath.walk.nodes.tables import NodeTables, TableDump


class Plane(msgspec.Struct, frozen=True):
    """``used`` None: no table of the mode in use was read. ``more`` are tables of the same mode that hold another
    address family (ip6tables-save beside iptables-save). ``declared_by`` says where the mode is declared, ``rules`` how
    many nat rules kube-proxy's metrics count, ``changes`` when each slice was last written (seconds since the epoch)."""

    used: TableDump | None
    left: tuple[TableDump, ...]
    mode: str
    declared_by: tuple[str, ...]
    certain: bool
    release: tuple[int, int] | None
    times: Times = msgspec.field(default_factory=Times)
    rules: int = 0
    changes: Mapping[str, float] = msgspec.field(default_factory=dict)
    more: tuple[TableDump, ...] = ()

    @property
    def dumps(self) -> tuple[TableDump, ...]:
        """All tables of the mode in use, one per address family where a dump holds one alone."""
        return (self.used, *self.more) if self.used is not None else ()

    def holding(self, address: str) -> TableDump | None:
        """The table in use that holds an address's family; the first when none says so."""
        family = 6 if ":" in address else 4
        return next((dump for dump in self.dumps if family in dump.table.families), self.used)

    def without(self, covered: TableDump) -> frozenset[int]:
        """Families that another table in use holds: what is missing of them from ``covered`` is no gap."""
        others = frozenset(family for dump in self.dumps if dump is not covered for family in dump.table.families)
        return others - covered.table.families


def _other_families(
    node: NodeTables, used: TableDump | None, log: str, config: KubeProxyConfig | None
) -> tuple[TableDump, ...]:
    """Of the dumps that share no family with the one in use, the one that ``node_plane`` would choose."""
    if used is None:
        return ()
    apart = [
        dump
        for dump in node.dumps
        if dump.table.dialect is used.table.dialect and not dump.table.families & used.table.families
    ]
    found = node_plane([dump.table for dump in apart], log=log, config=config).in_use if apart else None
    return tuple(dump for dump in apart if dump.table is found)


def plane(node: NodeTables, logs: Reply, configs: Reply, metrics: Reply, slices: Iterable[EndpointSlice]) -> Plane:
    """Sort a node's tables by kube-proxy's own word (log, configuration), else by what the tables hold."""
    texts = [observation.fact.text for observation in logs.present if observation.fact.component in ("kube-proxy", "")]
    log = "\n".join(texts)
    config: KubeProxyConfig | None = next((observation.fact for observation in configs.present), None)
    found = node_plane([dump.table for dump in node.dumps], log=log, config=config)
    by_table = {id(dump.table): dump for dump in node.dumps}
    times = times_of([scrape.fact for scrape in metrics.present])
    if times.last_sync is None and log and (year := _year(logs)):
        synced = last_sync_of_log(log, year)
        if synced is not None:
            times = Times(at=times.at, last_sync=synced, last_queued=times.last_queued, sync_period=times.sync_period)
    used = by_table.get(id(found.in_use)) if found.in_use is not None else None
    return Plane(
        used=used,
        more=_other_families(node, used, log, config),
        left=tuple(by_table[id(table)] for table in found.leftovers if id(table) in by_table),
        mode=found.mode,
        declared_by=found.evidence,
        certain=found.certain,
        release=release_of_log(log),
        times=times,
        rules=_rules(metrics),
        changes={slice_.name: at for slice_ in slices if (at := changed_at(slice_)) is not None},
    )


def _rules(metrics: Reply) -> int:
    return sum(
        int(sample.value)
        for scrape in metrics.present
        for sample in scrape.fact.samples
        if sample.name == "kubeproxy_sync_proxy_rules_iptables_total" and sample.labels.get("table") == "nat"
    )


def _year(logs: Reply) -> int | None:
    """klog writes no year; only a collected log whose time of collection is known tells it."""
    for log in logs.present:
        at = log.provenance.at
        if at and at[:4].isdecimal():
            return int(at[:4])
    return None
