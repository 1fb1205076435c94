"""The shell command that records each kind of evidence again, with the real names, quoted."""

from __future__ import annotations

import shlex
from functools import lru_cache

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.need import Kind, Need

_NODE = {
    Kind.IPTABLES_SAVE: "iptables-save",
    Kind.NFT_LIST: "nft list ruleset",
    Kind.NFT_JSON: "nft -j list ruleset",
    Kind.PROC_IP_VS: "cat /proc/net/ip_vs",
    Kind.IPVSADM_LN: "ipvsadm -Ln",
    Kind.IPVSADM_LCN: "ipvsadm -Lcn",
    Kind.IPSET: "ipset list",
    Kind.CILIUM_SERVICE_LIST: "cilium-dbg service list",
    Kind.CILIUM_BPF_LB_LIST: "cilium-dbg bpf lb list",
    Kind.CILIUM_BPF_LB_BACKENDS: "cilium-dbg bpf lb list --backends",
    Kind.CILIUM_BPF_CT_LIST: "cilium-dbg bpf ct list global",
    Kind.CILIUM_MONITOR: "cilium-dbg monitor --type drop",
    Kind.CALICO_NAT_DUMP: "calico-node -bpf nat dump",
    Kind.CONNTRACK: "conntrack -L",
    Kind.CONNTRACK_STATS: "conntrack -S",
    Kind.SYSCTL: "sysctl -a",
    Kind.HAIRPIN_MODE: "grep -H . /sys/class/net/*/brif/*/hairpin_mode",
    Kind.ROUTES: "sh -c 'ip rule; ip -6 rule; ip route show table all; ip -6 route show table all; ip link'",
    Kind.METRICS: "curl -s http://localhost:10249/metrics",
}
_POD = {
    Kind.RESOLV_CONF: "cat /etc/resolv.conf",
    Kind.HOSTS: "cat /etc/hosts",
    Kind.NSSWITCH_CONF: "cat /etc/nsswitch.conf",
    Kind.ENVIRONMENT: "env",
    Kind.SOCKETS: "cat /proc/net/tcp /proc/net/tcp6",
    Kind.LOOKUPS: "getent ahosts NAME",
    Kind.DNS_ANSWERS: "nslookup NAME",
    Kind.ATTEMPTS: "curl -v --connect-timeout 2 http://ADDRESS:PORT/",
}
_RESOURCES = {
    Kind.SERVICE: "services",
    Kind.ENDPOINT_SLICE: "endpointslices",
    Kind.ENDPOINTS: "endpoints",
    Kind.POD: "pods",
    Kind.NODE: "nodes",
    Kind.EVENT: "events",
    Kind.CONFIG_MAP: "configmaps",
    Kind.NAMESPACE: "namespaces",
    Kind.NETWORK_POLICY: "networkpolicies",
    Kind.WORKLOAD: "deployments,replicasets,statefulsets,daemonsets,jobs",
    Kind.POD_DISRUPTION_BUDGET: "poddisruptionbudgets",
}
_CLUSTER_WIDE = frozenset({Kind.NODE, Kind.NAMESPACE})
_WORKLOAD_NAMES = {"deployment", "replicaset", "statefulset", "daemonset", "job", "cronjob", "replicationcontroller"}
#: Resources that kubectl finds by their name alone.
_PLAIN_NAMES = _WORKLOAD_NAMES | {
    "service",
    "endpointslice",
    "endpoints",
    "pod",
    "node",
    "event",
    "configmap",
    "namespace",
    "networkpolicy",
    "poddisruptionbudget",
}
OBJECT_KINDS = frozenset({*_RESOURCES, Kind.OTHER_OBJECT})


def _join(words: list[str]) -> str:
    return " ".join(shlex.quote(word) for word in words if word)


def for_object(obj: api.Object) -> str:
    name = f" {shlex.quote(obj.name)}" if obj.name else ""
    return f"{_getting(obj.kind, obj.api_version, obj.namespace)}{name} -o yaml"


@lru_cache(maxsize=4096)
def _getting(kind: str, api_version: str, namespace: str) -> str:
    """The command up to the name: the same for all objects of a kind in one namespace."""
    resource = kind.lower() or "object"
    group = api_version.rpartition("/")[0]
    if group and resource not in _PLAIN_NAMES:
        resource = f"{resource}.{group}"
    return _join(["kubectl", *(["-n", namespace] if namespace else []), "get", resource])


def for_need(need: Need) -> str:
    """What to run so that the Need would be met; "" when no one command does."""
    resources = _RESOURCES.get(need.kind)
    if resources is not None:
        scope = [] if need.kind in _CLUSTER_WIDE else ["-n", need.namespace] if need.namespace else ["-A"]
        select: list[str] = []
        if need.kind is Kind.ENDPOINT_SLICE and need.service:
            select = ["-l", f"kubernetes.io/service-name={need.service}"]
        name = need.name or (need.service if need.kind is Kind.ENDPOINTS else "")
        if need.kind is Kind.WORKLOAD and name:
            name = ""
        return _join(["kubectl", *scope, "get", resources, name, *select, "-o", "yaml"])
    return for_state(need.kind, need.node, need.pod, need.container)


def for_state(kind: Kind, node: str, pod: str, container: str) -> str:
    """The command for state of a node, a Pod or a container; run on the node itself when the node is meant."""
    if kind is Kind.COREFILE:
        return "kubectl -n kube-system get configmap coredns -o yaml"
    if kind is Kind.KUBE_PROXY_CONFIG:
        return "kubectl -n kube-system get configmap kube-proxy -o yaml"
    if kind is Kind.NODE_REPORT:
        return "kubectl get nodes -o wide"
    if kind is Kind.LOG:
        if pod:
            return _join(["kubectl", *_namespace(pod), "logs", _name(pod), *(["-c", container] if container else [])])
        return ""
    inner = _POD.get(kind)
    if inner and pod:
        where = ["kubectl", *_namespace(pod), "exec", _name(pod), *(["-c", container] if container else []), "--"]
        return f"{_join(where)} {inner}"
    return _NODE.get(kind) or inner or ""


def for_log(component: str) -> str:
    """Where a component's log comes from when no Pod is known; "" for an unknown component."""
    return {
        "kube-proxy": "kubectl -n kube-system logs daemonset/kube-proxy",
        "coredns": "kubectl -n kube-system logs -l k8s-app=kube-dns",
        "node-local-dns": "kubectl -n kube-system logs daemonset/node-local-dns",
    }.get(component, "")


def _namespace(pod: str) -> list[str]:
    namespace, slash, _ = pod.rpartition("/")
    return ["-n", namespace] if slash and namespace else []


def _name(pod: str) -> str:
    return pod.rpartition("/")[2]
