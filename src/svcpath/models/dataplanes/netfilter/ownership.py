"""Whose is a chain, or a line that was not understood?

What kube-proxy wrote is judged; what the kubelet or others wrote is only met on the way. The names of kube-proxy's
iptables mode are those of pkg/proxy/iptables/proxier.go and pkg/proxy/ipvs/proxier.go (Kubernetes 1.20 to 1.35); the
nftables mode has a table of its own, ``kube-proxy``.
"""

from __future__ import annotations

from svcpath.models.dataplanes.ruleset import Chain, Ruleset
from svcpath.models.dataplanes.table import Dialect, NotUnderstood, ServiceTable

_OWN_PREFIXES = (
    "KUBE-SVC-",
    "KUBE-SVL-",
    "KUBE-EXT-",
    "KUBE-XLB-",
    "KUBE-FW-",
    "KUBE-SEP-",
    "KUBE-PORTALS-",
    "KUBE-NODEPORT-",
    "KUBE-IPVS-",
)
_OWN = frozenset(
    {"KUBE-SERVICES", "KUBE-EXTERNAL-SERVICES", "KUBE-NODEPORTS", "KUBE-MARK-MASQ", "KUBE-MARK-DROP", "KUBE-FORWARD"}
    | {"KUBE-POSTROUTING", "KUBE-PROXY-FIREWALL", "KUBE-PROXY-CANARY", "KUBE-LOAD-BALANCER", "KUBE-NODE-PORT"}
    | {"KUBE-SOURCE-RANGES-FIREWALL"}
)
#: Chains that the kubelet writes (pkg/kubelet/kubelet_network_linux.go).
KUBELET_CHAINS = frozenset({"KUBE-FIREWALL", "KUBE-KUBELET-CANARY", "KUBE-IPTABLES-HINT"})


def is_own(chain: Chain) -> bool:
    """True for a chain that kube-proxy writes."""
    if chain.table.endswith(" kube-proxy"):
        return True
    return is_own_name(chain.name)


def is_own_name(name: str) -> bool:
    """True for the name of a chain that kube-proxy's iptables mode writes."""
    return name.startswith("KUBE-") and (name.startswith(_OWN_PREFIXES) or name in _OWN)


def own_not_understood(table: ServiceTable) -> tuple[NotUnderstood, ...]:
    """Lines of the data plane's own chains, maps and sets that were not understood."""
    proxy_sets = table.dialect is Dialect.NFTABLES
    return tuple(
        item
        for item in table.not_understood
        if table.ruleset is None
        or (item.chain.startswith("KUBE-") and item.chain not in KUBELET_CHAINS and not _is_policy(item.chain))
        or (proxy_sets and _in_proxy_table(table.ruleset, item.chain))
    )


def _is_policy(chain: str) -> bool:
    """kube-router's chains look like kube-proxy's and are not."""
    return chain.startswith(("KUBE-ROUTER-", "KUBE-POD-FW-", "KUBE-NWPLCY-"))


def _in_proxy_table(rules: Ruleset, name: str) -> bool:
    return any(
        name in table.chains or name in table.sets
        for table in rules.tables.values()
        if table.name.endswith(" kube-proxy")
    )
