"""The nodes' tables: every rule dump in the evidence, parsed, by node.

One node may have several dumps (iptables-save and nft list show the same rules in two ways on an iptables-nft node, or
two modes side by side); each becomes a table, and ``mode`` says which one is in use.
"""

from __future__ import annotations

import weakref
from typing import Any

import msgspec

from svcpath.errors import FormatError
from svcpath.evidence.facts.need import Cost, Kind
from svcpath.evidence.facts.node import NodeReport
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.observations import Observations
from svcpath.evidence.facts.text import RawText
from svcpath.findings.finding import Gap
from svcpath.models.dataplanes import NodeView, ServiceTable, node_view, parse
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.nodes import needs

#: How a dump was read: its kind, the node that it is of, that node's addresses.
_Reading = tuple[Kind, str, frozenset[str]]


class TableDump(msgspec.Struct, frozen=True):
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
    dumps: tuple[TableDump, ...]
    unread: tuple[Gap, ...] = ()

    @property
    def label(self) -> str:
        return self.name or "the node"


def nodes_tables(client_node: str, reports: tuple[NodeReport, ...]) -> Asking[tuple[NodeTables, ...]]:
    """The tables of the client's node, or of every node when the client is not known."""
    return (yield from _tables(client_node, Cost.EXEC, reports))


def tables_at_hand(nodes: tuple[str, ...], reports: tuple[NodeReport, ...]) -> Asking[tuple[NodeTables, ...]]:
    """Those tables of ``nodes`` that are there without running a command on a node."""
    found: list[NodeTables] = []
    for node in nodes:
        found.extend((yield from _tables(node, Cost.READ, reports)))
    return tuple(found)


def _tables(node: str, cost: Cost, reports: tuple[NodeReport, ...]) -> Asking[tuple[NodeTables, ...]]:
    replies = yield needs.tables(node, cost)
    by_node: dict[str, list[Observation[Any]]] = {}
    for reply in replies:
        for dump in reply.present:
            by_node.setdefault(dump.provenance.node, []).append(dump)
    nodes = yield from ask.nodes()
    named = [report.name for report in reports if report.name]
    return tuple(
        _node(owner, owner or (named[0] if len(named) == 1 and len(by_node) == 1 else ""), observations, nodes.present)
        for owner, observations in sorted(by_node.items())
    )


def _node(owner: str, name: str, observations: list[Observation[Any]], nodes: Observations) -> NodeTables:
    known = nodes.named(name)
    view = node_view(known[-1].fact) if known else NodeView(name=name)
    dumps: list[TableDump] = []
    unread: list[Gap] = []
    for observed in observations:
        try:
            tables = parsed(observed.kind, observed.fact, name, view.addresses)
        except FormatError as error:
            unread.append(Gap("dataplane", f"{observed.provenance.path}", str(error)))
            continue
        dumps.extend(TableDump(table, observed) for table in tables)
    return NodeTables(owner, name, view, tuple(dumps), tuple(unread))


#: The tables of each dump, as long as its text lives: a Source is parsed once, however many walks and layers ask.
_PARSED: weakref.WeakKeyDictionary[RawText, dict[_Reading, tuple[ServiceTable, ...]]] = weakref.WeakKeyDictionary()


def parsed(
    kind: Kind, dump: RawText, node: str = "", addresses: frozenset[str] = frozenset()
) -> tuple[ServiceTable, ...]:
    """The tables of one dump, as a node of this name and these addresses reads it. Raises FormatError."""
    readings = _PARSED.setdefault(dump, {})
    reading = (kind, node, addresses)
    if reading not in readings:
        readings[reading] = tuple(parse(kind, dump.text, node=node, node_addresses=addresses))
    return readings[reading]


def released(node: NodeView, release: tuple[int, int]) -> NodeView:
    """The same node under the release that kube-proxy's own log names."""
    return NodeView(name=node.name, zone=node.zone, addresses=node.addresses, release=release)
