"""The last link: is there a socket that takes a connection to the endpoint's address and port?

Kernel rules (net/ipv4/inet_hashtables.c, net/ipv6/af_inet6.c): a socket takes a packet when it is bound to the packet's
address or to the wildcard of its family; an IPv6 wildcard also takes IPv4 unless IPV6_V6ONLY is set, which
/proc/net/tcp6 does not show. So absence over IPv4 is proven only by the tcp and the tcp6 table together.
"""

from __future__ import annotations

import dataclasses
import enum
import ipaddress

from svcpath.evidence.facts.kubernetes import ServicePort
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.sockets import Socket, SocketTable
from svcpath.walk.ask import Reply
from svcpath.walk.findings.catalogue import finding
from svcpath.walk.findings.finding import Evidence, Finding, Judgement, NotTested, Standing, Status
from svcpath.walk.layers.ports.probing import probed
from svcpath.walk.layers.ports.target import declared, is_named
from svcpath.walk.scene import EndpointView, Scene, canonical, family_of, host_port
from svcpath.walk.shell import shell

#: Endpoint name -> the reply that holds its Pod's socket tables.
Tables = dict[str, Reply]


class Reach(enum.Enum):
    LISTENS = "listens"
    LOOPBACK = "loopback only"
    OTHER_ADDRESS = "other address only"
    OTHER_FAMILY = "other family only"
    OTHER_PROTOCOL = "other protocol only"
    NOTHING = "nothing listens"
    HALF = "nothing in its own family, the other not looked at"
    DOUBTED = "an empty list, of a Pod where something else found the port open"
    UNKNOWN = "not looked at"


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """One endpoint's last link for one Service port. ``complete``: the tables looked at can prove absence."""

    endpoint: EndpointView
    port: int
    protocol: str
    reach: Reach
    sockets: tuple[Socket, ...]
    observations: tuple[Observation[SocketTable], ...]
    complete: bool
    others: tuple[int, ...]

    @property
    def over_all_families(self) -> bool:
        """Whether the tables of both families were looked at."""
        covers = {name for one in self.observations for name in one.fact.covers}
        return {self.protocol.lower(), f"{self.protocol.lower()}6"} <= covers

    @property
    def empty(self) -> bool:
        """Whether the tables show no open socket at all, as one that was cut off does."""
        return not any(_open(socket) for one in self.observations for socket in one.fact.sockets)

    @property
    def place(self) -> str:
        return host_port(self.endpoint.address, self.port)


def check(view: Scene, tables: Tables, attempts: Reply) -> Judgement:
    if not view.usable:
        return Judgement(looked=False)
    findings: list[Finding] = []
    gaps: list[NotTested] = []
    phrases: list[str] = []
    looked = False
    for port in view.carried_ports:
        links = [
            link(endpoint, found.port, port.protocol, tables.get(endpoint.who))
            for endpoint in view.usable_for(port)
            if (found := endpoint.port_for(port)) is not None and found.port is not None
        ]
        if not links:
            continue
        looked = looked or any(link.reach not in OPEN for link in links)
        answered = _answered(attempts)
        links = [_replace_by_attempts(link, answered) for link in links]
        findings.extend(_judge(view, port, links))
        unknown = [link for link in links if link.reach in OPEN]
        if unknown:
            found_suspicion, gap = _undeclared(view, port, unknown, known=len(links) - len(unknown), links=links)
            findings.extend(found_suspicion)
            gaps.append(gap)
        elif all(link.reach is Reach.LISTENS for link in links):
            phrases.append(
                f"{port.port}/{port.protocol}: {_pods(links)} of {_pods(links)} Pods listen on {_numbers(links)}"
            )
    return Judgement(tuple(findings), tuple(gaps), ", ".join(phrases), looked=looked or bool(findings))


def _pods(links: list[Link]) -> int:
    """Pods, not addresses: a dual-stack Pod has a link per family."""
    return len({link.endpoint.who for link in links})


def _numbers(links: list[Link]) -> str:
    return ", ".join(str(port) for port in dict.fromkeys(link.port for link in links))


def link(endpoint: EndpointView, port: int, protocol: str, reply: Reply | None) -> Link:
    observations: tuple[Observation[SocketTable], ...] = reply.present if reply else ()
    sockets = tuple(socket for one in observations for socket in one.fact.sockets)
    covers = frozenset(name for one in observations for name in one.fact.covers)
    wanted = {protocol.lower(), f"{protocol.lower()}6"} if endpoint.family != 6 else {f"{protocol.lower()}6"}
    complete = wanted <= covers
    listeners = [one for one in sockets if _open(one)]
    here = tuple(one for one in listeners if one.protocol == protocol and one.local_port == port)
    others = tuple(sorted({one.local_port for one in listeners if one.protocol == protocol and not _loopback(one)}))
    own = f"{protocol.lower()}6" if endpoint.family == 6 else protocol.lower()
    if any(_takes(socket, endpoint.address) for socket in here):
        reach = Reach.LISTENS
    elif own not in covers:
        reach = Reach.UNKNOWN
    elif not here and not complete:
        # An IPv6 wildcard takes IPv4 too, and its table was not looked at.
        reach = Reach.HALF
    else:
        reach = _reach(
            endpoint, here, [one for one in listeners if one.local_port == port and one.protocol != protocol]
        )
        pod = endpoint.pod.fact if endpoint.pod else None
        if not listeners and reach is Reach.NOTHING and pod is not None and pod.ready and probed(pod, port):
            reach = Reach.DOUBTED
    return Link(endpoint, port, protocol, reach, here, observations, complete, others)


