"""What the tests of data planes work on: recordings, oracle dumps, cases, and Services to go with them."""

from __future__ import annotations

import functools
import gzip
import json
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import yaml

from svcpath.evidence.facts.conntrack import Flow, FlowTable
from svcpath.evidence.facts.kubernetes import EndpointSlice, Node, Service
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats.conntrack import read_flows
from svcpath.evidence.formats.text import Text
from svcpath.models.dataplanes import (
    Dialect,
    NodeView,
    PacketOutcome,
    PacketVerdict,
    ServiceTable,
    TrafficOrigin,
    node_view,
    parse,
)

DATA = Path(__file__).parent.parent.parent / "data" / "dataplanes"
ORACLE = DATA / "kube-proxy-oracle"
CASES = DATA / "cases"

#: Every dump of a healthy recording that shows a node's whole table: mode, node, file, kind.
RECORDED = (
    ("iptables", "w1", "iptables-save.txt", Kind.IPTABLES_SAVE),
    ("iptables", "w2", "iptables-save.txt", Kind.IPTABLES_SAVE),
    ("nftables", "w1", "nft-ruleset.txt", Kind.NFT_LIST),
    ("nftables", "w2", "nft-ruleset.txt", Kind.NFT_LIST),
    ("nftables", "w1", "nft.json", Kind.NFT_JSON),
    ("nftables", "w2", "nft.json", Kind.NFT_JSON),
)

#: The oracle's dumps: file, kind, mode of kube-proxy.
ORACLE_DUMPS = (
    ("iptables-save.nf_tables.txt", Kind.IPTABLES_SAVE, "iptables"),
    ("iptables-legacy-save-c.txt", Kind.IPTABLES_SAVE, "iptables"),
    ("iptables-restore-input.rules", Kind.IPTABLES_SAVE, "iptables"),
    ("nft-list-ruleset.iptables-nft.txt", Kind.NFT_LIST, "iptables"),
    ("nft-list-table.txt", Kind.NFT_LIST, "nftables"),
    ("nft-list-ruleset.txt", Kind.NFT_LIST, "nftables"),
    ("nft-a-list-table.txt", Kind.NFT_LIST, "nftables"),
    ("nft-list-table.json", Kind.NFT_JSON, "nftables"),
    ("nft-input.nft", Kind.NFT_LIST, "nftables"),
)


@functools.cache
def recorded(mode: str, name: str) -> str:
    path = resources.files("svcpath.recordings") / mode / f"{name}.gz"
    return gzip.decompress(path.read_bytes()).decode()


@functools.cache
def recorded_objects(mode: str) -> tuple[tuple[Service, ...], tuple[EndpointSlice, ...]]:
    items = json.loads(recorded(mode, "objects.json"))["items"]
    return services_of(items), slices_of(items)


@functools.cache
def recorded_nodes(mode: str) -> dict[str, NodeView]:
    items = json.loads(recorded(mode, "nodes.json"))["items"]
    return {item["metadata"]["name"]: node_view(msgspec.convert(item, Node)) for item in items}


def services_of(items: list[dict[str, Any]]) -> tuple[Service, ...]:
    return tuple(msgspec.convert(item, Service) for item in items if item["kind"] == "Service")


def slices_of(items: list[dict[str, Any]]) -> tuple[EndpointSlice, ...]:
    return tuple(msgspec.convert(item, EndpointSlice) for item in items if item["kind"] == "EndpointSlice")


def fullest(kind: Kind, text: str, node: str = "", addresses: frozenset[str] = frozenset()) -> ServiceTable:
    return max(parse(kind, text, node=node, node_addresses=addresses), key=lambda table: len(table.frontends))


def case_text(number: str, name: str) -> str:
    (folder,) = CASES.glob(f"{number}-*")
    return (folder / name).read_text()


def case_objects(number: str) -> tuple[tuple[Service, ...], tuple[EndpointSlice, ...]]:
    (folder,) = CASES.glob(f"{number}-*")
    items = [yaml.safe_load(path.read_text()) for path in sorted(folder.glob("s*.yaml"))]
    return services_of(items), slices_of(items)


def case_flows(number: str) -> tuple[Flow, ...]:
    value = read_flows(Text(case_text(number, "conntrack-L.txt")))[0].value
    assert isinstance(value, FlowTable)
    return value.flows


def without_endpoint(slices: tuple[EndpointSlice, ...], name: str, address: str) -> tuple[EndpointSlice, ...]:
    """The slices with one address taken out of those whose name begins so."""
    return tuple(
        msgspec.structs.replace(
            item, endpoints=tuple(endpoint for endpoint in item.endpoints or () if address not in endpoint.addresses)
        )
        if item.metadata.name.startswith(name)
        else item
        for item in slices
    )


