"""Sockets that were not looked at: what the Pods declare and probe is a hint, one way or the other, and proves nothing."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import ServicePort
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import Evidence, Finding, Gap
from svcpath.findings.shell import shell
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.layers.ports.proofs import disproof, evidence
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.probed_ports import probed
from svcpath.walk.subjects.sockets import Link, Reach, count_pods, numbers
from svcpath.walk.subjects.target_ports import declared


def undeclared(
    view: Scene, port: ServicePort, unknown: list[Link], *, known: int, links: list[Link]
) -> tuple[list[Finding], Gap]:
    """No socket list: what the Pods declare and probe is a hint, one way or the other, and proves nothing."""
    link = unknown[0]
    names = disproof(view, link)
    command = shell("kubectl -n {namespace} exec {pod} -- cat {tables}", **names)
    who = list(dict.fromkeys(link.endpoint.who for link in unknown))
    pods = ", ".join(who[:4]) + (f" and {len(who) - 4} more" if len(who) > 4 else "")
    why = "no socket list was read"
    if all(link.reach is Reach.HALF for link in unknown):
        why = f"only {link.protocol.lower()} was looked at, and an IPv6 wildcard in {link.protocol.lower()}6 takes IPv4 too"
    elif all(link.reach is Reach.DOUBTED for link in unknown):
        why = f"the list shows no open port, yet {numbers(unknown)} answered a probe or a connection: it is cut or old"
    gap = Gap("ports", f"the listening sockets of {pods}", why, command)
    halves = [link for link in unknown if link.reach is Reach.HALF]
    if halves:
        return [_half(view, port, halves, known)], gap
    suspicious = [link for link in unknown if _declares_others_only(link)]
    if known or not suspicious:
        return [], gap
    declares = sorted(
        {entry.container_port for link in suspicious if link.endpoint.pod for entry in declared(link.endpoint.pod.fact)}
    )
    doubt = finding(
        "SP410",
        Status.INCONCLUSIVE,
        f"nothing declares {numbers(suspicious)}/{link.protocol}: the Pods declare {', '.join(str(number) for number in declares)}, "
        "and their sockets were not looked at",
        evidence=tuple(
            Evidence(f"Pod {link.endpoint.who} declares other ports", link.endpoint.pod) for link in suspicious[:3]
        ),
        confidence=Confidence.POSSIBLE,
        cause=f"nothing listens on {numbers(suspicious)}",
        names=names,
    )
    return [doubt], gap


def _half(view: Scene, port: ServicePort, halves: list[Link], known: int) -> Finding:
    """Nothing in the family's own table. Where the Pods also declare other ports only, that supports a fault."""
    link = halves[0]
    declared_elsewhere = not known and all(_declares_others_only(link) and link.others for link in halves)
    others = sorted({number for link in halves for number in link.others})
    listen = f" (they listen on {', '.join(str(number) for number in others[:5])})" if others else ""
    table = link.protocol.lower()
    return finding(
        "SP403" if declared_elsewhere else "SP410",
        Status.FAIL if declared_elsewhere else Status.INCONCLUSIVE,
        f"no IPv4 socket takes {numbers(halves)}/{link.protocol} in {count(count_pods(halves), 'Pod')}{listen}; "
        f"{table}6, where a wildcard takes IPv4 too, was not looked at",
        evidence=evidence(view, port, halves),
        confidence=Confidence.SUPPORTED if declared_elsewhere else Confidence.POSSIBLE,
        cause=f"nothing listens on {numbers(halves)}",
        share="all new connections" if declared_elsewhere else "",
        names=disproof(view, link),
    )


def _declares_others_only(link: Link) -> bool:
    pod = link.endpoint.pod.fact if link.endpoint.pod else None
    if pod is None:
        return False
    ports = [entry for entry in declared(pod) if (entry.protocol or "TCP") == link.protocol]
    if not ports or any(entry.container_port == link.port for entry in ports):
        return False
    return not (pod.ready and probed(pod, link.port))
