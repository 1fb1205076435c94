"""The last link: is there a socket that takes a connection to the endpoint's address and port?

Kernel rules (net/ipv4/inet_hashtables.c, net/ipv6/af_inet6.c): a socket takes a packet when it is bound to the packet's
address or to the wildcard of its family; an IPv6 wildcard also takes IPv4 unless IPV6_V6ONLY is set, which
/proc/net/tcp6 does not show. So absence over IPv4 is proven only by the tcp and the tcp6 table together.
"""

from __future__ import annotations

import enum
import ipaddress

import msgspec

from svcpath.evidence.facts.addresses import canonical, family_of
from svcpath.evidence.facts.observation import Observation
from svcpath.evidence.facts.sockets import Socket, SocketTable
from svcpath.walk.ask import Reply
from svcpath.walk.scene import EndpointView, host_port
from svcpath.walk.subjects.probed_ports import probed


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


class Link(msgspec.Struct, frozen=True):
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
        covers = {name for table in self.observations for name in table.fact.covers}
        return {self.protocol.lower(), f"{self.protocol.lower()}6"} <= covers

    @property
    def empty(self) -> bool:
        """Whether the tables show no open socket at all, as one that was cut off does."""
        return not any(is_open(socket) for table in self.observations for socket in table.fact.sockets)

    @property
    def place(self) -> str:
        return host_port(self.endpoint.address, self.port)


#: What leaves the last link open.
OPEN = (Reach.UNKNOWN, Reach.HALF, Reach.DOUBTED)


def link(endpoint: EndpointView, port: int, protocol: str, reply: Reply | None) -> Link:
    observations: tuple[Observation[SocketTable], ...] = reply.present if reply else ()
    sockets = tuple(socket for table in observations for socket in table.fact.sockets)
    covers = frozenset(name for table in observations for name in table.fact.covers)
    wanted = {protocol.lower(), f"{protocol.lower()}6"} if endpoint.family != 6 else {f"{protocol.lower()}6"}
    complete = wanted <= covers
    listeners = [socket for socket in sockets if is_open(socket)]
    here = tuple(socket for socket in listeners if socket.protocol == protocol and socket.local_port == port)
    others = tuple(
        sorted({socket.local_port for socket in listeners if socket.protocol == protocol and not _loopback(socket)})
    )
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
            endpoint,
            here,
            [socket for socket in listeners if socket.local_port == port and socket.protocol != protocol],
        )
        pod = endpoint.pod.fact if endpoint.pod else None
        if not listeners and reach is Reach.NOTHING and pod is not None and pod.ready and probed(pod, port):
            reach = Reach.DOUBTED
    return Link(endpoint, port, protocol, reach, here, observations, complete, others)


def is_open(socket: Socket) -> bool:
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


def answered(attempts: Reply) -> Answered:
    """Addresses and ports to which a recorded connection succeeded: something listened there."""
    answered: Answered = {}
    for recorded in attempts.present:
        for attempt in recorded.fact.attempts:
            if attempt.outcome in ("ok", "http-error", "tls-error"):
                place = (attempt.protocol, canonical(attempt.address or attempt.host), attempt.port)
                answered.setdefault(place, recorded)
    return answered


def with_attempts(link: Link, answered: Answered) -> Link:
    """Without a socket list, a recorded direct connection that succeeded shows the socket; an empty one it contradicts."""
    if (link.protocol, link.endpoint.address, link.port) not in answered:
        return link
    if link.reach in OPEN:
        return Link(link.endpoint, link.port, link.protocol, Reach.LISTENS, (), (), True, ())
    if link.reach is Reach.NOTHING and link.empty:
        return msgspec.structs.replace(link, reach=Reach.DOUBTED)
    return link


def count_pods(links: list[Link]) -> int:
    """Pods, not addresses: a dual-stack Pod has a link per family."""
    return len({link.endpoint.who for link in links})


def numbers(links: list[Link]) -> str:
    return ", ".join(str(port) for port in dict.fromkeys(link.port for link in links))
