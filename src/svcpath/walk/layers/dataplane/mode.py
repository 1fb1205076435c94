"""Which of a node's tables is in use, by evidence and never by guess."""

from __future__ import annotations

import re

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import Dialect
from svcpath.walk.ask import Reply
from svcpath.walk.layers.dataplane.tables import Dump, NodeTables

_PROXIER = re.compile(r"Using (iptables|nftables|ipvs) Proxier", re.IGNORECASE)


def declared(logs: Reply, configs: Reply) -> Dialect | None:
    """The mode kube-proxy says it runs in: its log's proxier line (the last one), else its configuration."""
    said = [
        match[1].lower()
        for one in logs.present
        if one.fact.component in ("kube-proxy", "")
        for match in _PROXIER.finditer(one.fact.text)
    ]
    if not said:
        said = [one.fact.mode.lower() for one in configs.present if one.fact.mode]
    return Dialect(said[-1]) if said and said[-1] in {each.value for each in Dialect} else None


def in_use(node: NodeTables, logs: Reply, configs: Reply) -> tuple[list[Dump], list[Dump]]:
    """The tables in use, and those left over from another mode."""
    said = declared(logs, configs)
    filled = [dump for dump in node.dumps if dump.table.frontends]
    if said is None:
        dialects = {dump.table.dialect for dump in filled}
        if len(dialects) > 1:
            said = next(
                (one for one in (Dialect.CILIUM, Dialect.CALICO, Dialect.IPVS, Dialect.NFTABLES) if one in dialects),
                None,
            )
        elif not dialects:
            return list(node.dumps), []
    if said is None:
        return _native(filled), []
    used = [dump for dump in node.dumps if dump.table.dialect is said]
    with_rules = [dump for dump in used if dump.table.frontends]
    return _native(with_rules or used), [dump for dump in filled if dump.table.dialect is not said]


def _native(dumps: list[Dump]) -> list[Dump]:
    """Rules of iptables shown by nft lose what nft can't express; where iptables-save shows the same, it counts."""
    if any(dump.observation.kind is Kind.IPTABLES_SAVE for dump in dumps):
        return [
            dump
            for dump in dumps
            if dump.table.dialect is not Dialect.IPTABLES or dump.observation.kind is Kind.IPTABLES_SAVE
        ]
    return dumps
