"""Which data plane a node really uses, and what another one left behind.

Never by guess: kube-proxy says it at its start ("Using iptables Proxier"; cmd/kube-proxy/app/server_linux.go), its
configuration names it, and the tables show it. A mode that is not in use leaves its rules behind when it was changed
without `kube-proxy --cleanup`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from svcpath.evidence.facts.node import KubeProxyConfig
from svcpath.models.dataplanes.table import Dialect, ServiceTable

_PROXIER = re.compile(r"Using (?:the )?(\w+) [Pp]roxier")
_VERSION = re.compile(r'version="?v?(\d+)\.(\d+)')
_KLOG = re.compile(r"[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d+) ")
_SYNCED = re.compile(r"(?:S|s)yncProxyRules complete|Reloading service iptables data|Finished syncing proxy rules")
_MODES = {"iptables": Dialect.IPTABLES, "ipvs": Dialect.IPVS, "nftables": Dialect.NFTABLES}
_SAVED = "iptables-save"


class NodePlane(msgspec.Struct, frozen=True, kw_only=True):
    """``in_use`` None when no table of the mode in use was given. ``mode`` as declared ("" if nothing declares it),
    ``evidence`` says by what. ``certain`` is false when several modes have rules and nothing says which is in use.
    ``beside`` are tables of the same mode for another family (ip6tables-save beside iptables-save); ``leftovers`` are
    tables of other modes that hold frontends."""

    mode: str
    in_use: ServiceTable | None
    beside: tuple[ServiceTable, ...] = ()
    leftovers: tuple[ServiceTable, ...] = ()
    evidence: tuple[str, ...] = ()
    certain: bool = True


def mode_of_log(text: str) -> str:
    """The proxier that kube-proxy's log names, the last if it started more than once; "" if the line rotated away."""
    found = [name.lower() for name in _PROXIER.findall(text) if name.lower() in _MODES]
    return found[-1] if found else ""


def release_of_log(text: str) -> tuple[int, int] | None:
    for line in text.split("\n"):
        if "Version info" in line or "server.go" in line:
            found = _VERSION.search(line)
            if found is not None:
                return int(found.group(1)), int(found.group(2))
    return None


def last_sync_of_log(text: str, year: int) -> float | None:
    """The last sync that the log tells of (verbosity 2 and more), in seconds since the epoch. klog writes no year."""
    last = None
    for line in text.split("\n"):
        if _SYNCED.search(line) is None:
            continue
        found = _KLOG.match(line)
        if found is None:
            continue
        month, day, hour, minute, second, micro = (int(part) for part in found.groups())
        try:
            last = datetime(year, month, day, hour, minute, second, micro % 1_000_000, UTC).timestamp()
        except ValueError:
            continue
    return last


def node_plane(
    tables: Sequence[ServiceTable], *, log: str = "", config: KubeProxyConfig | None = None, mode: str = ""
) -> NodePlane:
    """Sort one node's tables. ``mode`` is what /proxyMode answered, the strongest word there is."""
    six = [table for table in tables if table.families == {6}]
    main = [table for table in tables if table.families != {6}]
    if not main or not six:
        return _one_plane(tables, log, config, mode)
    plane = _one_plane(main, log, config, mode)
    other = _one_plane(six, log, config, plane.mode)
    beside = (other.in_use,) if other.in_use is not None else ()
    return msgspec.structs.replace(plane, beside=beside, leftovers=(*plane.leftovers, *other.leftovers))


