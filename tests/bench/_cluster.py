"""Evidence of a large cluster, made in memory: the same seed gives the same bytes.

Services over 50 namespaces, each with its slice and the Pods behind it, the nodes, the cluster DNS and the API server's
Service; of the client its resolver file, of the asked Service's Pods their sockets, and the iptables table of the client's
node, cut to what the client's packets meet (the asked Service and the cluster's own): a whole table's reading is what
`dataplanes` measures.
"""

from __future__ import annotations

import ipaddress
import random
import uuid
from typing import Any

import msgspec

from svcpath.models.dataplanes.names import iptables_endpoint_hash, iptables_service_hash

Obj = dict[str, Any]
Files = dict[str, bytes]
#: Of one port: its name, the Service's number, the Pods' number, the protocol.
Port = tuple[str, int, int, str]

NAMESPACES = 50
PODS_A_NODE = 100
DNS, API_SERVER = "10.96.0.10", "10.96.0.1"
COREFILE = """.:53 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
    }
    forward . /etc/resolv.conf
    cache 30
}
"""
#: /proc/net/tcp: its header, and the line of a server that listens on 8080 of every address.
SOCKETS = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
LISTENING = (
    "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 113124 1 "
    "000000000625b4a3 100 0 0 10 0\n"
)
_HTTP: tuple[Port, ...] = (("http", 80, 8080, "TCP"),)
_DNS: tuple[Port, ...] = (("dns", 53, 53, "UDP"), ("dns-tcp", 53, 53, "TCP"))
_HTTPS: tuple[Port, ...] = (("https", 443, 6443, "TCP"),)


