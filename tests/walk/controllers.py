"""What the slice controller and kube-proxy make of objects.

Rules: pkg/controller/endpointslice/utils.go and pkg/proxy/iptables/proxier.go (v1.35), written down here anew so that the
tests do not lean on the code they test.
"""

from __future__ import annotations

import json

from tests.walk.objects import NAMESPACE, Obj, endpoint, endpoint_slice
from tests.walk.proxy_names import endpoint_chain, service_chain


def target(service_port: Obj, of: Obj) -> int | None:
    wanted = service_port.get("targetPort") or service_port["port"]
    if isinstance(wanted, int):
        return wanted
    for container in of["spec"]["containers"]:
        for one in container.get("ports", ()):
            if one.get("name") == wanted and one.get("protocol", "TCP") == service_port.get("protocol", "TCP"):
                return int(one["containerPort"])
    return None


def ready(of: Obj) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in of["status"].get("conditions", ()))


def slices(of: Obj, pods: list[Obj]) -> list[Obj]:
    name, spec = of["metadata"]["name"], of["spec"]
    made: list[Obj] = []
    for family in spec.get("ipFamilies", ["IPv4"]):
        groups: dict[str, tuple[list[Obj] | None, list[Obj]]] = {}
        for one in pods:
            labels = one["metadata"].get("labels", {})
            if any(labels.get(key) != value for key, value in spec["selector"].items()):
                continue
            if one["status"]["phase"] in ("Succeeded", "Failed"):
                continue
            mine = [each["ip"] for each in one["status"]["podIPs"] if (":" in each["ip"]) == (family == "IPv6")]
            if not mine:
                continue
            serving, leaving = ready(one), "deletionTimestamp" in one["metadata"]
            entry = endpoint(
                mine[0],
                one["metadata"]["name"],
                node=one["spec"].get("nodeName", ""),
                ready=bool(spec.get("publishNotReadyAddresses")) or (serving and not leaving),
                serving=serving,
                terminating=leaving,
            )
            ports = [
                {"name": each.get("name", ""), "port": number, "protocol": each.get("protocol", "TCP")}
                for each in spec.get("ports", ())
                if (number := target(each, one)) is not None
            ]
            groups.setdefault(json.dumps(ports), (ports, []))[1].append(entry)
        for index, (ports_, endpoints) in enumerate(groups.values() or [(None, [])]):
            made.append(endpoint_slice(f"{name}-{family.lower()}{index}", name, endpoints, ports_))
            made[-1]["addressType"] = family
    return made


def usable(of: Obj, family: int, objects: list[Obj], service_port: Obj) -> list[tuple[str, int]]:
    """What kube-proxy has for one Service port: ready endpoints, else serving and terminating ones."""
    found: dict[tuple[str, int], str] = {}
    for one in objects:
        if one["kind"] != "EndpointSlice":
            continue
        if one["metadata"]["labels"].get("kubernetes.io/service-name") != of["metadata"]["name"]:
            continue
        if one["addressType"] != f"IPv{family}":
            continue
        numbers = [
            each["port"]
            for each in one["ports"] or ()
            if each.get("name", "") == service_port.get("name", "")
            and each.get("protocol", "TCP") == service_port.get("protocol", "TCP")
        ]
        for each in one["endpoints"] or ():
            state = each["conditions"]
            rank = "ready" if state["ready"] else "serving" if state["serving"] and state["terminating"] else ""
            for number in numbers:
                if rank:
                    found[(each["addresses"][0], number)] = rank
    best = [key for key, rank in found.items() if rank == "ready"]
    return sorted(best or found)


def iptables(objects: list[Obj], family: int) -> str:
    """iptables-save (or ip6tables-save) as kube-proxy writes it for the cluster IPs of every Service."""
    nat: list[str] = []
    chains: list[str] = []
    rejects: list[str] = []
    pods = "10.244.0.0/16" if family == 4 else "fd00:244::/32"
    bits = 32 if family == 4 else 128
    for one in (each for each in objects if each["kind"] == "Service"):
        for ip in one["spec"].get("clusterIPs", ()):
            if ip == "None" or (":" in ip) != (family == 6):
                continue
            for each in one["spec"]["ports"]:
                proto = each.get("protocol", "TCP").lower()
                called = f"{NAMESPACE}/{one['metadata']['name']}" + (f":{each['name']}" if each.get("name") else "")
                match = f"-d {ip}/{bits} -p {proto} -m comment --comment"
                backends = usable(one, family, objects, each)
                if not backends:
                    rejects.append(
                        f'-A KUBE-SERVICES {match} "{called} has no endpoints" -m {proto} --dport {each["port"]} '
                        f"-j REJECT --reject-with icmp{'6' if family == 6 else ''}-port-unreachable"
                    )
                    continue
                chain = service_chain(called, proto)
                chains.append(chain)
                nat.append(
                    f'-A KUBE-SERVICES {match} "{called} cluster IP" -m {proto} --dport {each["port"]} -j {chain}'
                )
                nat.append(
                    f'-A {chain} ! -s {pods} {match} "{called} cluster IP" -m {proto} --dport {each["port"]} '
                    "-j KUBE-MARK-MASQ"
                )
                for index, (address, number) in enumerate(backends):
                    place = f"[{address}]:{number}" if family == 6 else f"{address}:{number}"
                    step = endpoint_chain(called, proto, place)
                    chains.append(step)
                    left = len(backends) - index
                    chance = f" -m statistic --mode random --probability {1 / left:.11f}" if left > 1 else ""
                    nat.append(f'-A {chain} -m comment --comment "{called} -> {place}"{chance} -j {step}')
                    nat.append(f'-A {step} -s {address}/{bits} -m comment --comment "{called}" -j KUBE-MARK-MASQ')
                    nat.append(
                        f'-A {step} -p {proto} -m comment --comment "{called}" -m {proto} -j DNAT --to-destination {place}'
                    )
    lines = [
        f"# Generated by ip{'6' if family == 6 else ''}tables-save v1.8.9 (nf_tables) on Fri Jan  2 03:04:05 2026",
        "*filter",
        ":INPUT ACCEPT [0:0]",
        ":FORWARD ACCEPT [0:0]",
        ":OUTPUT ACCEPT [0:0]",
        ":KUBE-SERVICES - [0:0]",
        ":KUBE-FORWARD - [0:0]",
        '-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
        '-A FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT',
        *rejects,
        "COMMIT",
        "*nat",
        ":PREROUTING ACCEPT [0:0]",
        ":INPUT ACCEPT [0:0]",
        ":OUTPUT ACCEPT [0:0]",
        ":POSTROUTING ACCEPT [0:0]",
        ":KUBE-MARK-MASQ - [0:0]",
        ":KUBE-POSTROUTING - [0:0]",
        ":KUBE-SERVICES - [0:0]",
        *(f":{chain} - [0:0]" for chain in sorted(set(chains))),
        '-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
        "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000",
        "-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN",
        "-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0",
        '-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
        *nat,
        "COMMIT",
    ]
    return "\n".join(lines) + "\n"
