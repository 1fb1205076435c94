"""Drift of rules for the outside: source ranges, external IPs, and what releases up to 1.21 wrote."""

from __future__ import annotations

import pytest

from svcpath.evidence.facts.need import Kind
from svcpath.models.dataplanes import (
    DifferenceKind,
    NodeView,
    drift,
)
from tests.models.dataplanes.material import (
    fullest,
    service,
    slice_of,
)

RANGES = service(
    "web",
    "10.96.40.80",
    [{"name": "p80", "port": 80, "protocol": "TCP", "targetPort": 8080}],
    namespace="shop",
    type="LoadBalancer",
    ingress=[{"ip": "192.0.2.50"}],
    loadBalancerSourceRanges=["203.0.113.0/24", "198.18.0.0/16"],
)
RANGES_SLICE = slice_of(
    "web",
    [{"addresses": ["10.244.1.80"], "nodeName": "w1", "conditions": {"ready": True}}],
    [{"name": "p80", "port": 8080, "protocol": "TCP"}],
    namespace="shop",
)
IPTABLES_RANGES = """*filter
:FORWARD ACCEPT [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
:KUBE-SERVICES - [0:0]
-A FORWARD -m conntrack --ctstate NEW -j KUBE-PROXY-FIREWALL
-A FORWARD -m conntrack --ctstate NEW -j KUBE-SERVICES
-A KUBE-PROXY-FIREWALL -d 192.0.2.50/32 -p tcp -m tcp --dport 80 -j DROP
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-EXT-X - [0:0]
:KUBE-FW-X - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-SEP-X - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-X - [0:0]
-A PREROUTING -j KUBE-SERVICES
-A OUTPUT -j KUBE-SERVICES
-A POSTROUTING -j KUBE-POSTROUTING
-A KUBE-EXT-X -j KUBE-MARK-MASQ
-A KUBE-EXT-X -j KUBE-SVC-X
-A KUBE-FW-X -s 203.0.113.0/24 -j KUBE-EXT-X
-A KUBE-FW-X -s 198.18.0.0/16 -j KUBE-EXT-X
-A KUBE-FW-X -s 192.0.2.50/32 -j KUBE-EXT-X
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MASQUERADE --random-fully
-A KUBE-SEP-X -s 10.244.1.80/32 -j KUBE-MARK-MASQ
-A KUBE-SEP-X -p tcp -m tcp -j DNAT --to-destination 10.244.1.80:8080
-A KUBE-SERVICES -d 10.96.40.80/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-X
-A KUBE-SERVICES -d 192.0.2.50/32 -p tcp -m tcp --dport 80 -j KUBE-FW-X
-A KUBE-SVC-X ! -s 10.244.0.0/16 -d 10.96.40.80/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ
-A KUBE-SVC-X -j KUBE-SEP-X
COMMIT
"""
SECOND = "-A KUBE-FW-X -s 198.18.0.0/16 -j KUBE-EXT-X\n"


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (("", ""), set()),
        ((SECOND, ""), {DifferenceKind.UNEXPECTED_DROP}),
        ((SECOND, f"{SECOND}-A KUBE-FW-X -s 100.64.0.0/10 -j KUBE-EXT-X\n"), {DifferenceKind.SOURCE_RANGE_OPEN}),
    ],
)
def test_every_source_range_is_tried_of_the_service_and_of_the_rules(
    change: tuple[str, str], kinds: set[DifferenceKind]
) -> None:
    text = IPTABLES_RANGES.replace(*change) if change[0] else IPTABLES_RANGES
    table = fullest(Kind.IPTABLES_SAVE, text, "w1", frozenset({"192.168.10.4"}))
    report = drift(table, [RANGES], [RANGES_SLICE], NodeView(name="w1", addresses=frozenset({"192.168.10.4"})))
    assert report.decided
    assert {row.kind for row in report.rows} == kinds


