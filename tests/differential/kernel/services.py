"""Random Services and their endpoints, made without any of the code under test.

Which endpoints count is worked out here again, in the few lines it takes (pkg/proxy/topology.go, v1.35).
"""

from __future__ import annotations

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
        addresses = [(self.plan.external_ip(self.number), "external")] if self.external_ip else []
        if self.kind == "LoadBalancer":
            addresses.append((self.plan.load_balancer_ip(self.number), "load-balancer"))
        return addresses

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
