"""A Pod that refuses over IPv4 and answers over IPv6 on one port, whose only socket there is [::].

An IPv6 wildcard takes IPv4 too unless IPV6_V6ONLY is set (RFC 3493 section 5.3), which /proc/net/tcp6 does not show: the two
connections tell it. A finding of the ports, which the ports' own evidence can't make.
"""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.sockets import Socket
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Disproof, Evidence
from svcpath.findings.shell import shell
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.layers.pod.direct import FAILED, tried
from svcpath.walk.scene import EndpointView, Scene, host_port
from svcpath.walk.subjects.sockets import is_open


def check(view: Scene, attempts: Reply) -> Asking[CheckResult]:
    found = tried(view, attempts)
    views = {endpoint.address: endpoint for endpoint in view.usable}
    works = {
        (views[address].who, port, views[address].family)
        for (address, port, protocol), attempted in found.items()
        if protocol == "TCP" and not any(attempt.outcome in FAILED for attempt, _ in attempted)
    }
    refused: list[tuple[EndpointView, int, Observation[Any], Observation[Any]]] = []
    for (address, port, protocol), attempted in found.items():
        endpoint = views[address]
        attempt, seen = attempted[-1]
        if protocol != "TCP" or endpoint.family != 4 or attempt.outcome != "refused":
            continue
        if (endpoint.who, port, 6) not in works or endpoint.pod is None:
            continue
        reply = yield from ask.sockets(f"{endpoint.pod.fact.namespace}/{endpoint.pod.fact.name}")
        covers = {name for table in reply.present for name in table.fact.covers}
        sockets = tuple(socket for table in reply.present for socket in table.fact.sockets)
        if {"tcp", "tcp6"} <= covers and _ipv6_alone(sockets, port):
            table = next(look for look in reply.present if "tcp6" in look.fact.covers)
            refused.append((endpoint, port, seen, table))
    if not refused:
        return CheckResult(looked=False)
    endpoint, port, seen, shown = refused[0]
    place = host_port(endpoint.address, port)
    pods = len({other.who for other, _, _, _ in refused})
    command = shell(
        "kubectl -n {namespace} exec {pod} -- ss -6lnte", namespace=view.request.namespace, pod=endpoint.who
    )
    made = finding(
        "SP405",
        Status.FAIL,
        f"IPv6 path OK; IPv4 path refused: the socket on [::]:{port} takes IPv6 alone in {pods} of "
        f"{len({other.who for other in view.usable})} Pods ({place})",
        evidence=(
            Evidence(f"{endpoint.who}: the only socket on port {port} is [::]", shown),
            Evidence(f"{place}: refused; the same Pod answers over IPv6", seen),
        ),
        confidence=Confidence.SUPPORTED,
        cause="the socket is IPV6_V6ONLY",
        details=("/proc/net/tcp6 does not show IPV6_V6ONLY: the connections tell it",),
        share="all new connections over IPv4",
    )
    first, *others = made.hypotheses
    disproof = Disproof(command, f"the socket on port {port} listed without v6only:1 disproves it")
    return CheckResult(
        findings=(
            msgspec.structs.replace(made, hypotheses=(msgspec.structs.replace(first, disproof=disproof), *others)),
        )
    )


def _ipv6_alone(sockets: tuple[Socket, ...], port: int) -> bool:
    """Whether the listeners on a port are IPv6 wildcards, and none takes IPv4 for sure."""
    here = [socket for socket in sockets if socket.protocol == "TCP" and socket.local_port == port and is_open(socket)]
    return bool(here) and all(
        canonical(socket.local_address) == "::" and ":" in socket.local_address and socket.dual_stack is not True
        for socket in here
    )
