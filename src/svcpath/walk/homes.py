"""Which layer a kind of evidence speaks of, and what a look at it is called: for gaps and for damaged files."""

from __future__ import annotations

from svcpath.evidence.facts.need import DATA_PLANE_DUMPS, Kind
from svcpath.findings.finding import LayerName

#: Where a damaged file of a kind may hide something. Kinds not named here: lifecycle.
HOME: dict[str, LayerName] = {
    **{kind.value: "dataplane" for kind in (*DATA_PLANE_DUMPS, Kind.CONNTRACK, Kind.CONNTRACK_STATS, Kind.SYSCTL)},
    Kind.ROUTES.value: "pod",
    Kind.SOCKETS.value: "ports",
    Kind.ATTEMPTS.value: "pod",
    **dict.fromkeys(
        (Kind.RESOLV_CONF.value, Kind.HOSTS.value, Kind.DNS_ANSWERS.value, Kind.COREFILE.value, Kind.LOOKUPS.value),
        "resolution",
    ),
    Kind.SERVICE.value: "service",
}

#: A damaged file by the name of its format: the layer that it speaks of.
FORMATS: tuple[tuple[str, LayerName], ...] = (
    ("Kubernetes", "endpoints"),
    ("watch", "endpoints"),
    ("iptables", "dataplane"),
    ("nft", "dataplane"),
    ("ipvs", "dataplane"),
    ("/proc/net/ip_vs", "dataplane"),
    ("ipset", "dataplane"),
    ("cilium", "dataplane"),
    ("calico", "dataplane"),
    ("conntrack", "dataplane"),
    ("ip route", "pod"),
    ("routes", "pod"),
    ("/proc/net", "ports"),
    ("ss", "ports"),
    ("netstat", "ports"),
    ("Corefile", "resolution"),
    ("DNS", "resolution"),
    ("resolv.conf", "resolution"),
    ("nsswitch.conf", "resolution"),
    ("hosts", "resolution"),
    ("environment", "resolution"),
)

#: In words, what a look at each kind is for.
WORDS = {
    Kind.SERVICE: "the Service",
    Kind.ENDPOINT_SLICE: "a slice",
    Kind.POD: "a Pod",
    Kind.NODE: "a node",
    Kind.SOCKETS: "listening sockets",
    Kind.ATTEMPTS: "recorded connections",
    Kind.NETWORK_POLICY: "NetworkPolicies",
    Kind.CONNTRACK: "connection tracking",
    Kind.ROUTES: "routes",
    Kind.EVENT: "events",
    Kind.WORKLOAD: "rollouts",
    Kind.NODE_REPORT: "reports of nodes",
}
