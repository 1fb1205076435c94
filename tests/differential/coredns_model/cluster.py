"""A random cluster, and random names and types to ask its DNS for; all from one seed."""

from __future__ import annotations

import ipaddress
import random
from typing import Any

import msgspec

from svcpath.evidence.facts.kubernetes import EndpointSlice, Namespace, Pod, Service
from svcpath.models.resolvers.servers.coredns_cluster import WatchedObjects

NAMESPACES = ("ops", "shop", "default", "kube-system", "svc", "empty")
NAMES = ("echo", "web", "db", "cache", "Api", "pod", "svc", "x-1")
TYPES = ("A", "A", "A", "AAAA", "AAAA", "SRV", "PTR", "TXT", "CNAME", "SOA", "MX", "HTTPS", "NS")
PORTS: tuple[list[dict[str, Any]], ...] = (
    [{"name": "http", "port": 80, "protocol": "TCP"}],
    [{"port": 8080, "protocol": "TCP"}],
    [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}],
    [],
)
EXTERNAL = (
    "www.example.org",
    "echo.ops.svc.cluster.local",
    "nope.example.org",
    "10.1.2.3",
    "gone.shop.svc.cluster.local",
    "nodata.example.org.",
)


def objects(source: random.Random) -> dict[str, list[dict[str, Any]]]:
    made: dict[str, list[dict[str, Any]]] = {
        "/api/v1/services": [],
        "/api/v1/namespaces": [
            _object("v1", "Namespace", name, "", {"env": source.choice(["prod", "test"])}) for name in NAMESPACES
        ],
        "/api/v1/pods": [],
        "/apis/discovery.k8s.io/v1/endpointslices": [],
    }
    number = 10
    for namespace in NAMESPACES[:-1]:
        for name in source.sample(NAMES, source.randint(3, len(NAMES))):
            number += 1
            service = _service(source, namespace, name.lower(), number)
            made["/api/v1/services"].append(service)
            if service["spec"]["type"] != "ExternalName":
                for index in range(source.randint(0, 2)):
                    made["/apis/discovery.k8s.io/v1/endpointslices"].append(_slice(source, service, index))
    for index in range(12):
        pod = _object("v1", "Pod", f"pod-{index}", source.choice(NAMESPACES[:3]), {})
        pod["spec"] = {"containers": []}
        pod["status"] = {"podIP": f"10.244.1.{index + 1}" if index else "127.0.0.1", "phase": "Running"}
        if index == 11:
            pod["metadata"]["deletionTimestamp"] = "2024-05-01T10:00:00Z"
        made["/api/v1/pods"].append(pod)
    made["/api/v1/pods"][0]["metadata"]["namespace"] = "ops"
    return made


