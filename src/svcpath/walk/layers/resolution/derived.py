"""A resolv.conf that is not in the evidence, as the kubelet writes it from the Pod's specification.

Source: pkg/kubelet/network/dns/dns.go (v1.35): getPodDNSType, generateSearchesForDNSClusterFirst, appendDNSConfig. What
comes from the node's own file (dnsPolicy Default, further search suffixes) is not known here.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Pod
from svcpath.walk.names.cluster_dns import ClusterDns

DEFAULT_OPTIONS = {"ndots": "5"}


def derive(pod: Pod, dns: ClusterDns, domain: str) -> str | None:
    """The text the kubelet would write; None where the node's file decides or the cluster's DNS is not known."""
    policy = pod.spec.dns_policy or "ClusterFirst"
    servers: list[str] = []
    searches: list[str] = []
    options: dict[str, str] = {}
    if policy == "ClusterFirstWithHostNet" or (policy == "ClusterFirst" and not pod.spec.host_network):
        if dns.service is None or not dns.service.fact.cluster_ips or not domain:
            return None
        servers = list(dns.service.fact.cluster_ips)
        searches = [f"{pod.namespace}.svc.{domain}", f"svc.{domain}", domain]
        options = dict(DEFAULT_OPTIONS)
    elif policy != "None":
        return None
    config = pod.spec.dns_config
    if config is not None:
        servers = list(dict.fromkeys([*servers, *(config.nameservers or ())]))
        searches = list(dict.fromkeys([*searches, *(config.searches or ())]))
        options |= {option.name: option.value or "" for option in config.options or ()}
    lines = [f"search {' '.join(searches)}"] if searches else []
    lines += [f"nameserver {server}" for server in servers]
    if options:
        lines.append("options " + " ".join(f"{name}:{value}" if value else name for name, value in options.items()))
    return "\n".join(lines) + "\n"