def _one_plane(tables: Sequence[ServiceTable], log: str, config: KubeProxyConfig | None, mode: str) -> NodePlane:
    declared, evidence = _declared(log, config, mode)
    kept, variants_left = _one_iptables(list(tables))
    holding = [table for table in kept if table.frontends]
    if declared:
        wanted = _MODES[declared]
        in_use = _best([table for table in kept if table.dialect is wanted])
        others = [table for table in holding if table is not in_use and not _ebpf(table)]
        return NodePlane(
            mode=declared, in_use=in_use, leftovers=(*variants_left, *_distinct(others, in_use)), evidence=evidence
        )
    ebpf = _best([table for table in holding if _ebpf(table)])
    proxied = [table for table in holding if not _ebpf(table)]
    modes = {table.dialect for table in proxied}
    if ebpf is not None:
        return NodePlane(
            mode=ebpf.dialect.value,
            in_use=ebpf,
            leftovers=(*variants_left, *_distinct(proxied, ebpf)),
            evidence=(*evidence, f"{ebpf.source} holds {len(ebpf.frontends)} frontends"),
            certain=not proxied,
        )
    in_use = _best(proxied) or _best(kept)
    if in_use is None:
        return NodePlane(mode="", in_use=None, evidence=evidence, certain=False)
    found = (*evidence, f"{in_use.source} holds {len(in_use.frontends)} frontends") if in_use.frontends else evidence
    return NodePlane(
        mode=in_use.dialect.value if in_use.frontends else "",
        in_use=in_use,
        leftovers=(*variants_left, *_distinct([table for table in proxied if table is not in_use], in_use)),
        evidence=found,
        certain=len(modes) <= 1 and bool(modes),
    )


def _declared(log: str, config: KubeProxyConfig | None, mode: str) -> tuple[str, tuple[str, ...]]:
    if mode.strip().lower() in _MODES:
        return mode.strip().lower(), (f"/proxyMode: {mode.strip().lower()}",)
    named = mode_of_log(log)
    if named:
        return named, (f'kube-proxy log: "Using {named} Proxier"',)
    if config is not None and config.mode.lower() in _MODES:
        return config.mode.lower(), (f"kube-proxy configuration: mode {config.mode}",)
    return "", ()


def _ebpf(table: ServiceTable) -> bool:
    return table.dialect in (Dialect.CILIUM, Dialect.CALICO)


def _best(tables: Sequence[ServiceTable]) -> ServiceTable | None:
    """The fullest; of two views of the same rules the one that loses least."""
    return max(tables, key=lambda table: (len(table.frontends), -len(table.not_understood)), default=None)


def _distinct(tables: Sequence[ServiceTable], in_use: ServiceTable | None) -> tuple[ServiceTable, ...]:
    """One table per dialect: two dumps of the same map are no second leftover."""
    by_dialect: dict[Dialect, ServiceTable] = {}
    for table in tables:
        if in_use is not None and table.dialect is in_use.dialect:
            continue
        best = by_dialect.get(table.dialect)
        by_dialect[table.dialect] = table if best is None else _best([best, table]) or table
    return tuple(by_dialect.values())


def _one_iptables(tables: list[ServiceTable]) -> tuple[list[ServiceTable], tuple[ServiceTable, ...]]:
    """iptables-save and `nft list ruleset` may show the same rules twice, or the rules of iptables-legacy beside
    those of iptables-nft. The kubelet's chains tell which of the two variants the node's components write to."""
    mine = [table for table in tables if table.dialect is Dialect.IPTABLES and table.frontends]
    rest = [table for table in tables if table not in mine]
    legacy = [table for table in mine if table.variant == "legacy"]
    nft = [table for table in mine if table.variant != "legacy"]
    saved = [table for table in nft if table.source == _SAVED] or nft
    chosen_nft = _best(saved)
    chosen_legacy = _best(legacy)
    if chosen_nft is None or chosen_legacy is None:
        chosen = chosen_nft or chosen_legacy
        return ([*rest, chosen] if chosen is not None else rest), ()
    if _has_hint(chosen_legacy) and not _has_hint(chosen_nft):
        return [*rest, chosen_legacy], (chosen_nft,)
    return [*rest, chosen_nft], (chosen_legacy,)


def _has_hint(table: ServiceTable) -> bool:
    rules = table.ruleset
    if rules is None:
        return False
    mangle = rules.tables.get("ip mangle")
    return mangle is not None and ("KUBE-IPTABLES-HINT" in mangle.chains or "KUBE-KUBELET-CANARY" in mangle.chains)
