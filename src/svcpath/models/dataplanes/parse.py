"""One door for every dump: kind of evidence and text in, ServiceTables out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from svcpath.errors import ModelError
from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import calico, cilium, iptables, ipvs
from svcpath.models.dataplanes.layout import tables_of
from svcpath.models.dataplanes.nftables import commands, json_document, listing
from svcpath.models.dataplanes.ruleset import Ruleset, collector_paused
from svcpath.models.dataplanes.table import Dialect, ServiceTable


def parse(
    kind: Kind, text: str, *, node: str = "", node_addresses: frozenset[str] = frozenset()
) -> tuple[ServiceTable, ...]:
    """The tables of one dump: one per mode of kube-proxy that has rules in it, at least one.

    Raises FormatError when the text is none of its kind, ModelError for a kind that is no data-plane dump.
    """
    reader = _NETFILTER.get(kind)
    if reader is not None:
        read, prefer = reader
        with collector_paused():
            return tables_of(read(text), node=node, node_addresses=node_addresses, source=kind.value, prefer=prefer)
    plain = _PLAIN.get(kind)
    if plain is not None:
        return (plain(text, node=node, node_addresses=node_addresses, source=kind.value),)
    raise ModelError(f"{kind.value} is no dump of a data plane")


def _nft_text(text: str) -> Ruleset:
    """nft prints text, JSON, or was given commands; whoever saved it may have named it loosely."""
    if text.lstrip()[:1] == "{":
        return json_document.parse(text)
    return commands.parse(text) if commands.looks_like_commands(text) else listing.parse(text)


_NETFILTER: dict[Kind, tuple[Callable[[str], Ruleset], Dialect]] = {
    Kind.IPTABLES_SAVE: (iptables.parse, Dialect.IPTABLES),
    Kind.NFT_LIST: (_nft_text, Dialect.NFTABLES),
    Kind.NFT_JSON: (json_document.parse, Dialect.NFTABLES),
}


class _Plain(Protocol):
    def __call__(self, text: str, *, node: str, node_addresses: frozenset[str], source: str) -> ServiceTable: ...


_PLAIN: dict[Kind, _Plain] = {
    Kind.PROC_IP_VS: ipvs.parse,
    Kind.IPVSADM_LN: ipvs.parse,
    Kind.CILIUM_SERVICE_LIST: cilium.parse,
    Kind.CILIUM_BPF_LB_LIST: cilium.parse,
    Kind.CALICO_NAT_DUMP: calico.parse,
}
