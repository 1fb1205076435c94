"""Mistakes of a Corefile that decide this lookup: no or another cluster zone, forwarding to itself, NodeLocal's upstream.

The rules are in models/resolvers/servers/corefile_lint.py; here they meet the client's search list and the DNS Services.
"""

from __future__ import annotations

import re
from typing import Any

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.resolvers import search_list
from svcpath.models.resolvers.servers.coredns_plugins import targets_of
from svcpath.models.resolvers.servers.corefile import Directive, ServerBlock
from svcpath.models.resolvers.servers.corefile_lint import PLACEHOLDERS, Lint, lint
from svcpath.status import Confidence, Status
from svcpath.walk.names.client import Client
from svcpath.walk.names.cluster_dns import ClusterDns
from svcpath.walk.names.world import Answering, CorefileFound

CODES = {
    "no-cluster-zone": "SP112",
    "wrong-cluster-zone": "SP108",
    "forward-to-self": "SP113",
    "forward-to-loopback": "SP113",
    "template-nxdomain": "SP115",
}
#: Those about the cluster zone itself.
OF_CLUSTER_ZONE = frozenset({"no-cluster-zone", "wrong-cluster-zone"})


def cluster_domain(client: Client) -> str:
    """The cluster domain that the client's search list names ("svc.DOMAIN"), else empty."""
    for suffix in search_list(client.conf or ""):
        if suffix.startswith("svc.") and len(suffix) > 4:
            return suffix[4:].rstrip(".")
    return ""


def check(client: Client, dns: ClusterDns, answering: Answering) -> CheckResult:
    findings: list[Finding] = []
    domain = cluster_domain(client)
    own = {canonical(ip) for ip in dns.service.fact.cluster_ips} if dns.service else set()
    host_conf = dns.node_resolv_confs[0].fact.text if dns.node_resolv_confs else None
    for config in answering.configs:
        local = bool(config.bound)
        for lint_finding in lint(
            config.corefile,
            cluster_domain=domain or domain_of(config) or "cluster.local",
            own_addresses=own if not local else (),
            host_resolv_conf=host_conf,
        ):
            if (
                lint_finding.severity == "fault"
                and lint_finding.code in CODES
                and not (local and lint_finding.code in OF_CLUSTER_ZONE)
            ):
                findings.extend(_fault(lint_finding, config, domain, dns))
        findings.extend(_local_upstream(config, domain, dns, answering))
    for observation, why in answering.damaged:
        cut = _may_be_cut(observation)
        so = "; it ends within a line and may be cut" if cut else ", so CoreDNS does not start with it"
        findings.append(
            finding(
                "SP001",
                Status.INCONCLUSIVE if cut else Status.FAIL,
                f"the Corefile does not parse{so}: {why}",
                evidence=(Evidence(why, observation),),
                confidence=None,
                layer="resolution",
            )
        )
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def _may_be_cut(observation: Observation[Any]) -> bool:
    """A file that ends within a line: the Corefile itself may be whole."""
    text = getattr(observation.value, "text", "")
    return bool(text) and not text.endswith("\n")


def domain_of(config: CorefileFound) -> str:
    """The first forward zone that the kubernetes plugin names."""
    for _, plugin in config.corefile.plugins("kubernetes"):
        for zone in plugin.args:
            if not zone.rstrip(".").endswith(".arpa"):
                return zone.rstrip(".")
    return ""


def _fault(lint_finding: Lint, config: CorefileFound, domain: str, dns: ClusterDns) -> list[Finding]:
    code = CODES[lint_finding.code]
    if code == "SP112" and not domain:
        return []  # without a client nothing says that this server has to serve the cluster zone
    where = config.observation.provenance.path
    return [
        finding(
            code,
            Status.FAIL,
            f"Corefile line {lint_finding.line}: {lint_finding.sentence}",
            evidence=(Evidence(f"Corefile ({where}), line {lint_finding.line}", config.observation),),
            confidence=Confidence.SUPPORTED,
            share="every name of the cluster zone"
            if lint_finding.code in OF_CLUSTER_ZONE
            else "names outside the cluster zone",
            names={"domain": domain},
        )
    ]


def _local_upstream(config: CorefileFound, domain: str, dns: ClusterDns, answering: Answering) -> list[Finding]:
    """NodeLocal DNSCache: the block of the cluster zone forwards over TCP to a Service that has no TCP port."""
    findings = []
    for block in config.corefile.blocks:
        for plugin in block.plugins("forward"):
            if plugin.option("force_tcp") is None:
                continue
            for service in _upstreams(plugin, answering):
                if any(port.protocol == "TCP" and port.port == 53 for port in service.fact.ports):
                    continue
                findings.append(_no_tcp(block, plugin, service, config, dns))
    return findings


def _upstreams(plugin: Directive, answering: Answering) -> list[Observation[Service]]:
    """The Services that the forward's targets are: by address, or what node-cache puts in for its placeholder."""
    found = []
    for target in targets_of(plugin):
        for observed in answering.services:
            service = observed.fact
            if target == "__PILLAR__CLUSTER__DNS__":
                if service.name == "kube-dns-upstream":
                    found.append(observed)
            elif canonical(target) in {canonical(ip) for ip in service.cluster_ips}:
                found.append(observed)
    return found


def _no_tcp(
    block: ServerBlock, plugin: Directive, service: Observation[Service], config: CorefileFound, dns: ClusterDns
) -> Finding:
    zones = ", ".join(zone.name.rstrip(".") or "." for zone in block.zones)
    address = service.fact.cluster_ips[0] if service.fact.cluster_ips else ""
    rest = [other for other in config.corefile.blocks if other is not block]
    others = ", ".join(f'"{zone.name.rstrip(".") or "."}"' for other in rest for zone in other.zones)
    log = _log_line(dns, address)
    placeholder = any(target in PLACEHOLDERS for target in targets_of(plugin))
    return finding(
        "SP114",
        Status.FAIL,
        f"{zones} zone is forwarded over TCP to {service.fact.name} {address}:53, which has no TCP port"
        + (f"; the {others} zone is fine" if others else ""),
        evidence=(
            Evidence(
                f"Corefile line {plugin.line}: force_tcp needs a TCP/53 port on {service.fact.name}", config.observation
            ),
            Evidence(
                f"Service {service.fact.name}: {', '.join(f'{port.port}/{port.protocol}' for port in service.fact.ports) or 'no port'}",
                service,
            ),
            *log,
        ),
        confidence=Confidence.PROVEN if log else Confidence.SUPPORTED,
        details=("__PILLAR__*__ placeholders are replaced by node-cache at run time, not an error by themselves",)
        if placeholder
        else (),
        share=f"every name under {zones}",
        service=service.fact.name,
    )


def _log_line(dns: ClusterDns, address: str) -> tuple[Evidence, ...]:
    for log in dns.logs:
        for line in log.fact.text.splitlines():
            if address and re.search(rf"dial tcp {re.escape(address)}:53: \S", line):
                return (Evidence(f"log: {line.strip()[:200]}", log),)
    return ()
