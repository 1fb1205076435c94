"""Does the dump show what an answer needs? `iptables-save -t nat` shows no reject, and a cut one no translation.

What it doesn't show is said as such and never taken for a rule that is missing.
"""

from __future__ import annotations

from svcpath.models.dataplanes.drift.difference import NotCovered
from svcpath.models.dataplanes.drift.scope import Remarks
from svcpath.models.dataplanes.table import Dialect, ServiceTable


def prefix_of(family: int) -> str:
    """The family of a netfilter table."""
    return "ip6" if family == 6 else "ip"


def shows(table: ServiceTable, family: int, remarks: Remarks) -> bool:
    """Can frontends of this family be compared at all?"""
    if family not in table.families:
        remarks.not_covered[NotCovered(f"IPv{family}", family=family)] = None
        return False
    return _translates(table, family, remarks)


def filters(table: ServiceTable, family: int, remarks: Remarks) -> bool:
    """Does the dump hold the table that rejects and drops? `iptables-save -t nat` does not."""
    if table.dialect is not Dialect.IPTABLES or table.ruleset is None:
        return table.dialect is not Dialect.IPVS
    return _holds(table, f"{prefix_of(family)} filter", remarks)


def _translates(table: ServiceTable, family: int, remarks: Remarks) -> bool:
    """Does the dump hold the table that translates? kube-proxy fills nat wherever it fills filter, so a dump with its
    filter chains alone was cut between two tables, or asked for one."""
    if table.dialect is not Dialect.IPTABLES or table.ruleset is None:
        return True
    filters = table.ruleset.tables.get(f"{prefix_of(family)} filter")
    if filters is None or "KUBE-SERVICES" not in filters.chains:
        return True
    return _holds(table, f"{prefix_of(family)} nat", remarks)


def _holds(table: ServiceTable, name: str, remarks: Remarks) -> bool:
    if table.ruleset is None or name in table.ruleset.tables:
        return True
    remarks.no_table(name)
    return False
