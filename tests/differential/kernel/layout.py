"""The rules kube-proxy would write for random Services, made without any of the code under test.

The layouts are those of kube-proxy 1.35: pkg/proxy/iptables/proxier.go, pkg/proxy/nftables/proxier.go.
"""

from __future__ import annotations

import base64
import hashlib

from tests.differential.kernel.services import Made, Plan


def _hash(text: str, length: int) -> str:
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()[:length]


def _join(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def iptables(services: list[Made], plan: Plan) -> str:
    """Input for iptables-restore (ip6tables-restore)."""
    bits = 32 if plan.family == 4 else 128
    nat, filters, chains = [], [], ["KUBE-SERVICES", "KUBE-NODEPORTS", "KUBE-POSTROUTING", "KUBE-MARK-MASQ"]
    for service in services:
        proto = service.protocol.lower()
        key = _hash(service.name + proto, 16)
        cluster, local = service.cluster(), service.local()
        sep = {
            address: f"KUBE-SEP-{_hash(service.name + proto + _join(address, service.target), 16)}"
            for address in cluster + local
        }
        uses_cluster = (not service.internal_local or service.exposed) and bool(cluster)
        uses_local = (service.internal_local or service.external_local) and bool(local)
        svc, svl, ext, fw = (f"KUBE-{name}-{key}" for name in ("SVC", "SVL", "EXT", "FW"))
        internal_chain = svl if service.internal_local else svc
        internal = local if service.internal_local else cluster
        external = local if service.external_local else cluster
        cluster_ip = plan.cluster_ip(service.number)
        match = f"-p {proto} -m {proto} --dport"
        comment = f'-m comment --comment "{service.name}'
        if internal:
            nat.append(
                f'-A KUBE-SERVICES {comment} cluster IP" -d {cluster_ip}/{bits} {match} {service.port} -j {internal_chain}'
            )
        else:
            target = "DROP" if service.usable() else "REJECT"
            why = "has no local endpoints" if service.usable() else "has no endpoints"
            filters.append(
                f'-A KUBE-SERVICES {comment} {why}" -d {cluster_ip}/{bits} {match} {service.port} -j {target}'
            )
        ext_needed = service.exposed and service.usable()
        for address, kind in service.externals():
            target = ext
            if kind == "load-balancer" and service.ranges:
                target = fw
            if ext_needed:
                nat.append(
                    f'-A KUBE-SERVICES {comment} {kind} IP" -d {address}/{bits} {match} {service.port} -j {target}'
                )
                if target == fw:
                    filters.append(
                        f'-A KUBE-PROXY-FIREWALL {comment} traffic not accepted by {fw}" -d {address}/{bits} {match} {service.port} -j DROP'
                    )
            if not external:
                verdict = "DROP" if service.usable() else "REJECT"
                filters.append(
                    f'-A KUBE-EXTERNAL-SERVICES {comment} has no endpoints" -d {address}/{bits} {match} {service.port} -j {verdict}'
                )
        if service.node_port:
            if ext_needed:
                nat.append(f'-A KUBE-NODEPORTS {comment}" {match} {service.node_port} -j {ext}')
            if not external:
                verdict = "DROP" if service.usable() else "REJECT"
                filters.append(
                    f'-A KUBE-EXTERNAL-SERVICES {comment} has no endpoints" -m addrtype --dst-type LOCAL '
                    f"{match} {service.node_port} -j {verdict}"
                )
            if service.external_local and service.kind == "LoadBalancer":
                filters.append(
                    f'-A KUBE-NODEPORTS {comment} health check node port" -p tcp -m tcp --dport {32000 + service.number} -j ACCEPT'
                )
        if internal:
            nat.append(
                f'-A {internal_chain} {comment} cluster IP" ! -s {plan.pod_cidr} -d {cluster_ip}/{bits} {match} {service.port} -j KUBE-MARK-MASQ'
            )
        if ext_needed:
            chains.append(ext)
            if service.external_local:
                nat.append(f'-A {ext} {comment} pod traffic" -s {plan.pod_cidr} -j {svc}')
                nat.append(f"-A {ext} -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ")
                nat.append(f"-A {ext} -m addrtype --src-type LOCAL -j {svc}")
                if local:
                    nat.append(f"-A {ext} -j {svl}")
            else:
                nat.append(f'-A {ext} {comment} masquerade" -j KUBE-MARK-MASQ')
                nat.append(f"-A {ext} -j {svc}")
            if service.ranges and service.kind == "LoadBalancer":
                chains.append(fw)
                nat.append(f'-A {fw} {comment} loadbalancer IP" -s {plan.allowed_range} -j {ext}')
                nat.append(f'-A {fw} {comment} other traffic will be dropped by KUBE-PROXY-FIREWALL"')
        for chain, members, used in ((svc, cluster, uses_cluster), (svl, local, uses_local)):
            if used:
                chains.append(chain)
                nat.extend(_spread(chain, members, sep, service))
        for address, chain in sep.items():
            chains.append(chain)
            recent = f"-m recent --name {chain} --set " if service.affinity else ""
            nat.append(f"-A {chain} -s {address}/{bits} -j KUBE-MARK-MASQ")
            nat.append(
                f"-A {chain} {recent}-p {proto} -m {proto} -j DNAT --to-destination {_join(address, service.target)}"
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


def _spread(chain: str, members: list[str], sep: dict[str, str], service: Made) -> list[str]:
    lines = []
    if service.affinity:
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
    cluster_ips = [plan.cluster_ip(service.number) for service in services]
    for service in services:
        proto = service.protocol.lower()
        key = f"ns/s{service.number}/{proto}/p"
        name = f"{_hash(key, 8)}-{key}"
        cluster, local = service.cluster(), service.local()
        ends = {}
        for address in cluster + local:
            end = f"{key}__{address}/{service.target}"
            ends[address] = f"{_hash(end, 8)}-{end}".replace(":", ".")
        svc, loc, ext, fw = f"service-{name}", f"local-{name}", f"external-{name}", f"firewall-{name}"
        internal_chain = loc if service.internal_local else svc
        internal = local if service.internal_local else cluster
        external = local if service.external_local else cluster
        verdict = "drop" if service.usable() else "goto reject-chain"
        cluster_ip = plan.cluster_ip(service.number)
        note = f'comment "{service.name}"'
        if internal:
            maps["service-ips"].append(f"{cluster_ip} . {proto} . {service.port} : goto {internal_chain}")
        else:
            maps["no-endpoint-services"].append(f"{cluster_ip} . {proto} . {service.port} {note} : {verdict}")
        exposed = service.exposed and service.usable()
        for address, kind in service.externals():
            if exposed:
                maps["service-ips"].append(f"{address} . {proto} . {service.port} : goto {ext}")
            if kind == "load-balancer" and service.ranges:
                maps["firewall-ips"].append(f"{address} . {proto} . {service.port} : goto {fw}")
            if not external:
                maps["no-endpoint-services"].append(f"{address} . {proto} . {service.port} {note} : {verdict}")
        if service.node_port:
            if exposed:
                maps["service-nodeports"].append(f"{proto} . {service.node_port} : goto {ext}")
            if not external:
                maps["no-endpoint-nodeports"].append(f"{proto} . {service.node_port} {note} : {verdict}")
        if exposed:
            if service.external_local:
                rules = [
                    f"{ip} saddr {plan.pod_cidr} goto {svc}",
                    "fib saddr type local jump mark-for-masquerade",
                    f"fib saddr type local goto {svc}",
                    *([f"goto {loc}"] if local else []),
                ]
            else:
                rules = ["jump mark-for-masquerade", f"goto {svc}"]
            chains.append((ext, rules))
        if service.ranges and service.kind == "LoadBalancer":
            chains.append((fw, [f"{ip} saddr != {{ {plan.allowed_range} }} drop"]))
        uses_cluster = (not service.internal_local or service.exposed) and bool(cluster)
        uses_local = (service.internal_local or service.external_local) and bool(local)
        for chain, members, used in ((svc, cluster, uses_cluster), (loc, local, uses_local)):
            if not used:
                continue
            rules = []
            if chain == internal_chain:
                rules.append(f"{ip} daddr {cluster_ip} {ip} saddr != {plan.pod_cidr} jump mark-for-masquerade")
            if service.affinity:
                rules += [f"{ip} saddr @affinity-{ends[address]} goto endpoint-{ends[address]}" for address in members]
            spread = ", ".join(f"{place} : goto endpoint-{ends[address]}" for place, address in enumerate(members))
            rules.append(f"numgen random mod {len(members)} vmap {{ {spread} }}")
            chains.append((chain, rules))
        for address, end in ends.items():
            rules = [f"{ip} saddr {address} jump mark-for-masquerade"]
            if service.affinity:
                sets.append(f"set affinity-{end} {{ type {addr}; size 65535; flags dynamic,timeout; timeout 600s; }}")
                rules.append(f"update @affinity-{end} {{ {ip} saddr }}")
            rules.append(f"meta l4proto {proto} dnat to {_join(address, service.target)}")
            chains.append((f"endpoint-{end}", rules))
    lines = [f"table {ip} kube-proxy {{", '  comment "rules for kube-proxy"']
    lines.append(f"  set cluster-ips {{ type {addr}; elements = {{ {', '.join(cluster_ips)} }}; }}")
    lines.append(f"  set nodeport-ips {{ type {addr}; elements = {{ {plan.node} }}; }}")
    lines += [f"  {text}" for text in sets]
    for map_name, elements in maps.items():
        fields = "inet_proto . inet_service" if "nodeport" in map_name else f"{addr} . inet_proto . inet_service"
        body = f" elements = {{ {', '.join(elements)} }};" if elements else ""
        lines.append(f"  map {map_name} {{ type {fields} : verdict;{body} }}")
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
