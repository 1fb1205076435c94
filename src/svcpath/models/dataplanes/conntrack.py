"""Flows against frontends: what connection tracking still carries, and where it disagrees with the slices.

A flow is translated once, by its first packet; later packets follow the entry and meet no rule (net/netfilter/
nf_nat_core.c). So a UDP entry to a removed Pod lives as long as packets keep coming, while a TCP connection to one is
meant to live on. kube-proxy clears UDP entries only (pkg/proxy/conntrack/cleanup.go).
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from svcpath.evidence.facts.addresses import text_form
from svcpath.evidence.facts.conntrack import Flow
from svcpath.models.dataplanes.cilium import CtEntry
from svcpath.models.dataplanes.expected import Expectation
from svcpath.models.dataplanes.ipvs import IpvsConnection, RealServer
from svcpath.models.dataplanes.ruleset import address_value
from svcpath.models.dataplanes.table import ANY_IPV4, ANY_IPV6, Backend, Frontend, ServiceTable, TableEntry

#: TCP states in which an entry carries no connection any more.
CLOSING = frozenset({"TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK", "FIN_WAIT", "NONE"})


class FlowKind(enum.Enum):
    FINE = "fine"
    STALE_UDP = "stale UDP entry"  #: translated to an address that is no endpoint; packets keep it alive
    UNTRANSLATED_UDP = "untranslated UDP entry"  #: to a frontend, without translation; made when there was no rule
    REMOVED_TCP = "TCP to a removed endpoint"  #: by design: removal stops new connections only
    DRAINING_TCP = "TCP to a terminating endpoint"
    CLOSED = "closed"
    CLASH = "reply tuple clash"  #: two flows whose replies look alike: the second could not be inserted
    RETURN_PATH = "reply bypasses translation"  #: no reply seen although the backend is an endpoint


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    flow: Flow
    frontend: Frontend
    backend: Backend
    kind: FlowKind
    service: str


class Imbalance(msgspec.Struct, frozen=True, kw_only=True):
    """Established connections per backend; ``idle`` are endpoints that would take new ones and carry none."""

    frontend: Frontend
    service: str
    connections: tuple[tuple[Backend, int], ...]
    idle: tuple[Backend, ...]


def judge(
    flows: Iterable[Flow], expectations: Iterable[Expectation], *, node_addresses: frozenset[str] = frozenset()
) -> tuple[Judged, ...]:
    """Every flow to a frontend of ``expectations``, in the order given; others are none of a Service's business."""
    by_frontend = {item.frontend: item for item in expectations}
    verdicts: list[Judged] = []
    replies: dict[tuple[str, str, str, int, int], Flow] = {}
    for flow in flows:
        frontend = Frontend(text_form(flow.original.destination), flow.protocol.upper(), flow.original.destination_port)
        item = by_frontend.get(frontend)
        if item is None and frontend.address in node_addresses:
            wildcard = ANY_IPV6 if ":" in frontend.address else ANY_IPV4
            item = by_frontend.get(frontend._replace(address=wildcard))
        if item is None:
            continue
        backend = Backend(text_form(flow.reply.source), flow.reply.source_port)
        verdicts.append(
            Judged(
                flow=flow,
                frontend=frontend,
                backend=backend,
                kind=_kind(flow, frontend, backend, item, replies),
                service=item.service,
            )
        )
    return tuple(verdicts)


def _kind(
    flow: Flow,
    frontend: Frontend,
    backend: Backend,
    item: Expectation,
    replies: dict[tuple[str, str, str, int, int], Flow],
) -> FlowKind:
    protocol = flow.protocol.upper()
    if protocol == "TCP" and flow.state in CLOSING:
        return FlowKind.CLOSED
    key = (
        protocol,
        text_form(flow.reply.source),
        text_form(flow.reply.destination),
        flow.reply.source_port,
        flow.reply.destination_port,
    )
    if key in replies and replies[key].original != flow.original:
        return FlowKind.CLASH
    replies[key] = flow
    untranslated = backend == Backend(frontend.address, frontend.port)
    if protocol == "UDP":
        if untranslated:
            return FlowKind.UNTRANSLATED_UDP
        return FlowKind.FINE if _is_endpoint(backend, item) else FlowKind.STALE_UDP
    if untranslated:
        return FlowKind.FINE
    if not _is_endpoint(backend, item):
        return FlowKind.REMOVED_TCP if flow.state == "ESTABLISHED" else FlowKind.CLOSED
    if _is_terminating(backend, item):
        return FlowKind.DRAINING_TCP
    if flow.state == "SYN_SENT" and flow.unreplied:
        return FlowKind.RETURN_PATH
    return FlowKind.FINE


