"""What a Corefile by itself (with the addresses around it) says will go wrong, each with the line.

Rules from the documentation and sources of plugin/loop, forward, kubernetes, template and cache of CoreDNS 1.14, and of
NodeLocal DNSCache (kubernetes/dns, cmd/node-cache: __PILLAR__ placeholders, force_tcp upstreams).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

import msgspec

from svcpath.models.resolvers.registry import nameservers
from svcpath.models.resolvers.servers.coredns_plugins import targets_of
from svcpath.models.resolvers.servers.corefile import Corefile, Directive, ServerBlock, matches, normalize

PLACEHOLDERS = {
    "__PILLAR__CLUSTER__DNS__": "the kube-dns-upstream Service's cluster IP",
    "__PILLAR__UPSTREAM__SERVERS__": "the node's own DNS servers",
    "__PILLAR__DNS__DOMAIN__": "the cluster domain",
    "__PILLAR__LOCAL__DNS__": "the node-local listen address",
    "__PILLAR__DNS__SERVER__": "the kube-dns Service's cluster IP",
}


class Lint(msgspec.Struct, frozen=True):
    """``severity``: fault (names fail), warning (some names or resolvers may fail) or info."""

    code: str
    severity: str
    line: int
    sentence: str


def lint(
    corefile: Corefile,
    *,
    cluster_domain: str = "cluster.local",
    own_addresses: Iterable[str] = (),
    host_resolv_conf: str | None = None,
) -> tuple[Lint, ...]:
    """Findings in the order of lines. ``own_addresses`` are those that lead back to this CoreDNS (its Service's cluster
    IPs, its Pods, its bind addresses); ``host_resolv_conf`` is the file that ``forward . /etc/resolv.conf`` reads."""
    own = set(own_addresses)
    found: list[Lint] = []
    for block in corefile.blocks:
        bound = {address for bind in block.plugins("bind") for address in bind.args}
        for plugin in block.plugins("forward"):
            found.extend(_forward(block, plugin, own | bound, host_resolv_conf))
        for plugin in block.plugins("kubernetes"):
            found.extend(_fallthrough(plugin, block))
        for plugin in block.plugins("template"):
            found.extend(_template(plugin, block, cluster_domain))
    found.extend(_cluster_zone(corefile, cluster_domain))
    found.extend(Lint("import", "info", line, f"{text}: not in evidence") for line, text in corefile.not_understood)
    return tuple(sorted(found, key=lambda item: (item.line, item.code)))


def _forward(block: ServerBlock, plugin: Directive, own: set[str], conf: str | None) -> list[Lint]:
    found = []
    for target in targets_of(plugin):
        if target in PLACEHOLDERS:
            text = f"{target} stands for {PLACEHOLDERS[target]}; node-cache fills it in at run time: no error by itself"
            found.append(Lint("placeholder", "info", plugin.line, text))
            continue
        addresses = [target]
        via = ""
        if target.startswith("/"):
            if conf is None:
                continue
            addresses, via = list(nameservers(conf)), f" ({target})"
        for address in addresses:
            found.extend(_target(block, plugin, address, via, own))
    if plugin.option("force_tcp") is not None:
        zones = ", ".join(zone.name for zone in block.zones)
        text = f"{zones} is forwarded over TCP alone: {', '.join(targets_of(plugin))} must answer on TCP port 53"
        found.append(Lint("force-tcp", "info", plugin.line, text))
    return found


def _target(block: ServerBlock, plugin: Directive, address: str, via: str, own: set[str]) -> list[Lint]:
    loop = block.plugins("loop")
    halts = f"; the loop plugin (line {loop[0].line}) halts CoreDNS for it" if loop else ""
    if address in own:
        return [
            Lint("forward-to-self", "fault", plugin.line, f"forwards to {address}{via}, which is this CoreDNS{halts}")
        ]
    try:
        loopback = ipaddress.ip_address(address).is_loopback
    except ValueError:
        return []
    if not loopback:
        return []
    text = (
        f"forwards to the loopback address {address}{via}: inside the CoreDNS Pod that is CoreDNS itself{halts}; "
        "kubelet's resolvConf should name a file with the node's real servers"
    )
    return [Lint("forward-to-loopback", "fault", plugin.line, text)]


def _fallthrough(plugin: Directive, block: ServerBlock) -> list[Lint]:
    option = plugin.option("fallthrough")
    if option is None or not block.plugins("forward"):
        return []
    zones = tuple(zone for text in option.args for zone in normalize(text)) or (".",)
    served = tuple(zone for text in plugin.args for zone in normalize(text)) or tuple(z.name for z in block.zones)
    forward_zones = [zone for zone in served if not zone.endswith(".arpa.") and matches(zones, zone)]
    if not forward_zones:
        return []
    text = (
        f"fallthrough sends every name that does not exist under {', '.join(forward_zones)} to forward: the upstream "
        "decides whether a search candidate is NXDOMAIN, and a NODATA there ends musl's and dnspython's search"
    )
    return [Lint("fallthrough-cluster-zone", "warning", option.line, text)]


def _template(plugin: Directive, block: ServerBlock, cluster_domain: str) -> list[Lint]:
    zones = tuple(zone for text in plugin.args[2:] for zone in normalize(text)) or tuple(z.name for z in block.zones)
    domain = normalize(cluster_domain)[0]
    inside = any(
        zone == "." or domain == zone or zone.endswith("." + domain) or domain.endswith("." + zone) for zone in zones
    )
    if not inside:
        return []
    rcode = plugin.option("rcode")
    code = rcode.args[0].upper() if rcode and rcode.args else "NOERROR"
    rrtype = plugin.args[1].upper() if len(plugin.args) > 1 else "ANY"
    if code == "NXDOMAIN" and rrtype in ("AAAA", "A"):
        text = (
            f"{rrtype} is answered NXDOMAIN for every name: musl then takes names that have the other type as missing"
        )
        return [Lint("template-nxdomain", "fault", plugin.line, text)]
    if code == "NOERROR" and not plugin.options("answer") and rrtype in ("ANY", "A"):
        text = f"{rrtype} is answered NOERROR without a record: a search candidate that matches ends musl's search"
        return [Lint("template-nodata", "warning", plugin.line, text)]
    return []


def _cluster_zone(corefile: Corefile, cluster_domain: str) -> list[Lint]:
    domain = normalize(cluster_domain)[0]
    stanzas = list(corefile.plugins("kubernetes"))
    served = [
        (zone, plugin)
        for block, plugin in stanzas
        for zone in (tuple(z for text in plugin.args for z in normalize(text)) or tuple(z.name for z in block.zones))
    ]
    if any(zone in (domain, ".") for zone, _ in served):
        return []
    forwarded = [
        plugin
        for block in corefile.blocks
        for plugin in block.plugins("forward")
        if matches(tuple(zone.name for zone in block.zones), domain) == domain
    ]
    if forwarded:
        return []
    if not stanzas:
        line = corefile.blocks[0].line if corefile.blocks else 0
        text = (
            f"no kubernetes plugin and no server block that forwards {domain}: cluster names go to the general upstream"
        )
        return [Lint("no-cluster-zone", "fault", line, text)]
    others = sorted({zone for zone, _ in served if not zone.endswith(".arpa.")})
    text = f"the kubernetes plugin serves {', '.join(others) or 'reverse zones only'}, the Pods search {domain}"
    return [Lint("wrong-cluster-zone", "fault", served[0][1].line, text)]