def _object(version: str, kind: str, name: str, namespace: str, labels: dict[str, str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": name,
        "uid": f"{kind}-{namespace}-{name}",
        "resourceVersion": "5",
        "labels": labels,
    }
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _service(source: random.Random, namespace: str, name: str, number: int) -> dict[str, Any]:
    service = _object("v1", "Service", name, namespace, {"app": source.choice(["web", "db"])})
    kind = source.choice(["v4", "v4", "v6", "dual", "headless", "headless", "headless", "external"])
    spec: dict[str, Any] = {"type": "ClusterIP", "ports": source.choice(PORTS)}
    if kind == "external":
        spec = {"type": "ExternalName", "externalName": source.choice(EXTERNAL)}
    elif kind == "headless":
        spec |= {"clusterIP": "None", "clusterIPs": ["None"]}
    else:
        addresses = {"v4": [f"10.96.0.{number}"], "v6": [f"fd00:96::{number:x}"]}
        chosen = addresses.get(kind) or addresses["v4"] + addresses["v6"]
        spec |= {"clusterIP": chosen[0], "clusterIPs": chosen}
    service["spec"] = spec
    return service


def _slice(source: random.Random, service: dict[str, Any], index: int) -> dict[str, Any]:
    metadata = service["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    v6 = source.random() < 0.2
    made = _object(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        f"{name}-{index}",
        namespace,
        {**metadata["labels"], "kubernetes.io/service-name": name},
    )
    made["addressType"] = "IPv6" if v6 else "IPv4"
    made["ports"] = [dict(port) for port in service["spec"].get("ports", [])]
    endpoints = []
    for place in range(source.randint(0, 3)):
        host = source.randint(1, 250)
        endpoint: dict[str, Any] = {
            "addresses": [f"fd00:244::{host:x}" if v6 else f"10.244.{index + 2}.{host}"],
            "conditions": source.choice([{"ready": True}, {"ready": True}, {"ready": False}, {}]),
        }
        if source.random() < 0.4:
            endpoint["hostname"] = f"{name}-{place}"
        if source.random() < 0.6:
            endpoint["targetRef"] = {"kind": "Pod", "name": f"{name}-pod-{place}", "namespace": namespace}
        endpoints.append(endpoint)
    made["endpoints"] = endpoints
    return made


def as_facts(made: dict[str, list[dict[str, Any]]]) -> WatchedObjects:
    return WatchedObjects(
        services=tuple(msgspec.convert(made["/api/v1/services"], list[Service])),
        slices=tuple(msgspec.convert(made["/apis/discovery.k8s.io/v1/endpointslices"], list[EndpointSlice])),
        pods=tuple(msgspec.convert(made["/api/v1/pods"], list[Pod])),
        namespaces=tuple(msgspec.convert(made["/api/v1/namespaces"], list[Namespace])),
    )


def question(source: random.Random, made: dict[str, list[dict[str, Any]]]) -> tuple[str, str]:
    """A name (without final dot) and a type; most names are near something that exists."""
    return _name(source, made), source.choice(TYPES)


def _name(source: random.Random, made: dict[str, list[dict[str, Any]]]) -> str:
    zone = "cluster.local"
    kind = source.random()
    if kind < 0.1:
        return source.choice(
            [
                "www.example.org",
                "nodata.example.org",
                "nope.example.org",
                "echo",
                "default",
                "static.example.net",
                "old.example.net",
            ]
        )
    if kind < 0.16:
        return source.choice(
            [zone, f"svc.{zone}", f"pod.{zone}", f"foo.{zone}", f"dns-version.{zone}", f"a.svc.{zone}.{zone}"]
        )
    if kind < 0.24:
        return _reverse(source, made)
    if kind < 0.32:
        pod = source.choice(["10-244-1-3", "10-244-1-12", "1-2-3-4", "fd00--5", "x", "1-2-3", "10-244-1-999"])
        return f"{pod}.{source.choice([*NAMESPACES, 'nons'])}.pod.{zone}"
    service = source.choice(made["/api/v1/services"])["metadata"]
    name, namespace = service["name"], service["namespace"]
    if source.random() < 0.1:
        name = source.choice(NAMES)
    if source.random() < 0.08:
        namespace = source.choice([*NAMESPACES, "nons"])
    base = f"{name}.{namespace}.svc.{zone}"
    prefix = source.choices(
        [
            "",
            _endpoint(source, made, service),
            source.choice(["_http._tcp", "_dns._udp", "_dns._tcp", "http.tcp", "_x._tcp"]),
            "a.b.c",
        ],
        [50, 25, 20, 5],
    )[0]
    full = f"{prefix}.{base}" if prefix else base
    roll = source.random()
    if roll < 0.08:
        return f"{full}.{source.choice([f'ops.svc.{zone}', f'svc.{zone}', zone])}"
    return full.upper() if roll < 0.1 else full


def _endpoint(source: random.Random, made: dict[str, list[dict[str, Any]]], service: dict[str, Any]) -> str:
    for slice_ in made["/apis/discovery.k8s.io/v1/endpointslices"]:
        if slice_["metadata"]["labels"]["kubernetes.io/service-name"] == service["name"] and slice_["endpoints"]:
            endpoint = source.choice(slice_["endpoints"])
            address: str = endpoint["addresses"][0]
            names: list[str] = [
                address.replace(".", "-").replace(":", "-"),
                endpoint.get("hostname", "x"),
                f"{service['name']}-pod-0",
            ]
            return source.choice(names)
    return source.choice(["echo-0", "x"])


def _reverse(source: random.Random, made: dict[str, list[dict[str, Any]]]) -> str:
    known = [ip for service in made["/api/v1/services"] for ip in service["spec"].get("clusterIPs", []) if ip != "None"]
    known += [
        address
        for slice_ in made["/apis/discovery.k8s.io/v1/endpointslices"]
        for endpoint in slice_["endpoints"]
        for address in endpoint["addresses"]
    ]
    name = ipaddress.ip_address(source.choice([*known, "10.0.0.1", "fd00::1"])).reverse_pointer
    return name if source.random() < 0.8 else name.partition(".")[2]
