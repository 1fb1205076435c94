"""Random Services, and the rules kube-proxy would write for them, made without any of the code under test.

The layouts are those of kube-proxy 1.35 (pkg/proxy/iptables/proxier.go, pkg/proxy/nftables/proxier.go); which endpoints
count is worked out here anew, in the few lines it takes.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import random
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Plan:
    """Addresses of one family in the namespaces; Services are counted from the ``first_`` ones."""

    family: int
    pod_cidr: str
    service_cidr: str
    first_cluster_ip: str
    first_external_ip: str
    first_load_balancer_ip: str
    pod: str
    node: str
    outside: str
    blocked: str
    allowed_range: str
    backends: tuple[str, ...]

    def cluster_ip(self, number: int) -> str:
        return str(ipaddress.ip_address(self.first_cluster_ip) + number)

    def external_ip(self, number: int) -> str:
        return str(ipaddress.ip_address(self.first_external_ip) + number)

    def load_balancer_ip(self, number: int) -> str:
        return str(ipaddress.ip_address(self.first_load_balancer_ip) + number)


IPV4 = Plan(
    family=4,
    pod_cidr="10.244.0.0/16",
    service_cidr="172.30.0.0/16",
    first_cluster_ip="172.30.0.10",
    first_external_ip="192.0.2.10",
    first_load_balancer_ip="198.18.0.10",
    pod="10.244.1.2",
    node="192.168.0.2",
    outside="203.0.113.2",
    blocked="203.0.113.130",
    allowed_range="203.0.113.0/25",
    backends=tuple(f"10.244.2.{number}" for number in range(10, 22)),
)
IPV6 = Plan(
    family=6,
    pod_cidr="fd00:244::/56",
    service_cidr="fd00:33::/32",
    first_cluster_ip="fd00:33::a",
    first_external_ip="fd00:40::a",
    first_load_balancer_ip="fd00:50::a",
    pod="fd00:244:0:1::2",
    node="fd00:192::2",
    outside="2001:db8:113::2",
    blocked="2001:db8:113:8000::2",
    allowed_range="2001:db8:113::/49",
    backends=tuple(f"fd00:244:0:2::{number:x}" for number in range(10, 22)),
)
NODE = "w1"


@dataclass(frozen=True)
class Made:
    """One random Service with one port, and its endpoints as (address, local, ready, serving, terminating)."""

    number: int
    protocol: str
    port: int
    target: int
    kind: str
    internal_local: bool
    external_local: bool
    affinity: bool
    ranges: bool
    external_ip: bool
    endpoints: tuple[tuple[str, bool, bool, bool, bool], ...]
    plan: Plan = field(repr=False)

    @property
    def name(self) -> str:
        return f"ns/s{self.number}:p"

    @property
    def node_port(self) -> int:
        return 30000 + self.number if self.kind in ("NodePort", "LoadBalancer") else 0

    @property
    def exposed(self) -> bool:
        return self.kind != "ClusterIP" or self.external_ip

    def cluster(self) -> list[str]:
        if self.internal_local and not self.exposed:
            return []
        return self._ready(False) or self._falling_back(False)

    def local(self) -> list[str]:
        return self._ready(True) or self._falling_back(True)

    def usable(self) -> bool:
        return bool(self._ready(False) or self._falling_back(False))

    def _ready(self, local: bool) -> list[str]:
        return [address for address, here, ready, _, _ in self.endpoints if ready and (here or not local)]

    def _falling_back(self, local: bool) -> list[str]:
        return [item[0] for item in self.endpoints if item[3] and item[4] and (item[1] or not local)]

    def externals(self) -> list[tuple[str, str]]:
        held = [(self.plan.external_ip(self.number), "external")] if self.external_ip else []
        if self.kind == "LoadBalancer":
            held.append((self.plan.load_balancer_ip(self.number), "load-balancer"))
        return held

    def objects(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The Service and its slice, as the API would show them."""
        address = self.plan.cluster_ip(self.number)
        port: dict[str, Any] = {"name": "p", "port": self.port, "protocol": self.protocol, "targetPort": self.target}
        spec: dict[str, Any] = {"type": self.kind, "clusterIP": address, "clusterIPs": [address], "ports": [port]}
        if self.node_port:
            port["nodePort"] = self.node_port
        if self.internal_local:
            spec["internalTrafficPolicy"] = "Local"
        if self.external_local:
            spec["externalTrafficPolicy"] = "Local"
            if self.kind == "LoadBalancer":
                spec["healthCheckNodePort"] = 32000 + self.number
        if self.affinity:
            spec["sessionAffinity"] = "ClientIP"
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 600}}
        if self.external_ip:
            spec["externalIPs"] = [self.plan.external_ip(self.number)]
        ingress = []
        if self.kind == "LoadBalancer":
            ingress = [{"ip": self.plan.load_balancer_ip(self.number)}]
            if self.ranges:
                spec["loadBalancerSourceRanges"] = [self.plan.allowed_range]
        service = {
            "kind": "Service",
            "metadata": {"name": f"s{self.number}", "namespace": "ns"},
            "spec": spec,
            "status": {"loadBalancer": {"ingress": ingress}},
        }
        endpoints = [
            {
                "addresses": [address],
                "nodeName": NODE if local else "w2",
                "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
            }
            for address, local, ready, serving, terminating in self.endpoints
        ]
        item = {
            "kind": "EndpointSlice",
            "metadata": {
                "name": f"s{self.number}-a",
                "namespace": "ns",
                "labels": {"kubernetes.io/service-name": f"s{self.number}"},
            },
            "addressType": "IPv4" if self.plan.family == 4 else "IPv6",
            "endpoints": endpoints,
            "ports": [{"name": "p", "port": self.target, "protocol": self.protocol}],
        }
        return service, item