class LargeCluster:
    """``files`` are what was recorded (path -> bytes); the Service to diagnose is ``name`` of ``namespace``, and ``client``
    the name of a Pod beside it."""

    def __init__(self, services: int, endpoints: int = 10, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._nodes = [f"node-{number}" for number in range(-(-services * endpoints // PODS_A_NODE))]
        self._pods = 0
        self._objects: dict[str, list[Obj]] = {}
        self._rules: list[str] = []
        self._chains: list[str] = []
        names = [(f"team-{number % NAMESPACES:02}", f"svc-{number:05}") for number in range(services)]
        self.namespace, self.name = self._random.choice(names)
        self._serve("default", "kubernetes", API_SERVER, _HTTPS, ["172.30.0.1"])
        self._serve(
            "kube-system", "kube-dns", DNS, _DNS, self._run("kube-system", "coredns", {"k8s-app": "kube-dns"}, 2)
        )
        for number, (namespace, name) in enumerate(names):
            pods = self._run(namespace, name, {"app": name}, endpoints)
            self._serve(namespace, name, _address("10.97.0.0", number), _HTTP, pods)
        (client,) = self._run(self.namespace, "client", {"app": "client"}, 1)
        self.client: str = client["metadata"]["name"]
        self._add("ConfigMap", "kube-system", "coredns", data={"Corefile": COREFILE})
        self._add_nodes()
        self.files = self._recorded(client["spec"]["nodeName"])

    def _uid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128)))

    def _add(
        self, kind: str, namespace: str, name: str, version: str = "v1", meta: Obj | None = None, **fields: Any
    ) -> Obj:
        made = {
            "apiVersion": version,
            "kind": kind,
            "metadata": {
                "name": name,
                **({"namespace": namespace} if namespace else {}),
                "uid": self._uid(),
                "resourceVersion": str(self._random.randrange(10**6, 10**7)),
                "creationTimestamp": "2026-11-30T02:06:13Z",
                **(meta or {}),
            },
            **fields,
        }
        self._objects.setdefault(namespace, []).append(made)
        return made

    def _run(self, namespace: str, name: str, labels: dict[str, str], count: int) -> list[Obj]:
        """The Pods of one ReplicaSet."""
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": f"{name}-5698c6f946",
            "uid": self._uid(),
            "controller": True,
        }
        return [self._pod(namespace, name, labels, owner) for _ in range(count)]

    def _pod(self, namespace: str, name: str, labels: dict[str, str], owner: Obj) -> Obj:
        address = _address("10.128.0.0", self._pods)
        self._pods += 1
        port = {"name": "http", "containerPort": 8080, "protocol": "TCP"}
        probe = {"httpGet": {"path": "/", "port": "http", "scheme": "HTTP"}, "periodSeconds": 1, "timeoutSeconds": 1}
        started = {"startedAt": "2026-11-30T02:06:44Z"}
        conditions = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        return self._add(
            "Pod",
            namespace,
            f"{name}-5698c6f946-{self._pods:06x}",
            meta={"labels": {**labels, "pod-template-hash": "5698c6f946"}, "ownerReferences": [owner]},
            spec={
                "nodeName": self._random.choice(self._nodes),
                "dnsPolicy": "ClusterFirst",
                "terminationGracePeriodSeconds": 30,
                "containers": [{"name": "app", "image": "example/app:1", "ports": [port], "readinessProbe": probe}],
            },
            status={
                "phase": "Running",
                "podIP": address,
                "podIPs": [{"ip": address}],
                "conditions": [{"type": type_, "status": "True"} for type_ in conditions],
                "containerStatuses": [
                    {"name": "app", "ready": True, "started": True, "restartCount": 0, "state": {"running": started}}
                ],
            },
        )

    def _serve(
        self, namespace: str, name: str, address: str, ports: tuple[Port, ...], behind: list[Obj] | list[str]
    ) -> None:
        """A Service with its slice; ``behind`` are the Pods that it selects, or addresses without a Pod and a selector."""
        selector = {
            key: value
            for pod in behind[:1]
            if isinstance(pod, dict)
            for key, value in pod["metadata"]["labels"].items()
            if key != "pod-template-hash"
        }
        self._add(
            "Service",
            namespace,
            name,
            spec={
                "type": "ClusterIP",
                "clusterIP": address,
                "clusterIPs": [address],
                "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack",
                "internalTrafficPolicy": "Cluster",
                "sessionAffinity": "None",
                "ports": [
                    {"name": label, "port": number, "targetPort": target, "protocol": protocol}
                    for label, number, target, protocol in ports
                ],
                **({"selector": selector} if selector else {}),
            },
            status={"loadBalancer": {}},
        )
        labels = {"kubernetes.io/service-name": name}
        if selector:
            labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io"
        self._add(
            "EndpointSlice",
            namespace,
            f"{name}-rb6g9",
            "discovery.k8s.io/v1",
            {"labels": labels},
            addressType="IPv4",
            ports=[{"name": label, "port": target, "protocol": protocol} for label, _, target, protocol in ports],
            endpoints=[_endpoint(pod) for pod in behind],
        )
        if namespace in ("default", "kube-system") or (namespace, name) == (self.namespace, self.name):
            addresses = [pod if isinstance(pod, str) else pod["status"]["podIP"] for pod in behind]
            for port in ports:
                self._write_rules(f"{namespace}/{name}", address, port, addresses)

    def _write_rules(self, service: str, address: str, port: Port, addresses: list[str]) -> None:
        """What kube-proxy writes for one port (pkg/proxy/iptables/proxier.go, v1.35)."""
        label, number, target, upper = port
        name, protocol = f"{service}:{label}", upper.lower()
        chain = f"KUBE-SVC-{iptables_service_hash(name, protocol)}"
        to = f'-d {address}/32 -p {protocol} -m comment --comment "{name} cluster IP" -m {protocol} --dport {number}'
        self._chains.append(chain)
        self._rules += [f"-A KUBE-SERVICES {to} -j {chain}", f"-A {chain} ! -s 10.128.0.0/9 {to} -j KUBE-MARK-MASQ"]
        for left, backend in zip(range(len(addresses), 0, -1), addresses, strict=True):
            place = f"{backend}:{target}"
            end = f"KUBE-SEP-{iptables_endpoint_hash(name, protocol, place)}"
            chance = f"-m statistic --mode random --probability {1 / left:.11f} " if left > 1 else ""
            self._chains.append(end)
            self._rules += [
                f'-A {chain} -m comment --comment "{name} -> {place}" {chance}-j {end}',
                f'-A {end} -s {backend}/32 -m comment --comment "{name}" -j KUBE-MARK-MASQ',
                f'-A {end} -p {protocol} -m comment --comment "{name}" -m {protocol} -j DNAT --to-destination {place}',
            ]

    def _add_nodes(self) -> None:
        for number, node in enumerate(self._nodes):
            address = _address("172.30.0.0", number + 10)
            self._add(
                "Node",
                "",
                node,
                meta={"labels": {"kubernetes.io/hostname": node, "kubernetes.io/os": "linux"}},
                spec={},
                status={
                    "addresses": [{"address": address, "type": "InternalIP"}, {"address": node, "type": "Hostname"}],
                    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                },
            )

    def _recorded(self, client_node: str) -> Files:
        """A List of the objects of each namespace, as kubectl writes it, and the state of client, Pods and node."""
        files: Files = {}
        for namespace, objects in self._objects.items():
            listing = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": objects}
            files[f"{namespace or 'nodes'}.json"] = msgspec.json.encode(listing)
        search = f"{self.namespace}.svc.cluster.local svc.cluster.local cluster.local"
        files[f"{self.client}.resolv.conf"] = f"search {search}\nnameserver {DNS}\noptions ndots:5\n".encode()
        files[f"{client_node}.iptables-save.txt"] = _iptables(self._chains, self._rules).encode()
        for pod in self._objects[self.namespace]:
            if pod["kind"] == "Pod" and pod["metadata"]["labels"]["app"] == self.name:
                files[f"{pod['metadata']['name']}.proc-net-tcp.txt"] = (SOCKETS + LISTENING).encode()
                files[f"{pod['metadata']['name']}.proc-net-tcp6.txt"] = SOCKETS.encode()
        return files


def _address(first: str, number: int) -> str:
    return str(ipaddress.IPv4Address(first) + number)


def _endpoint(pod: Obj | str) -> Obj:
    conditions = {"ready": True, "serving": True, "terminating": False}
    if isinstance(pod, str):
        return {"addresses": [pod], "conditions": conditions}
    meta = pod["metadata"]
    return {
        "addresses": [pod["status"]["podIP"]],
        "conditions": conditions,
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": {"kind": "Pod", "name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]},
    }


def _iptables(chains: list[str], rules: list[str]) -> str:
    own = ("KUBE-MARK-MASQ", "KUBE-NODEPORTS", "KUBE-POSTROUTING", "KUBE-SERVICES")
    lines = [
        "# Generated by iptables-save v1.8.9 (nf_tables) on Mon Nov 30 02:06:30 2026",
        "*filter",
        *(f":{name} ACCEPT [0:0]" for name in ("INPUT", "FORWARD", "OUTPUT")),
        *(f":{name} - [0:0]" for name in ("KUBE-FORWARD", "KUBE-SERVICES")),
        '-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
        '-A FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT',
        "COMMIT",
        "*nat",
        *(f":{name} ACCEPT [0:0]" for name in ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING")),
        *(f":{name} - [0:0]" for name in (*own, *chains)),
        '-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
        "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000",
        "-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN",
        "-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0",
        '-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
        *rules,
        "-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS",
        "COMMIT",
        "",
    ]
    return "\n".join(lines)
