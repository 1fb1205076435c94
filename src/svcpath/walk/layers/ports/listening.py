"""What the last link says: every Pod of a Service port listens, or which do not and how one sees it."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import ServicePort
from svcpath.walk.ask import Reply
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import Evidence, Finding, Judgement, NotTested, Standing, Status
from svcpath.walk.layers.ports.proofs import evidence, falsifier
from svcpath.walk.layers.ports.reach import OPEN, Link, Reach, answered, count_pods, link, numbers, with_attempts
from svcpath.walk.layers.ports.target import declared, is_named
from svcpath.walk.layers.ports.undeclared import undeclared
from svcpath.walk.scene import Scene, host_port

#: Endpoint name -> the reply that holds its Pod's socket tables.
Tables = dict[str, Reply]


def check(view: Scene, tables: Tables, attempts: Reply) -> Judgement:
    if not view.usable:
        return Judgement(looked=False)
    findings: list[Finding] = []
    gaps: list[NotTested] = []
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
        links = [with_attempts(one, taken) for one in links]
        findings.extend(_judge(view, port, links))
        unknown = [link for link in links if link.reach in OPEN]
        if unknown:
            found_suspicion, gap = undeclared(view, port, unknown, known=len(links) - len(unknown), links=links)
            findings.extend(found_suspicion)
            gaps.append(gap)
        elif all(link.reach is Reach.LISTENS for link in links):
            phrases.append(
                f"{port.port}/{port.protocol}: {count_pods(links)} of {count_pods(links)} Pods listen on {numbers(links)}"
            )
    return Judgement(tuple(findings), tuple(gaps), ", ".join(phrases), looked=looked or bool(findings))


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
        proven = all(each.complete for each in bad)
        pods = f"{count_pods(bad)} of {count_pods(known)} Pods"
        share = "" if len(bad) == len(links) else f"{len(bad)} of {len(links)} backends"
        families = {each.endpoint.family for each in bad}
        if (
            share
            and len(families) == 1
            and families.isdisjoint(each.endpoint.family for each in links if each not in bad)
        ):
            share = f"all new connections over IPv{families.pop()}"
        findings.append(
            finding(
                code,
                Status.FAIL,
                _sentence(reach, bad, known, pods),
                evidence=evidence(view, port, bad),
                standing=Standing.PROVEN if proven else Standing.SUPPORTED,
                against=()
                if proven
                else (Evidence(f"{link.protocol.lower()}6 was not looked at: an IPv6 wildcard may take it"),),
                details=_details(reach, link),
                remedy=_mend(view, reach, port, bad, known),
                share=share or "all new connections",
                names=falsifier(view, link),
            )
        )
    return findings


def _sentence(reach: Reach, bad: list[Link], known: list[Link], pods: str) -> str:
    link = bad[0]
    if reach is Reach.NOTHING:
        others = sorted({number for each in bad for number in each.others})
        over = "" if link.over_all_families else f" over IPv{link.endpoint.family}"
        who = "they listen" if count_pods(bad) == count_pods(known) > 1 else _names(bad, "listens", "listen")
        listen = (
            f" ({who} on {', '.join(str(number) for number in others[:5])})"
            if others
            else f" (no open {link.protocol} port at all)"
        )
        numbers = " and ".join(dict.fromkeys(str(each.port) for each in bad))
        return f"nothing listens on {numbers}{over} in {pods}{listen}"
    if reach in (Reach.LOOPBACK, Reach.OTHER_ADDRESS):
        socket = link.sockets[0]
        return (
            f"socket {host_port(socket.local_address, socket.local_port)} is not reachable at {link.place} in {pods}; "
            "bind 0.0.0.0 or ::"
        )
    if reach is Reach.OTHER_FAMILY:
        family = f"IPv{link.endpoint.family or 4}"
        good = sorted({f"IPv{each.endpoint.family}" for each in known if each.reach is Reach.LISTENS})
        path = f"{', '.join(good)} path OK; " if good else ""
        wildcard = "::" if link.endpoint.family == 6 else "0.0.0.0"
        return f"{path}{family} path refused: no socket on {wildcard} port {link.port} in {pods} ({link.place})"
    other = "UDP" if link.protocol == "TCP" else "TCP"
    return f"nothing listens on {link.port}/{link.protocol} in {pods}; the port is open as {link.port}/{other}"


def _names(links: list[Link], one: str, several: str) -> str:
    """ "web-7 listens", "web-1, web-2 and 3 more listen"."""
    names = list(dict.fromkeys(link.endpoint.who for link in links))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more} {one if len(names) == 1 else several}"


def _details(reach: Reach, link: Link) -> tuple[str, ...]:
    details = []
    if reach in (Reach.LOOPBACK, Reach.OTHER_ADDRESS):
        details.append("Service, slice and port agree")
        details.append("a direct connection to the Pod's address is refused too, so the data plane is not the cause")
    if reach is Reach.OTHER_FAMILY:
        details.append("bind :: so that both families are taken; readiness is probed over the primary address only")
    if reach is Reach.NOTHING:
        details.append(f"connections to {link.place} are refused by the Pod itself")
    return tuple(details)


def _mend(view: Scene, reach: Reach, port: ServicePort, bad: list[Link], known: list[Link]) -> str:
    """Where other Pods answer on this port the Service is right and the Pod is not; else the Service's port may be."""
    if reach is not Reach.NOTHING:
        return ""
    good = count_pods([each for each in known if each.reach is Reach.LISTENS])
    if good:
        who = _names(bad, "opens", "open")
        return f"look at why {who} no port {bad[0].port}: {good} other Pod{'' if good == 1 else 's'} of this Service do"
    taken = {
        found.port
        for other in (view.service.ports if view.service else ())
        if other != port
        for each in bad
        if (found := each.endpoint.port_for(other)) is not None
    }
    others = sorted({number for each in bad for number in each.others} - taken)
    if not others:
        return f"let the application listen on {bad[0].port}, or look at why it does not"
    named = {one.container_port for each in bad if each.endpoint.pod for one in declared(each.endpoint.pod.fact)}
    others = [number for number in others if number in named] or others
    if len(others) > 3:
        return ""
    text = f"targetPort {' or '.join(str(number) for number in others)}"
    names = {
        each.name
        for link in bad
        if link.endpoint.pod
        for each in declared(link.endpoint.pod.fact)
        if each.container_port in others and each.name
    }
    if len(names) == 1 and not is_named(port):
        text += f", or {names.pop()} (the name the Pods give it)"
    return text
