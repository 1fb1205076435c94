"""Paths between nodes: broken return routes, strict reverse path filters, MTU black holes, each beside what only looks like it."""

from __future__ import annotations

import json
from typing import Any

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod
from tests.walk.layers.inputs import broken, sound

CLIENT_ADDRESS = "10.244.1.50"


BACKEND_ADDRESS = "10.244.2.12"


RULES = "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n"


def _routes(node: str, *more: str) -> str:
    own, other = ("1", "2") if node == "w1" else ("2", "1")
    lines = [
        "default via 10.0.0.1 dev eth0",
        f"10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.1{own}",
        f"10.244.{own}.0/24 dev cni0 proto kernel scope link src 10.244.{own}.1",
        f"10.244.{other}.0/24 via 10.0.0.1{other} dev eth0",
        *more,
        f"local 10.244.{own}.1 dev cni0 table local proto kernel scope host src 10.244.{own}.1",
    ]
    return RULES + "\n".join(lines) + "\n"


def _links(node: str, **mtus: int) -> str:
    """As `ip link` prints them."""
    lines = [
        f"{number}: {name}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {mtu} qdisc noqueue state UP mode DEFAULT group default\n"
        f"    link/ether 02:00:00:00:00:0{number} brd ff:ff:ff:ff:ff:ff\n"
        for number, (name, mtu) in enumerate(mtus.items(), 1)
    ]
    return "".join(lines)


def _made(*rows: dict[str, Any], w1: tuple[str, ...] = (), w2: tuple[str, ...] = (), strict: bool = False) -> Cluster:
    """A client on w1, backends on w1 and w2, both nodes' routes, and what ``rows`` say of its connections."""
    made = cluster()
    made.add(pod("client", (CLIENT_ADDRESS,), labels={"app": "client"}, node="w1"))
    for node in made.of("Node"):
        own = node["metadata"]["name"][-1]
        node.setdefault("spec", {})["podCIDRs"] = [f"10.244.{own}.0/24"]
    attempts = [{"client": "shop/client", "port": 8080, **row} for row in rows]
    made.files["client.attempts.json"] = json.dumps({"schema": "svcpath.attempts/v1", "attempts": attempts})
    made.files["w1.routes.txt"] = _routes("w1", *w1)
    made.files["w2.routes.txt"] = _routes("w2", *w2)
    filtered = "1" if strict else "0"
    made.files["w2.sysctl.txt"] = f"net.ipv4.ip_forward = 1\nnet.ipv4.conf.all.rp_filter = {filtered}\n"
    made.dumps = True
    return made.settle()


LOST = {"host": BACKEND_ADDRESS, "outcome": "timeout"}


FINE = {"host": "10.244.1.11", "outcome": "ok", "status": 200}


@broken("fault", "pod", "SP507", "w2", f"blackhole {CLIENT_ADDRESS}", client="pod/client")
def backends_node_drops_what_goes_back_to_the_client() -> Cluster:
    return _made(FINE, LOST, w2=(f"blackhole {CLIENT_ADDRESS}",))


@broken("fault", "pod", "SP507", "w1", f"unreachable {BACKEND_ADDRESS}", client="pod/client")
def clients_node_has_no_way_to_the_backend() -> Cluster:
    return _made(FINE, {"host": BACKEND_ADDRESS, "outcome": "no-route"}, w1=(f"unreachable {BACKEND_ADDRESS}",))


@broken("fault", "pod", "SP617", "rp_filter", "dev cni0", client="pod/client")
def route_back_by_another_interface_under_a_strict_filter() -> Cluster:
    return _made(FINE, LOST, w2=(f"{CLIENT_ADDRESS} dev cni0 scope link",), strict=True)


@broken("fault", "pod", "SP507", "by cni0", client="pod/client")
def route_back_by_another_interface_without_a_filter() -> Cluster:
    return _made(FINE, LOST, w2=(f"{CLIENT_ADDRESS} dev cni0 scope link",))


@broken("fault", "pod", "SP502", client="pod/client")
def strict_filter_and_routes_that_agree() -> Cluster:
    """The filter drops nothing here: the timeout stays unexplained, and no route is accused."""
    return _made(FINE, LOST, strict=True)


