"""One node's table in use beside what it should hold, and how a line of it is cited."""

from __future__ import annotations

import msgspec

from svcpath.findings.finding import Evidence
from svcpath.models.dataplanes import DriftReport
from svcpath.walk.nodes.plane import Plane
from svcpath.walk.nodes.tables import Dump, NodeTables


class Compared(msgspec.Struct, frozen=True):
    """One node's table in use beside what it should hold."""

    node: NodeTables
    dump: Dump
    report: DriftReport
    plane: Plane


def rule_at(one: Compared, line: int) -> Evidence:
    # A live look has no file: the kind of dump names it.
    path = one.dump.place
    said = f", line {line}" if line else ""
    return Evidence(f"{one.node.label}'s table ({path}{said})", one.dump.observation)
