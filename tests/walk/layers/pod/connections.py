"""Connections that fail on one port or one family."""

from __future__ import annotations

import json
from typing import Any

from tests.fixtures.cluster import Cluster, cluster
from tests.fixtures.objects import pod, port
from tests.walk.layers.inputs import broken, sound
from tests.walk.layers.pod.routes import CLIENT_ADDRESS

# --- the port that was asked for ---------------------------------------------------------------------------------------


def two_ports(*rows: dict[str, Any]) -> Cluster:
    made = cluster(1, ports=[port(80, 8080, "http"), port(81, 8081, "more")])
    made.add(pod("client", (CLIENT_ADDRESS,), labels={"app": "client"}, node="w1"))
    made.sockets["web-1"] = [("tcp", "0.0.0.0", 8080), ("tcp", "0.0.0.0", 8081)]
    attempts = [{"client": "shop/client", "host": "10.244.1.11", **row} for row in rows]
    made.files["client.attempts.json"] = json.dumps({"schema": "svcpath.attempts/v1", "attempts": attempts})
    return made.settle()


FIRST_ANSWERS = {"port": 8080, "outcome": "ok", "status": 200}


_SECOND_REFUSES = {"port": 8081, "outcome": "refused"}


@sound(client="pod/client", port="http")
def the_other_port_refuses() -> Cluster:
    return two_ports(FIRST_ANSWERS, _SECOND_REFUSES)


@broken("fault", "pod", "SP501", "8081", client="pod/client", port="more")
def the_port_that_was_asked_for_refuses() -> Cluster:
    return two_ports(FIRST_ANSWERS, _SECOND_REFUSES)


@broken("fault", "pod", "SP501", "8081", client="pod/client")
def one_of_all_ports_refuses() -> Cluster:
    return two_ports(FIRST_ANSWERS, _SECOND_REFUSES)


# --- one family of two -------------------------------------------------------------------------------------------------


def tried_over_both_families(v4: str, v6: str, *sockets: tuple[str, str, int]) -> Cluster:
    """A dual-stack Pod whose listeners are ``sockets``, tried over both families."""
    made = cluster(1, dual=True)
    made.add(pod("client", (CLIENT_ADDRESS, "fd00:244:1::50"), labels={"app": "client"}, node="w1"))
    made.sockets["web-1"] = list(sockets)
    rows = [("10.244.1.11", v4), ("fd00:244:1::b", v6)]
    attempts = [{"client": "shop/client", "port": 8080, "host": host, "outcome": outcome} for host, outcome in rows]
    made.files["client.attempts.json"] = json.dumps({"schema": "svcpath.attempts/v1", "attempts": attempts})
    return made.settle()


@broken("fault", "pod", "SP501", "10.244.1.11:8080", client="pod/client")
def refused_over_one_family_though_a_socket_takes_it() -> Cluster:
    return tried_over_both_families("refused", "ok", ("tcp", "0.0.0.0", 8080), ("tcp", "::", 8080))


@broken("fault", "pod", "SP501", "10.244.1.11:8080", client="pod/client")
def refused_over_both_families() -> Cluster:
    return tried_over_both_families("refused", "refused", ("tcp", "::", 8080))


@sound(client="pod/client")
def a_wildcard_socket_of_both_families() -> Cluster:
    return tried_over_both_families("ok", "ok", ("tcp", "::", 8080))
