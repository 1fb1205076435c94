"""One node's table in use beside what it should hold, and how a line of it is cited."""

from __future__ import annotations

import msgspec

from svcpath.findings.finding import Evidence
from svcpath.models.dataplanes import DriftReport
from svcpath.walk.nodes.plane import Plane
from svcpath.walk.nodes.tables import NodeTables, TableDump


class Compared(msgspec.Struct, frozen=True):
    """One node's table in use beside what it should hold."""

    node: NodeTables
    dump: TableDump
    report: DriftReport
    plane: Plane


def place(compared: Compared, line: int) -> str:
    """ "(w1.nft, line 7)"; a live look has no file, so the kind of dump names it."""
    return f"({compared.dump.place}, line {line})" if line else f"({compared.dump.place})"


def rule_at(compared: Compared, line: int) -> Evidence:
    return Evidence(f"{compared.node.label}'s table {place(compared, line)}", compared.dump.observation)