def said(outcome: PacketOutcome) -> str:
    """An outcome in the words of the oracle's flows."""
    if outcome.backends:
        return ", ".join(str(backend) for backend in outcome.addresses)
    return "" if outcome.verdict is PacketVerdict.NONE else outcome.verdict.value.upper()


def origin_of(address: str, node_addresses: frozenset[str], pods: str = "10.") -> TrafficOrigin:
    if address in node_addresses:
        return TrafficOrigin.NODE
    return TrafficOrigin.POD if address.startswith(pods) else TrafficOrigin.EXTERNAL


def service(
    name: str,
    cluster_ip: str,
    ports: list[dict[str, Any]] | None = None,
    *,
    namespace: str = "ns",
    ingress: list[dict[str, Any]] | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> Service:
    """A Service; ``spec`` in the API's camelCase."""
    item = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}, "annotations": annotations or {}},
        "spec": {
            "clusterIP": cluster_ip,
            "clusterIPs": [cluster_ip],
            "ports": ports or [{"name": "p80", "port": 80, "protocol": "TCP", "targetPort": 80}],
            **spec,
        },
        "status": {"loadBalancer": {"ingress": ingress or []}},
    }
    return msgspec.convert(item, Service)


def slice_of(
    owner: str,
    endpoints: list[dict[str, Any]],
    ports: list[dict[str, Any]] | None = None,
    *,
    namespace: str = "ns",
    name: str = "",
    address_type: str = "IPv4",
    labels: dict[str, str] | None = None,
    changed: str = "",
) -> EndpointSlice:
    metadata: dict[str, Any] = {
        "name": name or f"{owner}-a",
        "namespace": namespace,
        "labels": {"kubernetes.io/service-name": owner, **(labels or {})},
    }
    if changed:
        metadata["managedFields"] = [{"manager": "kube-controller-manager", "operation": "Update", "time": changed}]
    item = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": metadata,
        "addressType": address_type,
        "endpoints": endpoints,
        "ports": ports if ports is not None else [{"name": "p80", "port": 80, "protocol": "TCP"}],
    }
    return msgspec.convert(item, EndpointSlice)


def endpoint(
    address: str, node: str = "w1", ready: bool = True, serving: bool = True, terminating: bool = False, **more: Any
) -> dict[str, Any]:
    return {
        "addresses": [address],
        "nodeName": node,
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        **more,
    }


def oracle_objects() -> tuple[tuple[Service, ...], tuple[EndpointSlice, ...]]:
    """The six Services that the oracle's dumps were made from; the node is not the one of any endpoint."""
    node_port = {"name": "p80", "port": 80, "protocol": "TCP", "targetPort": 80}
    services = (
        service("svc1", "172.30.0.41", namespace="ns1"),
        service(
            "svc2",
            "172.30.0.42",
            [{**node_port, "nodePort": 3001}],
            namespace="ns2",
            type="LoadBalancer",
            externalIPs=["192.168.99.22"],
            externalTrafficPolicy="Local",
            healthCheckNodePort=30000,
            ingress=[{"ip": "1.2.3.4"}],
        ),
        service("svc3", "172.30.0.43", [{**node_port, "nodePort": 3003}], namespace="ns3", type="NodePort"),
        service("svc4", "172.30.0.44", namespace="ns4", externalIPs=["192.168.99.33"]),
        service(
            "svc5",
            "172.30.0.45",
            [{**node_port, "nodePort": 3002}],
            namespace="ns5",
            type="LoadBalancer",
            ingress=[{"ip": "5.6.7.8"}],
            loadBalancerSourceRanges=["203.0.113.0/25"],
            sessionAffinity="ClientIP",
            sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10800}},
        ),
        service("svc6", "172.30.0.46", namespace="ns6"),
    )
    slices = (
        slice_of("svc1", [endpoint("10.180.0.1")], namespace="ns1"),
        slice_of("svc2", [endpoint("10.180.0.2", "elsewhere")], namespace="ns2"),
        slice_of("svc3", [endpoint("10.180.0.3")], namespace="ns3"),
        slice_of("svc4", [endpoint("10.180.0.4"), endpoint("10.180.0.5")], namespace="ns4"),
        slice_of("svc5", [endpoint("10.180.0.3")], namespace="ns5"),
        slice_of("svc6", [], namespace="ns6"),
    )
    return services, slices


ORACLE_NODE = NodeView(
    name="test-node", addresses=frozenset({"192.168.0.2", "192.168.1.2", "192.168.99.11", "2001:db8::1"})
)

__all__ = ["Dialect"]
