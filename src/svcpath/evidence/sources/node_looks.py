"""What a node is asked, as shell text in an agent's container, and how each answer is read. Pure.

kube-proxy's Pod shows the kernel's tables and settings, its own metrics and health checks; Cilium's and Calico's their maps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from svcpath.evidence.facts.conntrack import FlowTable
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import HairpinModes, HealthReplies, HealthReply, Metrics, RoutingTables, Sysctls
from svcpath.evidence.formats import conntrack, dumps, metrics, routes
from svcpath.evidence.formats import text as texts
from svcpath.evidence.formats.text import Text
from svcpath.evidence.sources.inpod_scripts import Section
from svcpath.evidence.sources.scripts import one_line

SYSCTLS = (
    "net.ipv4.ip_forward",
    "net.ipv6.conf.all.forwarding",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.conf.default.rp_filter",
    "net.ipv4.conf.all.route_localnet",
    "net.bridge.bridge-nf-call-iptables",
    "net.bridge.bridge-nf-call-ip6tables",
    "net.netfilter.nf_conntrack_max",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_tcp_be_liberal",
    "net.ipv4.vs.conntrack",
    "net.ipv4.vs.conn_reuse_mode",
    "net.ipv4.vs.expire_nodest_conn",
    "net.ipv4.vs.expire_quiescent_template",
)
_PATHS = {name: "/proc/sys/" + name.replace(".", "/") for name in SYSCTLS}
_FETCH = one_line("fetch.sh") + "; "
#: The samples that say when and what kube-proxy wrote (pkg/proxy/metrics/metrics.go).
_SAMPLES = "^kubeproxy_sync_proxy_rules_(last|iptables_total)|^HTTP/"
#: Look -> shell text, in the kube-proxy Pod. The first word is run directly where there is no shell.
PROXY_LOOKS: Mapping[str, str] = {
    "iptables-save": "iptables-save",
    "ip6tables-save": "ip6tables-save",
    "iptables-legacy-save": "iptables-legacy-save",
    "nft": "nft list ruleset",
    "ip_vs": "[ -s /proc/net/ip_vs ] && cat /proc/net/ip_vs",
    "ipvsadm-lcn": "[ -s /proc/net/ip_vs ] && ipvsadm -Lcn",
    "ipset": "ipset list",
    "conntrack-stats": "conntrack -S",
    "sysctl": f"set -- {' '.join(_PATHS.values())} /proc/sys/net/ipv4/conf/*/rp_filter; {one_line('sysctl.sh')}",
    "hairpin": "grep -H . /sys/class/net/*/brif/*/hairpin_mode",
    "rules4": "ip -4 rule",
    "rules6": "ip -6 rule",
    "routes4": "ip -4 route show table all",
    "routes6": "ip -6 route show table all",
    "mtus": "grep -H . /sys/class/net/*/mtu",
    "metrics": _FETCH + f"fetch localhost 10249 /metrics | grep -E '{_SAMPLES}'",
}
#: With the frontends as arguments, with the ports as arguments.
FLOWS = one_line("flows.sh")
HEALTH = _FETCH + one_line("health.sh")

CILIUM_LOOKS: Mapping[str, str] = {
    "cilium-service-list": "cilium-dbg service list -o json || cilium service list -o json",
    "cilium-lb-list": "cilium-dbg bpf lb list || cilium bpf lb list",
    "cilium-lb-backends": "cilium-dbg bpf lb list --backends || cilium bpf lb list --backends",
    "cilium-ct-list": "cilium-dbg bpf ct list global || cilium bpf ct list global",
}
CALICO_LOOKS: Mapping[str, str] = {"calico-nat": "calico-node -bpf nat dump"}
NO_SHELL: Mapping[str, tuple[str, ...]] = {
    "iptables-save": ("iptables-save",),
    "ip6tables-save": ("ip6tables-save",),
    "nft": ("nft", "list", "ruleset"),
}
RAW: Mapping[Kind, tuple[str, ...]] = {
    Kind.IPTABLES_SAVE: ("iptables-save", "ip6tables-save", "iptables-legacy-save"),
    Kind.NFT_LIST: ("nft",),
    Kind.PROC_IP_VS: ("ip_vs",),
    Kind.IPVSADM_LCN: ("ipvsadm-lcn",),
    Kind.IPSET: ("ipset",),
    Kind.CILIUM_SERVICE_LIST: ("cilium-service-list",),
    Kind.CILIUM_BPF_LB_LIST: ("cilium-lb-list",),
    Kind.CILIUM_BPF_LB_BACKENDS: ("cilium-lb-backends",),
    Kind.CILIUM_BPF_CT_LIST: ("cilium-ct-list",),
    Kind.CALICO_NAT_DUMP: ("calico-nat",),
}
READ_AS_TEXT = frozenset({Kind.NFT_JSON, Kind.IPVSADM_LN})
#: Kinds whose fact is made here, and the looks it is made of; the first must have succeeded.
PARSED: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONNTRACK: ("flows",),
    Kind.CONNTRACK_STATS: ("conntrack-stats",),
    Kind.SYSCTL: ("sysctl",),
    Kind.HAIRPIN_MODE: ("hairpin",),
    Kind.ROUTES: ("routes4", "routes6", "rules4", "rules6", "mtus"),
    Kind.METRICS: ("metrics",),
    Kind.HEALTH_REPLIES: ("health",),
}


class Agent(msgspec.Struct, frozen=True):
    """A Pod through which a node can be looked at."""

    pod: str
    container: str
    node: str
    kind: str  #: kube-proxy, cilium or calico

    @property
    def looks(self) -> Mapping[str, str]:
        if self.kind == "cilium":
            return {**PROXY_LOOKS, **CILIUM_LOOKS}
        return {**PROXY_LOOKS, **CALICO_LOOKS} if self.kind == "calico" else PROXY_LOOKS


def holds(kind: Kind, body: str) -> bool:
    """Whether a dump shows anything: a table without rules of Services is still a table that was looked at."""
    if not body.strip():
        return False
    known = {
        Kind.IPTABLES_SAVE: dumps.is_iptables,
        Kind.NFT_LIST: lambda text: bool(re.search(r"(?m)^table ", text.text)),
        Kind.PROC_IP_VS: dumps.is_proc_ip_vs,
        Kind.IPVSADM_LCN: dumps.is_ipvsadm_lcn,
        Kind.IPSET: dumps.is_ipset,
        Kind.CILIUM_BPF_LB_LIST: dumps.is_cilium_lb_list,
        Kind.CILIUM_BPF_LB_BACKENDS: dumps.is_cilium_lb_backends,
        Kind.CILIUM_BPF_CT_LIST: dumps.is_cilium_ct_list,
        Kind.CALICO_NAT_DUMP: dumps.is_calico_nat,
    }.get(kind)
    return known is None or known(texts.of(body))


def parsed(kind: Kind, sections: Mapping[str, Section], node: str = "") -> Any:
    """The fact that the sections of a kind hold; None when they hold none."""
    first = sections.get(PARSED[kind][0])
    if first is None or (not first.good and kind is not Kind.CONNTRACK):
        return None
    text = texts.of(first.decoded.strip("\n"))
    if kind is Kind.CONNTRACK:
        return _flows(text, first)
    if not text.text.strip():
        return None
    if kind is Kind.CONNTRACK_STATS:
        return conntrack.read_stats(text)[0].value if conntrack.is_stats(text) else None
    if kind is Kind.ROUTES:
        return _routes(sections)
    if kind is Kind.METRICS:
        return _metrics(text)
    if kind is Kind.HEALTH_REPLIES:
        return _health(text, node)
    return _sysctls(text) if kind is Kind.SYSCTL else _hairpins(text)


def _flows(text: Text, section: Section) -> FlowTable | None:
    """No flow at all is an answer too, where the tool ran."""
    flows = [
        flow for item in conntrack.read_flows(text) if isinstance(item.value, FlowTable) for flow in item.value.flows
    ]
    return FlowTable(flows=tuple(flows)) if flows or section.good else None


def _routes(sections: Mapping[str, Section]) -> RoutingTables | None:
    tables = [
        routes.read(sections[name].decoded.split("\n"), int(name[-1]))[0]
        for name in PARSED[Kind.ROUTES][:4]
        if name in sections and sections[name].good
    ]
    if not any(table.routes for table in tables):
        return None
    mtus = sections.get("mtus")
    return RoutingTables(
        routes=tuple(route for table in tables for route in table.routes),
        rules=tuple(rule for table in tables for rule in table.rules),
        mtus=routes.read(mtus.decoded.split("\n"))[0].mtus if mtus else {},
        unread=sum(table.unread for table in tables),
    )


def _metrics(text: Text) -> Metrics | None:
    lines = [line for line in text.text.split("\n") if not line.startswith("HTTP/")]
    for item in metrics.read_metrics(texts.of("\n".join(lines))):
        if isinstance(item.value, Metrics) and item.value.samples:
            return item.value
    return None


class _ServiceName(msgspec.Struct):
    namespace: str = ""
    name: str = ""


class _Healthz(msgspec.Struct, rename="camel"):
    """pkg/proxy/healthcheck/service_health.go"""

    service: _ServiceName = msgspec.field(default_factory=_ServiceName)
    local_endpoints: int | None = None


_ANSWER = re.compile(r"(?ms)^port (\d{1,5})\r?\n(?:HTTP/[\d.]+ (\d{3})(.*?))?(?=^port \d|\Z)")


def _health(text: Text, node: str) -> HealthReplies | None:
    replies: list[HealthReply] = []
    for found in _ANSWER.finditer(text.text):
        if not found[2]:
            continue
        start, end = found[3].find("{"), found[3].rfind("}")
        try:
            health = msgspec.json.decode(found[3][start : end + 1] if start >= 0 else "{}", type=_Healthz)
        except msgspec.MsgspecError:
            health = _Healthz()
        replies.append(
            HealthReply(
                node=node,
                port=int(found[1]),
                status=int(found[2]),
                namespace=health.service.namespace,
                name=health.service.name,
                local_endpoints=health.local_endpoints,
            )
        )
    return HealthReplies(tuple(replies)) if replies else None


def _sysctls(text: Text) -> Sysctls | None:
    paths = {path: name for name, path in _PATHS.items()}
    values: dict[str, str] = {}
    for line in text.lines:
        path, equals, value = line.rpartition(":")
        own = _OWN_FILTER.fullmatch(path)
        if equals and path in paths:
            values[paths[path]] = value.strip()
        elif equals and own:
            # sysctl(8) writes a dot of an interface's name as a slash.
            values[f"net.ipv4.conf.{own[1].replace('.', '/')}.rp_filter"] = value.strip()
    return Sysctls(values) if values else None


_OWN_FILTER = re.compile(r"/proc/sys/net/ipv4/conf/([^/]+)/rp_filter")
_HAIRPIN = re.compile(r"/sys/class/net/[^/]+/brif/([^/]+)/hairpin_mode:([01])\s*")


def _hairpins(text: Text) -> HairpinModes | None:
    ports = {match[1]: match[2] == "1" for line in text.lines if (match := _HAIRPIN.fullmatch(line))}
    return HairpinModes(ports) if ports else None
