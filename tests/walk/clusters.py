"""A small cluster as evidence: objects, what the slice controller and kube-proxy make of them, and the Pods' sockets.

A test edits ``Cluster.objects`` before ``settle`` (then the controllers follow, as in a real cluster) or after it (then
somebody tampered with slices or tables). Rules of the controllers: pkg/controller/endpointslice/utils.go and
pkg/proxy/iptables/proxier.go (v1.35), written down here anew so that the tests do not lean on the code they test.
"""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass, field
from typing import Any

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports.report import Report
from tests.walk.proxy_names import endpoint_chain, service_chain

Obj = dict[str, Any]
NAMESPACE = "shop"
NODES = {"w1": ("10.0.0.11", "fd00:10::11"), "w2": ("10.0.0.12", "fd00:10::12")}
CONTROLLER = "endpointslice-controller.k8s.io"


@dataclass
class Cluster:
    """``sockets``: Pod -> (protocol, address, port) of every open socket; None leaves its socket lists out. ``listed``
    False gives every object a file of its own, as kubectl get of one object prints it."""

    objects: list[Obj] = field(default_factory=list)
    sockets: dict[str, list[tuple[str, str, int]] | None] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    dumps: bool = False
    listed: bool = True

    def add(self, obj: Obj) -> Obj:
        self.objects.append(obj)
        return obj

    def of(self, kind: str) -> list[Obj]:
        return [one for one in self.objects if one["kind"] == kind]

    def get(self, kind: str, name: str = "") -> Obj:
        return next(one for one in self.of(kind) if not name or one["metadata"]["name"] == name)

    def drop(self, kind: str, name: str = "") -> None:
        self.objects = [
            one for one in self.objects if one["kind"] != kind or (name and one["metadata"]["name"] != name)
        ]

    def settle(self) -> Cluster:
        """Let the slice controller write the slices of every Service with a selector."""
        self.objects = [
            one
            for one in self.objects
            if one["kind"] != "EndpointSlice"
            or one["metadata"]["labels"].get("endpointslice.kubernetes.io/managed-by") != CONTROLLER
        ]
        for service in self.of("Service"):
            if service["spec"].get("selector") and service["spec"].get("type") != "ExternalName":
                self.objects.extend(slices(service, self.of("Pod")))
        return self

    def evidence(self) -> dict[str, bytes]:
        listing = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": self.objects}
        found = {"objects.json": json.dumps(listing, indent=1)} if self.listed else self._one_by_one()
        found |= self.files
        for pod, held in self.sockets.items():
            if held is None:
                continue
            for table in sorted({"tcp", "tcp6"} | {f"{one[0]}{'6' if ':' in one[1] else ''}" for one in held}):
                found[f"{pod}.proc-net-{table}.txt"] = proc_net(table, held)
        if self.dumps:
            for node in NODES:
                found[f"{node}.iptables-save.txt"] = iptables(self, 4)
                if any(":" in ip for one in self.of("Service") for ip in one["spec"].get("clusterIPs", ())):
                    found[f"{node}.ip6tables-save.txt"] = iptables(self, 6)
        return {path: text.encode() for path, text in found.items()}

    def _one_by_one(self) -> dict[str, str]:
        found = {}
        for number, one in enumerate(self.objects, start=100):
            read = {**one, "metadata": {**one["metadata"], "resourceVersion": str(number)}}
            found[f"{one['kind'].lower()}-{one['metadata']['name']}.json"] = json.dumps(read)
        return found

    def diagnose(self, target: str = "svc/web", **options: str) -> Report:
        return diagnose(BytesSource(self.evidence()), target, namespace=options.pop("namespace", NAMESPACE), **options)


def service(name: str = "web", **spec: Any) -> Obj:
    spec.setdefault("type", "ClusterIP")
    if spec["type"] != "ExternalName":
        spec.setdefault("clusterIP", "10.96.10.1")
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        spec.setdefault("ipFamilies", ["IPv6" if ":" in one else "IPv4" for one in spec["clusterIPs"] if one != "None"])
        if not spec["ipFamilies"]:
            spec["ipFamilies"] = ["IPv4"]
        spec.setdefault("ipFamilyPolicy", "SingleStack" if len(spec["ipFamilies"]) == 1 else "RequireDualStack")
        spec.setdefault("selector", {"app": name})
        spec.setdefault("ports", [port(80, 8080)])
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {key: value for key, value in spec.items() if value is not None},
    }


def port(number: int, target: int | str, name: str = "", protocol: str = "TCP") -> Obj:
    return {"port": number, "targetPort": target, "protocol": protocol, **({"name": name} if name else {})}


def pod(
    name: str,
    ips: tuple[str, ...],
    *,
    node: str = "w1",
    labels: dict[str, str] | None = None,
    ports: tuple[tuple[str, int, str], ...] = (("http", 8080, "TCP"),),
    ready: bool = True,
    phase: str = "Running",
    waiting: str = "",
    deleting: bool = False,
    **spec: Any,
) -> Obj:
    state: Obj = {"waiting": {"reason": waiting, "message": "as told"}} if waiting else {"running": {}}
    meta: Obj = {"name": name, "namespace": NAMESPACE, "labels": {"app": "web"} if labels is None else labels}
    if deleting:
        meta["deletionTimestamp"] = "2026-01-02T03:04:05Z"
        meta["deletionGracePeriodSeconds"] = 30
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {
            "nodeName": node,
            "containers": [
                {
                    "name": "main",
                    "image": "example/app:1",
                    "ports": [
                        {"containerPort": number, "protocol": protocol, **({"name": called} if called else {})}
                        for called, number, protocol in ports
                    ],
                }
            ],
            **spec,
        },
        "status": {
            "phase": phase,
            "podIP": ips[0] if ips else "",
            "podIPs": [{"ip": ip} for ip in ips],
            "conditions": [
                {"type": "Ready", "status": "True" if ready else "False", **({} if ready else {"reason": "NotReady"})}
            ],
            "containerStatuses": [{"name": "main", "ready": ready, "restartCount": 0, "state": state}],
        },
    }


