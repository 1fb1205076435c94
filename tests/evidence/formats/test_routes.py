"""`ip rule` and `ip route show table all`: every line a fact or a line that was not understood, never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.facts.node import Route, RoutingRule, RoutingTables
from svcpath.evidence.formats import routes
from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.recognise import recognise

TEXT = """0:\tfrom all lookup local
9:\tfrom all fwmark 0x200/0xf00 lookup 2004
100:\tfrom 10.0.0.0/24 to 10.1.0.0/16 lookup 7
32766:\tfrom all lookup main
default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.2 metric 100
blackhole 10.244.1.0/26 proto bird
10.244.2.0/24 via 172.30.0.12 dev eth0 proto static mtu 1400
10.96.0.0/12 proto static
\tnexthop via 192.0.2.3 dev eth0 weight 1
\tnexthop via 192.0.2.4 dev eth1 weight 1
local 127.0.0.1 dev lo table local proto kernel scope host src 127.0.0.1
0:\tfrom all lookup local
32766:\tfrom all lookup main
fd00::/64 dev eth0 proto kernel metric 256 pref medium
default via fe80::1 dev eth0 metric 1024 pref medium
"""


def _tables(text: str) -> RoutingTables:
    """The one fact of a file of routes."""
    (item,) = recognise(text.encode())
    assert isinstance(item, Item)
    assert item.kind is Kind.ROUTES
    assert isinstance(item.value, RoutingTables)
    return item.value


def test_a_file_of_rules_and_routes_is_recognised_and_read_whole() -> None:
    tables = _tables(TEXT)
    assert tables.unread == 0
    assert Route(destination="0.0.0.0/0", device="eth0", via="192.0.2.1", metric=100) in tables.routes
    assert Route(destination="10.244.1.0/26", kind="blackhole") in tables.routes
    assert Route(destination="10.244.2.0/24", device="eth0", via="172.30.0.12", mtu=1400) in tables.routes
    assert Route(destination="10.96.0.0/12") in tables.routes
    assert Route(destination="127.0.0.1/32", kind="local", table="local", device="lo") in tables.routes
    assert Route(destination="::/0", device="eth0", via="fe80::1", metric=1024) in tables.routes
    assert RoutingRule(priority=9, family=4, table="2004", other="fwmark 0x200/0xf00") in tables.rules
    assert (
        RoutingRule(priority=100, family=4, table="7", source="10.0.0.0/24", destination="10.1.0.0/16") in tables.rules
    )
    assert [rule.family for rule in tables.rules] == [4, 4, 4, 4, 6, 6]


def test_a_line_that_is_no_route_is_said_with_its_number() -> None:
    found = recognise((TEXT + "10.1.0.0/99 dev eth0 scope link\n").encode())
    damages = [item.value for item in found if isinstance(item, Item) and item.kind is Kind.DAMAGED]
    assert "line 16" in str(damages[0])


@given(st.text(alphabet=st.sampled_from("0123456789abcdef.:/ \tfromlkupevdias\n"), max_size=400))
def test_no_text_raises(text: str) -> None:
    tables, bad = routes.read(text.split("\n"))
    assert tables.unread == len(bad)


LINKS = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0@if7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default
    link/ether 02:42:ac:1e:00:0c brd ff:ff:ff:ff:ff:ff link-netnsid 0
    altname enp0s3
4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT group default
    link/ether 0a:0b:0c:0d:0e:0f brd ff:ff:ff:ff:ff:ff
"""


@pytest.mark.parametrize(
    "text",
    [
        LINKS,
        TEXT + LINKS,
        "/sys/class/net/eth0/mtu:1500\n/sys/class/net/flannel.1/mtu:1450\n/sys/class/net/lo/mtu:65536\n",
    ],
)
def test_mtus_are_read_from_links_by_themselves_and_below_routes(text: str) -> None:
    tables = _tables(text)
    assert tables.mtus == {"lo": 65536, "eth0": 1500, "flannel.1": 1450}
    assert tables.unread == 0


def test_addresses_below_a_link_are_passed_over() -> None:
    text = LINKS.replace(
        "    altname enp0s3\n",
        "    inet 172.30.0.12/24 brd 172.30.0.255 scope global eth0\n       valid_lft forever preferred_lft forever\n",
    )
    assert _tables(text).mtus["eth0"] == 1500
