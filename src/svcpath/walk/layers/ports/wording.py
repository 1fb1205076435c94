"""What is said of Pods that can't be reached on their port: the sentence, what it implies, and what would fix it."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import ServicePort
from svcpath.walk.scene import Scene, host_port
from svcpath.walk.subjects.sockets import Link, Reach, count_pods
from svcpath.walk.subjects.target_ports import declared, is_named, mesh_proxy, of_the_mesh


def sentence(reach: Reach, bad: list[Link], known: list[Link], pods: str) -> str:
    """``bad`` are the Pods of one kind, ``known`` all that were looked at; ``pods`` says "2 of 3 Pods"."""
    link = bad[0]
    if reach is Reach.NOTHING:
        others = sorted({number for link in bad for number in link.others})
        over = "" if link.over_all_families else f" over IPv{link.endpoint.family}"
        who = "they listen" if count_pods(bad) == count_pods(known) > 1 else _names(bad, "listens", "listen")
        listen = (
            f" ({who} on {', '.join(str(number) for number in others[:5])})"
            if others
            else f" (no open {link.protocol} port at all)"
        )
        numbers = " and ".join(dict.fromkeys(str(link.port) for link in bad))
        return f"nothing listens on {numbers}{over} in {pods}{listen}"
    if reach in (Reach.LOOPBACK, Reach.OTHER_ADDRESS):
        socket = link.sockets[0]
        return (
            f"socket {host_port(socket.local_address, socket.local_port)} is not reachable at {link.place} in {pods}; "
            "bind 0.0.0.0 or ::"
        )
    if reach is Reach.OTHER_FAMILY:
        family = f"IPv{link.endpoint.family or 4}"
        good = sorted({f"IPv{link.endpoint.family}" for link in known if link.reach is Reach.LISTENS})
        path = f"{', '.join(good)} path OK; " if good else ""
        wildcard = "::" if link.endpoint.family == 6 else "0.0.0.0"
        return f"{path}{family} path refused: no socket on {wildcard} port {link.port} in {pods} ({link.place})"
    other = "UDP" if link.protocol == "TCP" else "TCP"
    return f"nothing listens on {link.port}/{link.protocol} in {pods}; the port is open as {link.port}/{other}"


def _names(links: list[Link], singular: str, several: str) -> str:
    """ "web-7 listens", "web-1, web-2 and 3 more listen"."""
    names = list(dict.fromkeys(link.endpoint.who for link in links))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more} {singular if len(names) == 1 else several}"


def details(reach: Reach, link: Link) -> tuple[str, ...]:
    lines = []
    proxy = mesh_proxy(link.endpoint.pod.fact if link.endpoint.pod else None)
    if proxy and reach in (Reach.NOTHING, Reach.LOOPBACK, Reach.OTHER_ADDRESS):
        return (
            f"{proxy} takes connections to the Pod and finds no listener behind it: a reset or a 503, not a refusal",
        )
    if reach in (Reach.LOOPBACK, Reach.OTHER_ADDRESS):
        lines.append("Service, slice and port agree")
        lines.append("a direct connection to the Pod's address is refused too, so the data plane is not the cause")
    if reach is Reach.OTHER_FAMILY:
        lines.append("bind :: so that both families are taken; readiness is probed over the primary address only")
    if reach is Reach.NOTHING:
        lines.append(f"connections to {link.place} are refused by the Pod itself")
    return tuple(lines)


def remedy(view: Scene, reach: Reach, port: ServicePort, bad: list[Link], known: list[Link]) -> str:
    """Where other Pods answer on this port the Service is right and the Pod is not; else the Service's port may be."""
    if reach is Reach.OTHER_PROTOCOL and _both(view, port):
        return f"let the application listen on {bad[0].port}/{port.protocol} too, or take {port.port}/{port.protocol} off the Service"
    if reach is not Reach.NOTHING:
        return ""
    good = count_pods([link for link in known if link.reach is Reach.LISTENS])
    if good:
        who = _names(bad, "opens", "open")
        return f"look at why {who} no port {bad[0].port}: {good} other {'Pod of this Service does' if good == 1 else 'Pods of this Service do'}"
    taken = {
        found.port
        for other in (view.service.ports if view.service else ())
        if other != port
        for link in bad
        if (found := link.endpoint.port_for(other)) is not None
    }
    others = sorted({number for link in bad for number in link.others} - taken)
    if any(mesh_proxy(link.endpoint.pod.fact if link.endpoint.pod else None) for link in bad):
        others = [number for number in others if not of_the_mesh(number)]
    if not others:
        return f"let the application listen on {bad[0].port}, or look at why it does not"
    named = {entry.container_port for link in bad if link.endpoint.pod for entry in declared(link.endpoint.pod.fact)}
    others = [number for number in others if number in named] or others
    if len(others) > 3:
        return ""
    text = f"targetPort {' or '.join(str(number) for number in others)}"
    names = {
        entry.name
        for link in bad
        if link.endpoint.pod
        for entry in declared(link.endpoint.pod.fact)
        if entry.container_port in others and entry.name
    }
    if len(names) == 1 and not is_named(port):
        text += f", or {names.pop()} (the name the Pods give it)"
    return text


def _both(view: Scene, port: ServicePort) -> bool:
    """Whether the Service has this number under the other protocol as well: DNS is served over UDP and TCP."""
    others = view.service.ports if view.service else ()
    return any(other.port == port.port and other.protocol != port.protocol for other in others)