def random_service(chance: random.Random, number: int, plan: Plan) -> Made:
    kind = chance.choice(["ClusterIP", "ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer"])
    external_ip = chance.random() < 0.3
    count = chance.choice([0, 0, 1, 1, 2, 3, 5, 12])
    states = [(True, True, False)] * 4 + [(False, True, True), (False, False, True), (False, False, False)]
    only_terminating = chance.random() < 0.15
    endpoints = []
    for address in chance.sample(plan.backends, count):
        state = (False, True, True) if only_terminating else chance.choice(states)
        endpoints.append((address, chance.random() < 0.4, *state))
    return Made(
        number=number,
        protocol=chance.choice(["TCP", "TCP", "UDP"]),
        port=chance.choice([80, 53, 443]),
        target=chance.choice([8080, 8081]),
        kind=kind,
        internal_local=chance.random() < 0.2,
        external_local=(kind != "ClusterIP" or external_ip) and chance.random() < 0.5,
        affinity=chance.random() < 0.25,
        ranges=chance.random() < 0.5,
        external_ip=external_ip,
        endpoints=tuple(endpoints),
        plan=plan,
    )


def _hash(text: str, length: int) -> str:
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()[:length]


def _join(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def iptables(services: list[Made], plan: Plan) -> str:
    """Input for iptables-restore (ip6tables-restore)."""
    bits = 32 if plan.family == 4 else 128
    nat, filters, chains = [], [], ["KUBE-SERVICES", "KUBE-NODEPORTS", "KUBE-POSTROUTING", "KUBE-MARK-MASQ"]
    for one in services:
        proto = one.protocol.lower()
        key = _hash(one.name + proto, 16)
        cluster, local = one.cluster(), one.local()
        sep = {
            address: f"KUBE-SEP-{_hash(one.name + proto + _join(address, one.target), 16)}"
            for address in cluster + local
        }
        uses_cluster = (not one.internal_local or one.exposed) and bool(cluster)
        uses_local = (one.internal_local or one.external_local) and bool(local)
        svc, svl, ext, fw = (f"KUBE-{name}-{key}" for name in ("SVC", "SVL", "EXT", "FW"))
        internal_chain = svl if one.internal_local else svc
        internal = local if one.internal_local else cluster
        external = local if one.external_local else cluster
        cluster_ip = plan.cluster_ip(one.number)
        match = f"-p {proto} -m {proto} --dport"
        comment = f'-m comment --comment "{one.name}'
        if internal:
            nat.append(
                f'-A KUBE-SERVICES {comment} cluster IP" -d {cluster_ip}/{bits} {match} {one.port} -j {internal_chain}'
            )
        else:
            target = "DROP" if one.usable() else "REJECT"
            why = "has no local endpoints" if one.usable() else "has no endpoints"
            filters.append(f'-A KUBE-SERVICES {comment} {why}" -d {cluster_ip}/{bits} {match} {one.port} -j {target}')
        ext_needed = one.exposed and one.usable()
        for address, kind in one.externals():
            target = ext
            if kind == "load-balancer" and one.ranges:
                target = fw
            if ext_needed:
                nat.append(f'-A KUBE-SERVICES {comment} {kind} IP" -d {address}/{bits} {match} {one.port} -j {target}')
                if target == fw:
                    filters.append(
                        f'-A KUBE-PROXY-FIREWALL {comment} traffic not accepted by {fw}" -d {address}/{bits} {match} {one.port} -j DROP'
                    )
            if not external:
                verdict = "DROP" if one.usable() else "REJECT"
                filters.append(
                    f'-A KUBE-EXTERNAL-SERVICES {comment} has no endpoints" -d {address}/{bits} {match} {one.port} -j {verdict}'
                )
        if one.node_port:
            if ext_needed:
                nat.append(f'-A KUBE-NODEPORTS {comment}" {match} {one.node_port} -j {ext}')
            if not external:
                verdict = "DROP" if one.usable() else "REJECT"
                filters.append(
                    f'-A KUBE-EXTERNAL-SERVICES {comment} has no endpoints" -m addrtype --dst-type LOCAL '
                    f"{match} {one.node_port} -j {verdict}"
                )
            if one.external_local and one.kind == "LoadBalancer":
                filters.append(
                    f'-A KUBE-NODEPORTS {comment} health check node port" -p tcp -m tcp --dport {32000 + one.number} -j ACCEPT'
                )
        if internal:
            nat.append(
                f'-A {internal_chain} {comment} cluster IP" ! -s {plan.pod_cidr} -d {cluster_ip}/{bits} {match} {one.port} -j KUBE-MARK-MASQ'
            )
        if ext_needed:
            chains.append(ext)
            if one.external_local:
                nat.append(f'-A {ext} {comment} pod traffic" -s {plan.pod_cidr} -j {svc}')
                nat.append(f"-A {ext} -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ")
                nat.append(f"-A {ext} -m addrtype --src-type LOCAL -j {svc}")
                if local:
                    nat.append(f"-A {ext} -j {svl}")
            else:
                nat.append(f'-A {ext} {comment} masquerade" -j KUBE-MARK-MASQ')
                nat.append(f"-A {ext} -j {svc}")
            if one.ranges and one.kind == "LoadBalancer":
                chains.append(fw)
                nat.append(f'-A {fw} {comment} loadbalancer IP" -s {plan.allowed_range} -j {ext}')
                nat.append(f'-A {fw} {comment} other traffic will be dropped by KUBE-PROXY-FIREWALL"')
        for chain, members, used in ((svc, cluster, uses_cluster), (svl, local, uses_local)):
            if used:
                chains.append(chain)
                nat.extend(_spread(chain, members, sep, one))
        for address, chain in sep.items():
            chains.append(chain)
            recent = f"-m recent --name {chain} --set " if one.affinity else ""
            nat.append(f"-A {chain} -s {address}/{bits} -j KUBE-MARK-MASQ")
            nat.append(
                f"-A {chain} {recent}-p {proto} -m {proto} -j DNAT --to-destination {_join(address, one.target)}"
            )
    head = [
        "*filter",
        *(
            f":{name} - [0:0]"
            for name in (
                "KUBE-SERVICES",
                "KUBE-EXTERNAL-SERVICES",
                "KUBE-FORWARD",
                "KUBE-NODEPORTS",
                "KUBE-PROXY-FIREWALL",
            )
        ),
        "-A INPUT -m conntrack --ctstate NEW -j KUBE-PROXY-FIREWALL",
        "-A INPUT -j KUBE-NODEPORTS",
        "-A INPUT -m conntrack --ctstate NEW -j KUBE-EXTERNAL-SERVICES",
        "-A FORWARD -m conntrack --ctstate NEW -j KUBE-PROXY-FIREWALL",
        "-A FORWARD -j KUBE-FORWARD",
        "-A FORWARD -m conntrack --ctstate NEW -j KUBE-SERVICES",
        "-A FORWARD -m conntrack --ctstate NEW -j KUBE-EXTERNAL-SERVICES",
        "-A OUTPUT -m conntrack --ctstate NEW -j KUBE-PROXY-FIREWALL",
        "-A OUTPUT -m conntrack --ctstate NEW -j KUBE-SERVICES",
        "-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP",
        "-A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT",
        "-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
        *filters,
        "COMMIT",
        "*nat",
        *(f":{name} - [0:0]" for name in dict.fromkeys(chains)),
        "-A PREROUTING -j KUBE-SERVICES",
        "-A OUTPUT -j KUBE-SERVICES",
        "-A POSTROUTING -j KUBE-POSTROUTING",
        "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000",
        "-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN",
        "-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0",
        "-A KUBE-POSTROUTING -j MASQUERADE --random-fully",
        *nat,
        "-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS",
        "COMMIT",
        "",
    ]
    return "\n".join(head)


def _spread(chain: str, members: list[str], sep: dict[str, str], one: Made) -> list[str]:
    lines = []
    if one.affinity:
        lines = [
            f"-A {chain} -m recent --name {sep[address]} --rcheck --seconds 600 --reap -j {sep[address]}"
            for address in members
        ]
    for place, address in enumerate(members):
        left = len(members) - place
        chance = f"-m statistic --mode random --probability {1 / left:.10f} " if left > 1 else ""
        lines.append(f"-A {chain} {chance}-j {sep[address]}")
    return lines


def nftables(services: list[Made], plan: Plan) -> str:
    """Input for nft -f."""
    ip, addr = ("ip", "ipv4_addr") if plan.family == 4 else ("ip6", "ipv6_addr")
    icmp = "127.0.0.0/8" if plan.family == 4 else "::1"
    maps: dict[str, list[str]] = {
        name: []
        for name in (
            "service-ips",
            "service-nodeports",
            "no-endpoint-services",
            "no-endpoint-nodeports",
            "firewall-ips",
        )
    }
    sets, chains = [], []
    cluster_ips = [plan.cluster_ip(one.number) for one in services]
    for one in services:
        proto = one.protocol.lower()
        key = f"ns/s{one.number}/{proto}/p"
        name = f"{_hash(key, 8)}-{key}"
        cluster, local = one.cluster(), one.local()
        ends = {}
        for address in cluster + local:
            end = f"{key}__{address}/{one.target}"
            ends[address] = f"{_hash(end, 8)}-{end}".replace(":", ".")
        svc, loc, ext, fw = f"service-{name}", f"local-{name}", f"external-{name}", f"firewall-{name}"
        internal_chain = loc if one.internal_local else svc
        internal = local if one.internal_local else cluster
        external = local if one.external_local else cluster
        verdict = "drop" if one.usable() else "goto reject-chain"
        cluster_ip = plan.cluster_ip(one.number)
        note = f'comment "{one.name}"'
        if internal:
            maps["service-ips"].append(f"{cluster_ip} . {proto} . {one.port} : goto {internal_chain}")
        else:
            maps["no-endpoint-services"].append(f"{cluster_ip} . {proto} . {one.port} {note} : {verdict}")
        exposed = one.exposed and one.usable()
        for address, kind in one.externals():
            if exposed:
                maps["service-ips"].append(f"{address} . {proto} . {one.port} : goto {ext}")
            if kind == "load-balancer" and one.ranges:
                maps["firewall-ips"].append(f"{address} . {proto} . {one.port} : goto {fw}")
            if not external:
                maps["no-endpoint-services"].append(f"{address} . {proto} . {one.port} {note} : {verdict}")
        if one.node_port:
            if exposed:
                maps["service-nodeports"].append(f"{proto} . {one.node_port} : goto {ext}")
            if not external:
                maps["no-endpoint-nodeports"].append(f"{proto} . {one.node_port} {note} : {verdict}")
        if exposed:
            if one.external_local:
                rules = [
                    f"{ip} saddr {plan.pod_cidr} goto {svc}",
                    "fib saddr type local jump mark-for-masquerade",
                    f"fib saddr type local goto {svc}",
                    *([f"goto {loc}"] if local else []),
                ]
            else:
                rules = ["jump mark-for-masquerade", f"goto {svc}"]
            chains.append((ext, rules))
        if one.ranges and one.kind == "LoadBalancer":
            chains.append((fw, [f"{ip} saddr != {{ {plan.allowed_range} }} drop"]))
        uses_cluster = (not one.internal_local or one.exposed) and bool(cluster)
        uses_local = (one.internal_local or one.external_local) and bool(local)
        for chain, members, used in ((svc, cluster, uses_cluster), (loc, local, uses_local)):
            if not used:
                continue
            rules = []
            if chain == internal_chain:
                rules.append(f"{ip} daddr {cluster_ip} {ip} saddr != {plan.pod_cidr} jump mark-for-masquerade")
            if one.affinity:
                rules += [f"{ip} saddr @affinity-{ends[address]} goto endpoint-{ends[address]}" for address in members]
            spread = ", ".join(f"{place} : goto endpoint-{ends[address]}" for place, address in enumerate(members))
            rules.append(f"numgen random mod {len(members)} vmap {{ {spread} }}")
            chains.append((chain, rules))
        for address, end in ends.items():
            rules = [f"{ip} saddr {address} jump mark-for-masquerade"]
            if one.affinity:
                sets.append(f"set affinity-{end} {{ type {addr}; size 65535; flags dynamic,timeout; timeout 600s; }}")
                rules.append(f"update @affinity-{end} {{ {ip} saddr }}")
            rules.append(f"meta l4proto {proto} dnat to {_join(address, one.target)}")
            chains.append((f"endpoint-{end}", rules))
    lines = [f"table {ip} kube-proxy {{", '  comment "rules for kube-proxy"']
    lines.append(f"  set cluster-ips {{ type {addr}; elements = {{ {', '.join(cluster_ips)} }}; }}")
    lines.append(f"  set nodeport-ips {{ type {addr}; elements = {{ {plan.node} }}; }}")
    lines += [f"  {text}" for text in sets]
    for map_name, elements in maps.items():
        fields = "inet_proto . inet_service" if "nodeport" in map_name else f"{addr} . inet_proto . inet_service"
        held = f" elements = {{ {', '.join(elements)} }};" if elements else ""
        lines.append(f"  map {map_name} {{ type {fields} : verdict;{held} }}")
    daddr = f"{ip} daddr"
    triple = f"{daddr} . meta l4proto . th dport vmap"
    fixed = [
        (
            "filter-prerouting-pre-dnat",
            ["type filter hook prerouting priority -110", "ct state new jump firewall-check"],
        ),
        ("filter-output-pre-dnat", ["type filter hook output priority -110", "ct state new jump firewall-check"]),
        (
            "filter-input",
            [
                "type filter hook input priority 0",
                "ct state new jump nodeport-endpoints-check",
                "ct state new jump service-endpoints-check",
            ],
        ),
        (
            "filter-forward",
            [
                "type filter hook forward priority 0",
                "ct state new jump service-endpoints-check",
                "ct state new jump cluster-ips-check",
            ],
        ),
        (
            "filter-output",
            [
                "type filter hook output priority 0",
                "ct state new jump service-endpoints-check",
                "ct state new jump cluster-ips-check",
            ],
        ),
        ("nat-prerouting", ["type nat hook prerouting priority -100", "jump services"]),
        ("nat-output", ["type nat hook output priority -100", "jump services"]),
        ("nat-postrouting", ["type nat hook postrouting priority 100", "jump masquerading"]),
        ("nodeport-endpoints-check", [f"{daddr} @nodeport-ips meta l4proto . th dport vmap @no-endpoint-nodeports"]),
        ("service-endpoints-check", [f"{triple} @no-endpoint-services"]),
        ("firewall-check", [f"{triple} @firewall-ips"]),
        (
            "services",
            [
                f"{triple} @service-ips",
                f"{daddr} @nodeport-ips {daddr} != {icmp} meta l4proto . th dport vmap @service-nodeports",
            ],
        ),
        (
            "masquerading",
            ["meta mark & 0x4000 == 0 return", "meta mark set meta mark ^ 0x4000", "masquerade fully-random"],
        ),
        (
            "cluster-ips-check",
            [
                f'{daddr} @cluster-ips reject comment "Reject traffic to invalid ports of ClusterIPs"',
                f"{daddr} {plan.service_cidr} drop",
            ],
        ),
        ("mark-for-masquerade", ["meta mark set meta mark | 0x4000"]),
        ("reject-chain", ["reject"]),
    ]
    lines += [f"  chain {name} {{ }}" for name, rules in [*fixed, *chains] if not rules[0].startswith("type ")]
    for name, rules in [*fixed, *chains]:
        lines.append(f"  chain {name} {{")
        lines += [f"    {rule};" if rule.startswith("type ") else f"    {rule}" for rule in rules]
        lines.append("  }")
    lines += ["}", ""]
    return "\n".join(lines)
