"""Repeated new connections to the Service's own addresses: which share is answered, and how sure that makes us.

Failed ones are judged where no layer explains them (walk/unexplained.py); here is what working ones show.
"""

from __future__ import annotations

from svcpath.walk.ask import Reply
from svcpath.walk.findings.finding import Judgement
from svcpath.walk.probes import miss, pinned
from svcpath.walk.scene import Scene, canonical, host_port

_WORKS = ("ok", "http-error", "tls-error")


def check(view: Scene, attempts: Reply) -> Judgement:
    service = view.service
    if service is None or not service.cluster_ips:
        return Judgement(looked=False)
    addresses = {canonical(ip) for ip in service.cluster_ips}
    ports = {port.port: port for port in view.service_ports}
    tried: dict[tuple[str, int], list[bool]] = {}
    nodes: dict[str, list[bool]] = {}
    for one in attempts.present:
        if not one.fact.repeated:
            continue
        for attempt in one.fact.attempts:
            address = canonical(attempt.address or attempt.host)
            if address in addresses and attempt.port in ports and attempt.client.startswith("node/"):
                nodes.setdefault(attempt.client[5:], []).append(attempt.outcome in _WORKS)
            elif address in addresses and attempt.port in ports:
                tried.setdefault((address, attempt.port), []).append(attempt.outcome in _WORKS)
    if not tried and not nodes:
        return Judgement(looked=False)
    phrases: list[str] = []
    for (address, number), results in tried.items():
        phrase = f"{sum(results)} of {len(results)} new connections to {host_port(address, number)} answer"
        if all(results):
            family = 6 if ":" in address else 4
            backends = sum(1 for each in view.usable_for(ports[number]) if each.family == family)
            if pinned(service):
                phrase += " (ClientIP affinity: one client address is one sample)"
            elif backends > 1:
                phrase += f" ({miss(backends, len(results)):.1%} chance that they all missed one of {backends})"
        phrases.append(phrase)
    if nodes:
        matrix = ", ".join(f"{node} {sum(results)}/{len(results)}" for node, results in sorted(nodes.items()))
        phrases.append(f"answered from the nodes themselves: {matrix}")
    every = (*tried.values(), *nodes.values())
    return Judgement(phrase=", ".join(phrases), looked=all(all(results) for results in every))
