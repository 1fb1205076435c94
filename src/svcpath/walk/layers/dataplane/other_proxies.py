"""A dump without anything of kube-proxy: Services are carried there by another mode or program, or by nothing.

kube-proxy in iptables and IPVS mode keeps the chain KUBE-SERVICES, in nftables mode the tables named kube-proxy
(pkg/proxy/{iptables,ipvs,nftables}/proxier.go, v1.35); iptables-save does not show the latter. KUBE-FIREWALL, KUBELET-CANARY
and KUBE-IPTABLES-HINT are the kubelet's own. Programs that take its place leave chains of theirs.
"""

from __future__ import annotations

from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Gap
from svcpath.models.dataplanes import Dialect
from svcpath.status import Status
from svcpath.walk.nodes.plane import Plane
from svcpath.walk.nodes.tables import NodeTables, TableDump

#: How the chains of others begin, who they are, and what shows their own tables.
OTHERS: tuple[tuple[str, str, str], ...] = (
    ("CILIUM_", "Cilium", "kubectl -n kube-system exec ds/cilium -- cilium-dbg service list"),
    ("OVN-KUBE", "OVN-Kubernetes", "ovn-nbctl lb-list"),
    ("ANTREA-", "Antrea", "antctl get ovsflows -S SERVICE"),
    ("cali-", "Calico", "calico-node -bpf nat dump"),
    ("KUBE-ROUTER", "kube-router", "ipvsadm -Ln"),
)


def instead(dump: TableDump) -> str | None:
    """None where kube-proxy's chains are there, or the dump is of another kind; else who else has chains, or empty."""
    ruleset = dump.table.ruleset
    if ruleset is None or dump.table.frontends or dump.table.dialect is not Dialect.IPTABLES or dump.table.damaged:
        return None
    tables = {name: set(table.chains) for name, table in ruleset.tables.items()}
    if not any(name.endswith(" nat") for name in tables):
        return None  # part of a dump: what is missing from it is reported elsewhere
    names = set().union(*tables.values())
    if any(
        name.startswith(("KUBE-SERVICES", "KUBE-SVC-", "KUBE-NODEPORT", "KUBE-EXTERNAL-SERVICES")) for name in names
    ):
        return None
    return next((who for start, who, _ in OTHERS if any(name.startswith(start) for name in names)), "")


def without(plane: Plane) -> bool:
    """Whether nothing says that kube-proxy works there: neither its log or configuration, nor any chain."""
    return plane.used is not None and not plane.mode and all(instead(dump) is not None for dump in plane.dumps)


def uncompared(node: NodeTables, plane: Plane) -> CheckResult:
    """What is said of such a node in place of comparing its table."""
    dump = plane.used
    if dump is None:
        return CheckResult(looked=False)
    who = instead(dump) or ""
    if who:
        command = next(command for _, name, command in OTHERS if name == who)
        gap = Gap(
            "dataplane",
            f"the table of {node.label}",
            f"its iptables hold chains of {who} and none of kube-proxy: {who} may carry Services itself",
            command,
        )
        return CheckResult(not_looked_at=(gap,), looked=False)
    found = finding(
        "SP615",
        Status.INCONCLUSIVE,
        f"{node.label}: the dump has no chain of kube-proxy: it runs in nftables mode, another program carries Services "
        "there, or nothing does",
        evidence=(Evidence(f"{node.label}'s table ({dump.place}): no KUBE-SERVICES", dump.observation),),
        confidence=None,
        remedy="Look on that node: nft list table ip kube-proxy; kubectl -n kube-system get pods -o wide",
    )
    return CheckResult(findings=(found,))