#: Of kube-proxy 1.19: marks for the kubelet to drop, health checks without a rule, external IPs for the outside alone.
OLD = """*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-FIREWALL - [0:0]
:KUBE-SERVICES - [0:0]
-A INPUT -j KUBE-FIREWALL
-A FORWARD -m conntrack --ctstate NEW -j KUBE-SERVICES
-A OUTPUT -j KUBE-FIREWALL
-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-FW-X - [0:0]
:KUBE-MARK-DROP - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-SEP-X - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-X - [0:0]
:KUBE-XLB-X - [0:0]
-A PREROUTING -j KUBE-SERVICES
-A OUTPUT -j KUBE-SERVICES
-A POSTROUTING -j KUBE-POSTROUTING
-A KUBE-FW-X -j KUBE-XLB-X
-A KUBE-FW-X -j KUBE-MARK-DROP
-A KUBE-MARK-DROP -j MARK --set-xmark 0x8000/0x8000
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-NODEPORTS -p tcp -m tcp --dport 30080 -j KUBE-XLB-X
-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE
-A KUBE-SEP-X -s 10.244.2.80/32 -j KUBE-MARK-MASQ
-A KUBE-SEP-X -p tcp -m tcp -j DNAT --to-destination 10.244.2.80:8080
-A KUBE-SERVICES ! -s 10.244.0.0/16 -d 10.96.40.80/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ
-A KUBE-SERVICES -d 10.96.40.80/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-X
-A KUBE-SERVICES -d 192.0.2.50/32 -p tcp -m tcp --dport 80 -j KUBE-FW-X
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-SVC-X -j KUBE-SEP-X
-A KUBE-XLB-X -s 10.244.0.0/16 -j KUBE-SVC-X
-A KUBE-XLB-X -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ
-A KUBE-XLB-X -m addrtype --src-type LOCAL -j KUBE-SVC-X
-A KUBE-XLB-X -j KUBE-MARK-DROP
COMMIT
"""
OLD_PORT = {"name": "p80", "port": 80, "protocol": "TCP", "targetPort": 8080}
OLD_SLICE = slice_of(
    "web",
    [{"addresses": ["10.244.2.80"], "nodeName": "w2", "conditions": {"ready": True}}],
    [{"name": "p80", "port": 8080, "protocol": "TCP"}],
    namespace="shop",
)
OLD_VIEW = NodeView(name="w1", addresses=frozenset({"192.168.10.4"}), release=(1, 19))


@pytest.mark.parametrize(
    ("lost", "places"),
    [("", set()), ("-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP\n", {"0.0.0.0:30080/tcp"})],
)
def test_an_old_release_drops_what_it_marks_where_the_kubelet_does(lost: str, places: set[str]) -> None:
    web = service(
        "web",
        "10.96.40.80",
        [{**OLD_PORT, "nodePort": 30080}],
        namespace="shop",
        type="LoadBalancer",
        externalTrafficPolicy="Local",
        healthCheckNodePort=32000,
        ingress=[{"ip": "192.0.2.50"}],
    )
    table = fullest(Kind.IPTABLES_SAVE, OLD.replace(lost, "") if lost else OLD, "w1", OLD_VIEW.addresses)
    report = drift(table, [web], [OLD_SLICE], OLD_VIEW)
    assert report.decided
    assert {str(row.frontend) for row in report.rows} == places


@pytest.mark.parametrize(("backend", "rows"), [("10.244.2.80", 0), ("10.244.2.81", 2)])
def test_an_old_release_gives_an_external_ip_to_the_outside_alone(backend: str, rows: int) -> None:
    named = "-A KUBE-SERVICES -d 203.0.113.80/32 -p tcp -m tcp --dport 80"
    rules = (
        f"{named} -j KUBE-MARK-MASQ\n"
        f"{named} -m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j KUBE-EXTRA\n"
        f"{named} -m addrtype --dst-type LOCAL -j KUBE-EXTRA\n"
    ).replace("KUBE-EXTRA", "KUBE-SVC-X")
    last = "-A KUBE-SERVICES -m addrtype"
    text = OLD.replace(last, rules + last).replace("-d 192.0.2.50/32", "-d 192.0.2.51/32")
    text = "".join(line for line in text.splitlines(keepends=True) if "192.0.2.51" not in line and "30080" not in line)
    web = service("web", "10.96.40.80", [OLD_PORT], namespace="shop", externalIPs=["203.0.113.80"])
    changed = text.replace("--to-destination 10.244.2.80", f"--to-destination {backend}")
    table = fullest(Kind.IPTABLES_SAVE, changed, "w1", OLD_VIEW.addresses)
    report = drift(table, [web], [OLD_SLICE], OLD_VIEW)
    assert report.decided
    found = [row for row in report.rows if str(row.frontend).startswith("203.0.113.80")]
    assert len([row for row in found if row.kind in (DifferenceKind.STALE, DifferenceKind.MISSING)]) == rows
