"""The nodes' tables: every rule dump in the evidence, parsed, by node.

One node may have several dumps (iptables-save and nft list show the same rules in two ways on an iptables-nft node, or
two modes side by side); each becomes a table, and ``mode`` says which one is in use.
"""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.kubernetes import Node
from svcpath.evidence.facts.need import Cost, Kind, Need
from svcpath.evidence.facts.node import NodeReport
from svcpath.evidence.facts.observation import Observation
from svcpath.models.dataplanes import NodeView, ServiceTable, node_view, parse
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.findings.finding import NotTested
from svcpath.walk.request import Request

#: Dumps that hold a table of frontends. The others (connections, ipsets, backends) say more about one.
TABLE_DUMPS = (
    Kind.IPTABLES_SAVE,
    Kind.NFT_LIST,
    Kind.NFT_JSON,
    Kind.PROC_IP_VS,
    Kind.IPVSADM_LN,
    Kind.CILIUM_SERVICE_LIST,
    Kind.CILIUM_BPF_LB_LIST,
    Kind.CALICO_NAT_DUMP,
)


class Dump(msgspec.Struct, frozen=True):
    """One table as one dump shows it."""

    table: ServiceTable
    observation: Observation[Any]

    @property
    def place(self) -> str:
        """Where its lines are counted: the file, else the look's kind."""
        return self.observation.provenance.path or self.observation.kind.value


class NodeTables(msgspec.Struct, frozen=True):
    """All dumps of one node. ``owner`` is the node that the evidence names, empty when it names none; ``name`` then
    is the only node that a report speaks of, if there is just one."""

    owner: str
    name: str
    view: NodeView
    dumps: tuple[Dump, ...]
    unread: tuple[NotTested, ...] = ()

    @property
    def label(self) -> str:
        return self.name or "the node"


def nodes_tables(request: Request, client_node: str, reports: tuple[NodeReport, ...]) -> Asking[tuple[NodeTables, ...]]:
    """The tables of the client's node, or of every node when the client is not known."""
    return (yield from _tables(client_node, Cost.EXEC, reports))


def tables_at_hand(nodes: tuple[str, ...], reports: tuple[NodeReport, ...]) -> Asking[tuple[NodeTables, ...]]:
    """Those tables of ``nodes`` that are there without running a command on a node."""
    found: list[NodeTables] = []
    for node in nodes:
        found.extend((yield from _tables(node, Cost.READ, reports)))
    return tuple(found)


def _tables(node: str, cost: Cost, reports: tuple[NodeReport, ...]) -> Asking[tuple[NodeTables, ...]]:
    permission = "" if cost is Cost.READ else "create pods/exec"
    needs = tuple(Need(kind, node=node, cost=cost, permission=permission) for kind in TABLE_DUMPS)
    replies = yield needs
    held: dict[str, list[Observation[Any]]] = {}
    for reply in replies:
        for one in reply.present:
            held.setdefault(one.provenance.node, []).append(one)
    nodes = yield from ask.nodes()
    known = {one.fact.name: one.fact for one in nodes.present}
    named = [report.name for report in reports if report.name]
    return tuple(
        _node(owner, owner or (named[0] if len(named) == 1 and len(held) == 1 else ""), observations, known)
        for owner, observations in sorted(held.items())
    )


def _node(owner: str, name: str, observations: list[Observation[Any]], known: dict[str, Node]) -> NodeTables:
    view = node_view(known[name]) if name in known else NodeView(name=name)
    dumps: list[Dump] = []
    unread: list[NotTested] = []
    for one in observations:
        try:
            tables = _parsed(one.kind, one.fact.text, name, view.addresses)
        except FormatError as error:
            unread.append(NotTested("dataplane", f"{one.provenance.path}", str(error)))
            continue
        dumps.extend(Dump(table, one) for table in tables)
    return NodeTables(owner, name, view, tuple(dumps), tuple(unread))


@functools.lru_cache(maxsize=256)
def _parsed(kind: Kind, text: str, node: str, addresses: frozenset[str]) -> tuple[ServiceTable, ...]:
    """A dump is read once in a walk, however many ask for it."""
    return tuple(parse(kind, text, node=node, node_addresses=addresses))


def forget() -> None:
    """Let go of the tables of a walk that has ended: they can be large."""
    _parsed.cache_clear()