def _is_endpoint(backend: Backend, item: Expectation) -> bool:
    """Any endpoint that may carry traffic: one that only terminates still does."""
    return any(view.backend == backend and (view.ready or view.serving) for view in item.endpoints)


def _is_terminating(backend: Backend, item: Expectation) -> bool:
    return any(view.backend == backend and view.terminating for view in item.endpoints)


def imbalances(
    judged: Iterable[Judged], expectations: Iterable[Expectation], *, least: int = 2
) -> tuple[Imbalance, ...]:
    """Frontends whose established TCP connections leave some ready endpoint without any.

    ``least`` is how many connections there must be before it says anything. With fewer connections than endpoints some
    are idle of necessity: then every connection on one backend is what counts.
    """
    items = {item.service: item for item in expectations}
    counts: dict[tuple[Frontend, str], Counter[Backend]] = {}
    for verdict in judged:
        if verdict.flow.protocol.upper() == "TCP" and verdict.flow.state == "ESTABLISHED":
            counts.setdefault((verdict.frontend, verdict.service), Counter())[verdict.backend] += 1
    imbalances = []
    for (frontend, service), per_backend in counts.items():
        item = items.get(service)
        total = sum(per_backend.values())
        if item is None or total < least or len(item.cluster) < 2:
            continue
        idle = tuple(backend for backend in item.cluster if backend not in per_backend)
        crowded = total >= len(item.cluster) or len(per_backend) == 1
        if idle and crowded:
            imbalances.append(
                Imbalance(
                    frontend=frontend,
                    service=service,
                    connections=tuple(sorted(per_backend.items(), key=lambda pair: (-pair[1], pair[0]))),
                    idle=idle,
                )
            )
    return tuple(imbalances)


class LostBackend(msgspec.Struct, frozen=True, kw_only=True):
    """A connection tracking entry of Cilium that names a backend ID which is no more in the backend map."""

    entry: CtEntry
    backend_id: int
    remaining: tuple[Backend, ...]


def lost_backends(
    entries: Iterable[CtEntry], backends: Mapping[int, Backend], table: ServiceTable | None = None
) -> tuple[LostBackend, ...]:
    """Service entries whose backend is gone. ``remaining`` are the backends that the service's own map entry has."""
    stale = []
    for entry in entries:
        if not entry.service or not entry.backend_id or entry.backend_id in backends:
            continue
        frontend = Frontend(entry.destination, entry.protocol, entry.destination_port)
        found = table.frontends.get(frontend) if table is not None else None
        stale.append(LostBackend(entry=entry, backend_id=entry.backend_id, remaining=_targets(found)))
    return tuple(stale)


def _targets(entry: TableEntry | None) -> tuple[Backend, ...]:
    if entry is None:
        return ()
    return tuple(dict.fromkeys(target.backend for target in entry.facts.get("targets", ())))


class Pinned(msgspec.Struct, frozen=True, kw_only=True):
    """A client whose IPVS persistence template leads to a server that takes no new connections. ``weight`` None: the
    server is not in the table at all; ``others`` are the backends that other clients reach."""

    client: str
    frontend: Frontend
    backend: Backend
    weight: int | None
    seconds_left: int
    others: tuple[Backend, ...]
    line: int


def pinned(connections: Sequence[IpvsConnection], table: ServiceTable) -> tuple[Pinned, ...]:
    """Persistence templates to servers of weight 0 or to none of the virtual server's."""
    stale = []
    for connection in connections:
        if not connection.template:
            continue
        entry = table.frontends.get(connection.frontend)
        if entry is None:
            continue
        servers: tuple[RealServer, ...] = entry.facts.get("servers", ())
        server = next((server for server in servers if server.backend == connection.backend), None)
        if server is not None and server.weight != 0:
            continue
        stale.append(
            Pinned(
                client=connection.source,
                frontend=connection.frontend,
                backend=connection.backend,
                weight=server.weight if server is not None else None,
                seconds_left=connection.expire,
                others=tuple(server.backend for server in servers if server.weight),
                line=connection.line,
            )
        )
    return tuple(stale)


def delete_command(judged: Judged) -> str:
    """The conntrack(8) command that removes one stale UDP entry's kind: all entries of its frontend."""
    family = "-f ipv6 " if (address_value(judged.frontend.address) or (4, 0))[0] == 6 else ""
    return (
        f"conntrack -D {family}-p {judged.frontend.protocol.lower()} --orig-dst {judged.frontend.address} "
        f"--dport {judged.frontend.port}"
    )