@broken("fault", "pod", "SP502", client="pod/client")
def blackhole_of_somebody_else() -> Cluster:
    return _made(FINE, LOST, w2=("blackhole 10.244.1.51",))


@sound(client="pod/client")
def blackhole_on_a_path_that_answers() -> Cluster:
    """An answer came back: whatever the table says, packets take another way."""
    return _made(FINE, {"host": BACKEND_ADDRESS, "outcome": "ok", "status": 200}, w2=(f"blackhole {CLIENT_ADDRESS}",))


def _large(host: str, unacknowledged: int | None, outcome: str = "stalled") -> list[dict[str, Any]]:
    row = {"host": host, "outcome": outcome, "padded": 3090, "segment": 1448, "unacknowledged": unacknowledged}
    return [row if outcome == "stalled" else {**row, "status": 431}] * 3


SMALL = {"host": BACKEND_ADDRESS, "outcome": "ok", "status": 200}


@broken("fault", "pod", "SP508", "3090 bytes", "never acknowledged", client="pod/client")
def large_packets_are_lost() -> Cluster:
    return _made(FINE, SMALL, *_large(BACKEND_ADDRESS, 3090))


def _wide(made: Cluster, w1: dict[str, int], w2: dict[str, int]) -> Cluster:
    """The same with what the nodes' interfaces take, recorded apart from their routes."""
    made.files["w1.links.txt"], made.files["w2.links.txt"] = _links("w1", **w1), _links("w2", **w2)
    return made.settle()


@broken(
    "fault",
    "pod",
    "SP508",
    "eth0 on node w2 takes 1400 bytes",
    "sends up to 1500",
    client="pod/client",
)
def large_packets_are_lost_where_an_interface_is_narrow() -> Cluster:
    made = _made(FINE, SMALL, *_large(BACKEND_ADDRESS, 3090))
    return _wide(made, {"eth0": 1500, "cni0": 1500}, {"eth0": 1400, "cni0": 1500})


@broken("fault", "pod", "SP508", "never acknowledged", client="pod/client")
def large_packets_are_lost_and_no_interface_is_narrow() -> Cluster:
    """A wider underlay loses nothing, and what lies between the nodes their interfaces do not tell."""
    made = _made(FINE, SMALL, *_large(BACKEND_ADDRESS, 3090))
    return _wide(made, {"eth0": 9000, "cni0": 1500}, {"eth0": 1500, "cni0": 1500})


@broken("fault", "pod", "SP508", "takes less", client="pod/client")
def large_packets_are_lost_and_one_nodes_interfaces_are_not_shown() -> Cluster:
    made = _made(FINE, SMALL, *_large(BACKEND_ADDRESS, 3090))
    made.files["w1.links.txt"] = _links("w1", eth0=1500, cni0=1500)
    return made.settle()


@sound(client="pod/client")
def narrow_interface_on_a_path_that_large_requests_pass() -> Cluster:
    """The sender got the ICMP message, and sends less: path MTU discovery works."""
    made = _made(FINE, SMALL, *_large(BACKEND_ADDRESS, None, "http-error"))
    return _wide(made, {"eth0": 1500, "cni0": 1500}, {"eth0": 1400, "cni0": 1500})


@broken("fault", "pod", "SP502", client="pod/client")
def links_without_routes_are_no_missing_route() -> Cluster:
    made = _made(FINE, LOST)
    del made.files["w1.routes.txt"], made.files["w2.routes.txt"]
    return _wide(made, {"eth0": 1500, "cni0": 1500}, {"eth0": 1500, "cni0": 1500})


@sound(client="pod/client")
def large_requests_that_arrive_and_are_not_answered() -> Cluster:
    return _made(FINE, SMALL, *_large(BACKEND_ADDRESS, 0))


@sound(client="pod/client")
def large_requests_that_the_application_refuses() -> Cluster:
    return _made(FINE, SMALL, *_large(BACKEND_ADDRESS, None, "http-error"))


@sound(client="pod/client")
def one_large_request_lost_of_three() -> Cluster:
    return _made(FINE, SMALL, *_large(BACKEND_ADDRESS, 3090)[:1], *_large(BACKEND_ADDRESS, None, "http-error")[:2])