def _open(socket: Socket) -> bool:
    """Whether the socket takes new traffic: LISTEN for TCP, unconnected for UDP."""
    if socket.protocol == "UDP":
        return socket.state in ("UNCONN", "CLOSE", "") and socket.remote_port == 0
    return socket.state == "LISTEN"


def _loopback(socket: Socket) -> bool:
    try:
        return ipaddress.ip_address(canonical(socket.local_address)).is_loopback
    except ValueError:
        return False


def _wildcard(socket: Socket) -> bool:
    return canonical(socket.local_address) in ("0.0.0.0", "::", "*")


def _reach(endpoint: EndpointView, here: tuple[Socket, ...], other_protocol: list[Socket]) -> Reach:
    if here:
        if all(_loopback(socket) for socket in here):
            return Reach.LOOPBACK
        elsewhere = [socket for socket in here if not _loopback(socket) and not _wildcard(socket)]
        same = any(family_of(canonical(socket.local_address)) == endpoint.family for socket in elsewhere)
        return Reach.OTHER_ADDRESS if same else Reach.OTHER_FAMILY
    return Reach.OTHER_PROTOCOL if other_protocol else Reach.NOTHING


def _takes(socket: Socket, address: str) -> bool:
    local = canonical(socket.local_address)
    if local == address:
        return True
    family = 6 if ":" in address else 4
    if local in ("0.0.0.0", "*"):
        return family == 4 or local == "*"
    if local == "::":
        return family == 6 or socket.dual_stack is not False
    return False


Answered = dict[tuple[str, str, int], Observation[object]]


def _answered(attempts: Reply) -> Answered:
    """Addresses and ports to which a recorded connection succeeded: somebody listened there."""
    answered: Answered = {}
    for one in attempts.present:
        for attempt in one.fact.attempts:
            if attempt.outcome in ("ok", "http-error", "tls-error"):
                place = (attempt.protocol, canonical(attempt.address or attempt.host), attempt.port)
                answered.setdefault(place, one)
    return answered


def _replace_by_attempts(link: Link, answered: Answered) -> Link:
    """Without a socket list, a recorded direct connection that succeeded shows the socket; an empty one it contradicts."""
    if (link.protocol, link.endpoint.address, link.port) not in answered:
        return link
    if link.reach in OPEN:
        return Link(link.endpoint, link.port, link.protocol, Reach.LISTENS, (), (), True, ())
    if link.reach is Reach.NOTHING and link.empty:
        return dataclasses.replace(link, reach=Reach.DOUBTED)
    return link


#: What leaves the last link open.
OPEN = (Reach.UNKNOWN, Reach.HALF, Reach.DOUBTED)

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
        pods = f"{_pods(bad)} of {_pods(known)} Pods"
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
                evidence=_evidence(view, port, bad),
                standing=Standing.PROVEN if proven else Standing.SUPPORTED,
                against=()
                if proven
                else (Evidence(f"{link.protocol.lower()}6 was not looked at: an IPv6 wildcard may take it"),),
                details=_details(reach, link),
                remedy=_mend(view, reach, port, bad, known),
                share=share or "all new connections",
                names=_falsifier(view, link),
            )
        )
    return findings


def _sentence(reach: Reach, bad: list[Link], known: list[Link], pods: str) -> str:
    link = bad[0]
    if reach is Reach.NOTHING:
        others = sorted({number for each in bad for number in each.others})
        over = "" if link.over_all_families else f" over IPv{link.endpoint.family}"
        who = "they listen" if _pods(bad) == _pods(known) > 1 else _names(bad, "listens", "listen")
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
    good = _pods([each for each in known if each.reach is Reach.LISTENS])
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


def _evidence(view: Scene, port: ServicePort, bad: list[Link]) -> tuple[Evidence, ...]:
    target = f" -> targetPort {port.target_port}" if port.target_port is not None else ""
    evidence = []
    if view.service is not None:
        evidence.append(Evidence(f"Service {view.named}: port {port.port}{target}", view.service_observation))
    seen: set[str] = set()
    for link in bad:
        if link.endpoint.slice.name not in seen:
            seen.add(link.endpoint.slice.name)
            count = len(link.endpoint.slice.endpoints or ())
            evidence.append(
                Evidence(
                    f"EndpointSlice {link.endpoint.slice.name}: {link.port}/{link.protocol}, {count} endpoints",
                    link.endpoint.observation,
                )
            )
    for link in bad[:3]:
        for one in link.observations[:2]:
            evidence.append(Evidence(f"{link.endpoint.who} {_listens(one.fact, link.protocol)}", one))
    return tuple(evidence)


