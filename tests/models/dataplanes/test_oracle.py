"""kube-proxy's own expectations hold in every form in which its rules can be written down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import NodeView, Packet, TrafficOrigin, drift, expected, parse, trace
from tests.models.dataplanes.material import (
    ORACLE,
    ORACLE_DUMPS,
    ORACLE_NODE,
    endpoint,
    fullest,
    oracle_objects,
    origin_of,
    said,
    service,
    slice_of,
)

FLOWS = json.loads((ORACLE / "flows.json").read_text())
NODE_ADDRESSES = frozenset(FLOWS["topology"]["localNodeIPs"])
TRUTH = json.loads((ORACLE / "truth-table-endpoints.json").read_text())


def _flows(mode: str) -> list[dict[str, Any]]:
    flows = [flow for flow in FLOWS["dump_flows"] if mode == "iptables" or not flow.get("iptables_only")]
    flows += FLOWS["derived_flows_same_dump"]
    return flows + [{**flow, "output": flow[mode]} for flow in FLOWS["mode_differences"]]


@pytest.mark.parametrize(("name", "kind", "mode"), ORACLE_DUMPS, ids=[dump[0] for dump in ORACLE_DUMPS])
def test_every_flow_comes_out_as_kube_proxy_says(name: str, kind: Kind, mode: str) -> None:
    (table,) = parse(kind, (ORACLE / name).read_text(), node_addresses=NODE_ADDRESSES)
    assert not table.not_understood
    assert not table.damaged
    for flow in _flows(mode):
        origin = origin_of(flow["src"], NODE_ADDRESSES)
        packet = Packet(flow["src"], origin, flow["proto"], flow["dst"], flow["dport"], arriving=True)
        outcome = trace(table, packet)
        assert said(outcome) == flow["output"], flow["name"]
        assert outcome.masquerade == flow.get("masq", outcome.masquerade), flow["name"]


@pytest.mark.parametrize(("name", "kind", "mode"), ORACLE_DUMPS, ids=[dump[0] for dump in ORACLE_DUMPS])
def test_every_dump_agrees_with_the_services_it_was_made_from(name: str, kind: Kind, mode: str) -> None:
    services, slices = oracle_objects()
    table = fullest(kind, (ORACLE / name).read_text(), addresses=ORACLE_NODE.addresses)
    report = drift(table, services, slices, ORACLE_NODE)
    assert report.clean, report.rows or report.undecided


def test_the_older_nftables_layout_filters_a_nodes_packet_before_it_translates_it() -> None:
    table = fullest(Kind.NFT_LIST, (ORACLE / "nft-list-table.txt").read_text(), addresses=NODE_ADDRESSES)
    packet = Packet("192.168.0.2", TrafficOrigin.NODE, "TCP", "192.168.99.22", 80)
    assert said(trace(table, packet)) == "DROP"
    assert said(trace(table, packet._replace(arriving=True))) == "10.180.0.2:80"


@pytest.mark.parametrize("row", TRUTH["cases"], ids=[row["name"] for row in TRUTH["cases"]])
def test_the_truth_table_of_endpoints(row: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"type": "LoadBalancer", "ingress": [{"ip": TRUTH["service"]["lbIP"]}]}
    if "iTP" in row:
        fields["internalTrafficPolicy"] = row["iTP"]
    if "eTP" in row:
        fields["externalTrafficPolicy"] = row["eTP"]
    asked = service("svc", TRUTH["service"]["clusterIP"], **fields)
    endpoints = [
        endpoint(address, node, bool(ready), bool(serving), bool(terminating))
        for address, node, ready, serving, terminating in row["endpoints"]
    ]
    slices = [slice_of("svc", endpoints)] if endpoints else []
    by_kind = {item.kind: item for item in expected(asked, slices, NodeView(name=TRUTH["node"]))}

    def answer(kind: str, origin: TrafficOrigin, source: str) -> str:
        want = by_kind[kind].for_packet(origin, source)
        return ", ".join(map(str, want.backends)) or want.verdict.value.upper()

    assert answer("cluster-ip", TrafficOrigin.POD, "10.0.0.2") == row["pod_to_clusterip"]
    if "external_to_lb" in row:
        assert answer("load-balancer", TrafficOrigin.EXTERNAL, "203.0.113.2") == row["external_to_lb"]
