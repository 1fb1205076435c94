"""What the last link says: every Pod of a Service port listens, or which do not and how one sees it."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import ServicePort
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.layers.ports.proofs import disproof, evidence
from svcpath.walk.layers.ports.undeclared import undeclared
from svcpath.walk.layers.ports.wording import details, remedy, sentence
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.socket_tables import Tables
from svcpath.walk.subjects.sockets import OPEN, Link, Reach, answered, count_pods, link, numbers, with_attempts
from svcpath.walk.subjects.target_ports import mesh_proxy


def check(view: Scene, tables: Tables, attempts: Reply) -> CheckResult:
    if not view.usable:
        return CheckResult(looked=False)
    findings: list[Finding] = []
    gaps: list[Gap] = []
    phrases: list[str] = []
    looked = False
    taken = answered(attempts)
    for port in view.carried_ports:
        links = [
            link(endpoint, found.port, port.protocol, tables.get(endpoint.who))
            for endpoint in view.usable_for(port)
            if (found := endpoint.port_for(port)) is not None and found.port is not None
        ]
        if not links:
            continue
        looked = looked or any(link.reach not in OPEN for link in links)
        links = [with_attempts(opened, taken) for opened in links]
        findings.extend(_judge(view, port, links))
        unknown = [link for link in links if link.reach in OPEN]
        if unknown:
            found_suspicion, gap = undeclared(view, port, unknown, known=len(links) - len(unknown), links=links)
            findings.extend(found_suspicion)
            gaps.append(gap)
        elif all(link.reach is Reach.LISTENS for link in links):
            pods = count_pods(links)
            phrases.append(
                f"{port.port}/{port.protocol}: {pods} of {count(pods, 'Pod')} {'listens' if pods == 1 else 'listen'} on {numbers(links)}"
            )
    return CheckResult(tuple(findings), tuple(gaps), ", ".join(phrases), looked=looked or bool(findings))


BAD = {
    Reach.NOTHING: "SP403",
    Reach.LOOPBACK: "SP404",
    Reach.OTHER_ADDRESS: "SP404",
    Reach.OTHER_FAMILY: "SP405",
    Reach.OTHER_PROTOCOL: "SP408",
}


def _judge(view: Scene, port: ServicePort, links: list[Link]) -> list[Finding]:
    findings = []
    for reach, code in BAD.items():
        bad = [link for link in links if link.reach is reach]
        if not bad:
            continue
        known = [link for link in links if link.reach not in OPEN]
        link = bad[0]
        proven = all(link.complete for link in bad)
        # A mesh's proxy may lead the port to another address of the Pod.
        meshed = any(mesh_proxy(link.endpoint.pod.fact if link.endpoint.pod else None) for link in bad)
        pods = f"{count_pods(bad)} of {count(count_pods(known), 'Pod')}"
        share = "" if len(bad) == len(links) else f"{len(bad)} of {len(links)} backends"
        families = {link.endpoint.family for link in bad}
        if (
            share
            and len(families) == 1
            and families.isdisjoint(link.endpoint.family for link in links if link not in bad)
        ):
            share = f"all new connections over IPv{families.pop()}"
        findings.append(
            finding(
                code,
                Status.FAIL,
                sentence(reach, bad, known, pods),
                evidence=evidence(view, port, bad),
                confidence=Confidence.PROVEN if proven and not meshed else Confidence.SUPPORTED,
                against=()
                if proven
                else (Evidence(f"{link.protocol.lower()}6 was not looked at: an IPv6 wildcard may take it"),),
                details=details(reach, link),
                remedy=remedy(view, reach, port, bad, known),
                share=share or "all new connections",
                names=disproof(view, link),
            )
        )
    return findings