def node(name: str, ready: str = "True", **extra: Any) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "reason": "KubeletReady" if ready == "True" else "Gone"}],
            "addresses": [{"type": "InternalIP", "address": ip} for ip in NODES.get(name, ())],
        },
        **extra,
    }


def endpoint_slice(name: str, owner: str, endpoints: list[Obj], ports: list[Obj] | None, **meta: Any) -> Obj:
    family = "IPv6" if any(":" in ip for one in endpoints for ip in one["addresses"]) else "IPv4"
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {
                "kubernetes.io/service-name": owner,
                "endpointslice.kubernetes.io/managed-by": meta.pop("managed_by", CONTROLLER),
            },
            **meta,
        },
        "addressType": family,
        "endpoints": endpoints,
        "ports": ports,
    }


def endpoint(address: str, name: str = "", *, ready: bool = True, node: str = "w1", **conditions: bool) -> Obj:
    found: Obj = {
        "addresses": [address],
        "conditions": {"ready": ready, "serving": ready, "terminating": False, **conditions},
        "nodeName": node,
    }
    if name:
        found["targetRef"] = {"kind": "Pod", "name": name, "namespace": NAMESPACE}
    return found


def workload(kind: str = "Deployment", name: str = "web", replicas: int = 2, **status: Any) -> Obj:
    filled = {
        "observedGeneration": 1,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        **status,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "generation": 1},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}]}},
        },
        "status": filled,
    }


def cluster(count: int = 2, *, dual: bool = False, sockets: bool = True, **spec: Any) -> Cluster:
    """A healthy Service ``web`` with ``count`` Pods over two nodes, not yet settled."""
    made = Cluster()
    if dual:
        spec.setdefault("clusterIP", "10.96.10.1")
        spec.setdefault("clusterIPs", ["10.96.10.1", "fd00:96::10"])
    for name in NODES:
        made.add(node(name))
    made.add(service(**spec))
    for number in range(1, count + 1):
        where = "w1" if number % 2 else "w2"
        ips = (f"10.244.{1 if number % 2 else 2}.{10 + number}",)
        if dual:
            ips += (f"fd00:244:{1 if number % 2 else 2}::{10 + number:x}",)
        made.add(pod(f"web-{number}", ips, node=where))
        made.sockets[f"web-{number}"] = [("tcp", "::" if dual else "0.0.0.0", 8080)] if sockets else None
    return made


# --- the controllers ----------------------------------------------------------------------------------------------


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


def usable(of: Obj, family: int, cluster_: Cluster, service_port: Obj) -> list[tuple[str, int]]:
    """What kube-proxy has for one Service port: ready endpoints, else serving and terminating ones."""
    found: dict[tuple[str, int], str] = {}
    for one in cluster_.of("EndpointSlice"):
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


def iptables(of: Cluster, family: int) -> str:
    """iptables-save (or ip6tables-save) as kube-proxy writes it for the cluster IPs of every Service."""
    nat: list[str] = []
    chains: list[str] = []
    rejects: list[str] = []
    pods = "10.244.0.0/16" if family == 4 else "fd00:244::/32"
    bits = 32 if family == 4 else 128
    for one in of.of("Service"):
        for ip in one["spec"].get("clusterIPs", ()):
            if ip == "None" or (":" in ip) != (family == 6):
                continue
            for each in one["spec"]["ports"]:
                proto = each.get("protocol", "TCP").lower()
                called = f"{NAMESPACE}/{one['metadata']['name']}" + (f":{each['name']}" if each.get("name") else "")
                match = f"-d {ip}/{bits} -p {proto} -m comment --comment"
                backends = usable(one, family, of, each)
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


# --- /proc/net ----------------------------------------------------------------------------------------------------

_NARROW = "sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
_WIDE = (
    "sl  local_address                         remote_address                        "
    "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
)
#: The kernel's own header lines: an empty table is told by nothing else.
HEADERS = {
    "tcp": f"  {_NARROW}",
    "tcp6": f"  {_WIDE}",
    "udp": f"   {_NARROW} ref pointer drops",
    "udp6": f"  {_WIDE} ref pointer drops",
}


def proc_net(table: str, sockets: list[tuple[str, str, int]]) -> str:
    """/proc/net/TABLE with those of ``sockets`` (protocol, address, port) that it would hold."""
    lines = [HEADERS[table]]
    for protocol, address, number in sockets:
        wide = ":" in address
        if table != protocol + ("6" if wide else ""):
            continue
        packed = ipaddress.ip_address(address).packed
        local = "".join(packed[i : i + 4][::-1].hex().upper() for i in range(0, len(packed), 4))
        state = "0A" if protocol == "tcp" else "07"
        lines.append(
            f"{len(lines) - 1:4}: {local}:{number:04X} {'0' * len(local)}:0000 {state} 00000000:00000000 00:00000000 "
            f"00000000     0        0 {40000 + number} 1 0000000000000000 100 0 0 10 0"
        )
    return "\n".join(lines) + "\n"