def _listens(table: SocketTable, protocol: str) -> str:
    places = sorted(
        {
            host_port(one.local_address, one.local_port)
            for one in table.sockets
            if one.protocol == protocol and _open(one)
        }
    )
    which = ", ".join(sorted(table.covers))
    return f"listens on {', '.join(places[:5])} only ({which})" if places else f"listens nowhere ({which})"


def _falsifier(view: Scene, link: Link) -> dict[str, object]:
    family = link.endpoint.family or 4
    tables = {
        ("TCP", 4): "/proc/net/tcp /proc/net/tcp6",
        ("TCP", 6): "/proc/net/tcp6",
        ("UDP", 4): "/proc/net/udp /proc/net/udp6",
        ("UDP", 6): "/proc/net/udp6",
    }
    return {
        "namespace": link.endpoint.slice.namespace or view.request.namespace,
        "pod": link.endpoint.who,
        "port_hex": f"{link.port:04X}",
        "raw_reach": _reach_hex(link.endpoint.address),
        "state_hex": "0A" if link.protocol == "TCP" else "07",
        "raw_tables": tables.get((link.protocol, family), "/proc/net/tcp /proc/net/tcp6"),
    }


def _reach_hex(address: str) -> str:
    """A pattern for the local addresses that take a connection to ``address``, as /proc/net prints them."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "(0{8}|0{32})"
    raw = parsed.packed
    words = "".join(raw[i : i + 4][::-1].hex().upper() for i in range(0, len(raw), 4))
    wildcards = "0" * 32 if parsed.version == 6 else "0{8}|0{32}"
    return f"({wildcards}|{words})"


def _undeclared(
    view: Scene, port: ServicePort, unknown: list[Link], *, known: int, links: list[Link]
) -> tuple[list[Finding], NotTested]:
    """No socket list: what the Pods declare and probe is a hint, one way or the other, and proves nothing."""
    link = unknown[0]
    names = _falsifier(view, link)
    command = shell("kubectl -n {namespace} exec {pod} -- cat {tables}", **names)
    who = list(dict.fromkeys(each.endpoint.who for each in unknown))
    pods = ", ".join(who[:4]) + (f" and {len(who) - 4} more" if len(who) > 4 else "")
    why = "no socket list in the evidence"
    if all(each.reach is Reach.HALF for each in unknown):
        why = f"only {link.protocol.lower()} was looked at, and an IPv6 wildcard in {link.protocol.lower()}6 takes IPv4 too"
    elif all(each.reach is Reach.DOUBTED for each in unknown):
        why = f"the list shows no open port, yet {_numbers(unknown)} answered a probe or a connection: it is cut or old"
    gap = NotTested("ports", f"the listening sockets of {pods}", why, command)
    halves = [each for each in unknown if each.reach is Reach.HALF]
    if halves:
        return [_half(view, port, halves, known)], gap
    suspicious = [each for each in unknown if _declares_others_only(each)]
    if known or not suspicious:
        return [], gap
    declares = sorted(
        {one.container_port for each in suspicious if each.endpoint.pod for one in declared(each.endpoint.pod.fact)}
    )
    doubt = finding(
        "SP410",
        Status.INCONCLUSIVE,
        f"nothing declares {_numbers(suspicious)}/{link.protocol}: the Pods declare {', '.join(str(one) for one in declares)}, "
        "and their sockets were not looked at",
        evidence=tuple(
            Evidence(f"Pod {each.endpoint.who} declares other ports", each.endpoint.pod) for each in suspicious[:3]
        ),
        standing=Standing.POSSIBLE,
        cause=f"nothing listens on {_numbers(suspicious)}",
        names=names,
    )
    return [doubt], gap


def _half(view: Scene, port: ServicePort, halves: list[Link], known: int) -> Finding:
    """Nothing in the family's own table. Where the Pods also declare other ports only, that supports a fault."""
    link = halves[0]
    declared_elsewhere = not known and all(_declares_others_only(each) and each.others for each in halves)
    others = sorted({number for each in halves for number in each.others})
    listen = f" (they listen on {', '.join(str(number) for number in others[:5])})" if others else ""
    table = link.protocol.lower()
    return finding(
        "SP403" if declared_elsewhere else "SP410",
        Status.FAIL if declared_elsewhere else Status.INCONCLUSIVE,
        f"no IPv4 socket takes {_numbers(halves)}/{link.protocol} in {_pods(halves)} Pods{listen}; "
        f"{table}6, where a wildcard takes IPv4 too, was not looked at",
        evidence=_evidence(view, port, halves),
        standing=Standing.SUPPORTED if declared_elsewhere else Standing.POSSIBLE,
        cause=f"nothing listens on {_numbers(halves)}",
        share="all new connections" if declared_elsewhere else "",
        names=_falsifier(view, link),
    )


def _declares_others_only(link: Link) -> bool:
    pod = link.endpoint.pod.fact if link.endpoint.pod else None
    if pod is None:
        return False
    ports = [one for one in declared(pod) if (one.protocol or "TCP") == link.protocol]
    if not ports or any(one.container_port == link.port for one in ports):
        return False
    return not (pod.ready and probed(pod, link.port))
