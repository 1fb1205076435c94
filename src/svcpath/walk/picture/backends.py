"""Every backend of one Service, a row each, as the report shows them: who it is, its conditions, the chain of ports down
to a socket, and whether each node's table holds it.

Nothing here judges: the layers do. The rows say what they looked at, side by side, so that drift can be seen. Rows are
the endpoints of the slices, the Pods that the selector picks and no slice lists, and the addresses that a node's table
holds without either.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from fractions import Fraction

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import EndpointSlice, Pod, Service, ServicePort
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.observation import Observation
from svcpath.models.dataplanes import Packet, PacketVerdict, Tracer, TrafficOrigin, expected
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.nodes.needs import client_node, proxy
from svcpath.walk.nodes.plane import Plane, plane
from svcpath.walk.nodes.tables import NodeTables, nodes_tables, released, tables_at_hand
from svcpath.walk.scene import EndpointView, Scene
from svcpath.walk.subjects.socket_tables import Tables, sockets
from svcpath.walk.subjects.sockets import link as link_to

#: Nodes beside the client's own whose tables stand in the rows.
NODES = 16


class TableState(enum.Enum):
    """How a node's table stands to what slices ask of it, for one backend and frontend."""

    PRESENT = "present"
    MISSING = "missing"
    STALE = "stale"
    WRONG_PORT = "wrong port"
    UNDECIDED = "undecided"  #: lines that were not understood may change it


class InTable(msgspec.Struct, frozen=True):
    """One backend in one node's table. ``share`` of new connections from a Pod, ``line`` of the rule (0: not known)."""

    node: str
    frontend: str
    address: str
    port: int
    state: TableState
    share: Fraction | None = None
    path: str = ""
    line: int = 0


class PortChain(msgspec.Struct, frozen=True):
    """One Service port down to the socket. ``reach`` is the socket's answer, ``others`` what the Pod listens on."""

    service_port: str
    target_port: str
    slice_port: int | None
    reach: str
    others: tuple[int, ...] = ()


class BackendRow(msgspec.Struct, frozen=True):
    """``slice`` empty: no slice lists it. ``ready``, ``serving`` and ``terminating`` are the slice's words, None without
    one; ``pod_ready`` is the Pod's own condition."""

    address: str
    pod: str
    node: str
    zone: str
    slice: str
    ready: bool | None
    serving: bool | None
    terminating: bool | None
    pod_ready: bool | None
    pod_state: str
    restarts: int
    ports: tuple[PortChain, ...]
    tables: tuple[InTable, ...]


class NodeOutcomes(msgspec.Struct, frozen=True):
    """What one node's table does with the Service's cluster addresses: "backends", "reject", "drop" or "none"."""

    node: str
    mode: str
    outcomes: tuple[tuple[str, str], ...]


class Backends(msgspec.Struct, frozen=True):
    rows: tuple[BackendRow, ...]
    nodes: tuple[NodeOutcomes, ...]


def backends(view: Scene) -> Asking[Backends]:
    """Rows and tables of the Service; empty where no Service is meant. Beside the client's node those are looked at
    where its endpoints live, if that costs no command on a node."""
    if not view.request.service:
        return Backends((), ())
    tables = yield from sockets(view)
    states: list[InTable] = []
    nodes: list[NodeOutcomes] = []
    service = view.service
    if service is not None and not service.is_headless and not service.is_external_name:
        slices = [slice_.fact for slice_ in view.slices]
        for node, found in (yield from _planes(view)):
            outcomes, entries = _compared(service, slices, node, found)
            if found.used is not None:
                nodes.append(NodeOutcomes(node.label, found.mode or found.used.table.dialect.value, outcomes))
            # Without the slices it is not known what a table should hold.
            states.extend(entries if view.slices or view.slices_reply.absent else ())
    rows = _listed(view, tables, states)
    listed = {row.address for row in rows}
    for pod in view.selected:
        addresses = [canonical(ip) for ip in pod.fact.ips]
        if not listed.intersection(addresses):
            rows.append(_pod_alone(pod, addresses, states))
            listed.update(addresses)
    strangers = dict.fromkeys(entry.address for entry in states if entry.address not in listed)
    rows.extend(_stranger(view, address, states) for address in strangers)
    return Backends(tuple(rows), tuple(nodes))


def _planes(view: Scene) -> Asking[list[tuple[NodeTables, Plane]]]:
    reported = yield from ask.one(Need(Kind.NODE_REPORT))
    reports = tuple(report for observed in reported.present for report in observed.fact.nodes)
    from_node = client_node(view)
    tables = yield from nodes_tables(from_node, reports)
    if from_node:
        homes = dict.fromkeys(endpoint.endpoint.node_name or "" for endpoint in view.distinct)
        others = tuple(node for node in homes if node and node != from_node)[:NODES]
        tables = (*tables, *(yield from tables_at_hand(others, reports)))
    planes: list[tuple[NodeTables, Plane]] = []
    for node in tables:
        logs, configs, metrics = yield proxy(node.owner)
        found = plane(node, logs, configs, metrics, [slice_.fact for slice_ in view.slices])
        if found.release is not None and node.view.release is None:
            known = released(node.view, found.release)
            node = NodeTables(node.owner, node.name, known, node.dumps, node.unread)
        planes.append((node, found))
    return planes


def _compared(
    service: Service, slices: list[EndpointSlice], node: NodeTables, found: Plane
) -> tuple[tuple[tuple[str, str], ...], list[InTable]]:
    """What a Pod's new connection meets at each cluster address, and each backend that is held or should be."""
    tracers = {id(dump): Tracer(dump.table) for dump in found.dumps}
    outcomes: list[tuple[str, str]] = []
    states: list[InTable] = []
    for want in expected(service, slices, node.view):
        if want.kind != "cluster-ip":
            continue
        front = want.frontend
        dump = found.holding(front.address)
        if dump is None or (6 if ":" in front.address else 4) not in dump.table.families:
            continue
        tracer, path = tracers[id(dump)], dump.place
        source = "2001:db8::77" if ":" in front.address else "198.51.100.77"
        met = tracer.trace(Packet(source, TrafficOrigin.POD, front.protocol, front.address, front.port))
        right = want.for_packet(TrafficOrigin.POD, source)
        wanted = right.backends if right.verdict is PacketVerdict.BACKENDS else ()
        outcomes.append((str(front), met.verdict.value))
        present = {backend.backend for backend in met.backends}
        missing = [backend for backend in wanted if backend not in present]
        for shared in met.backends:
            # An address may serve two ports of one Service (host network): what counts is address and port.
            same_address = next((backend for backend in missing if backend.address == shared.backend.address), None)
            if shared.backend in wanted:
                state = TableState.PRESENT
            else:
                state = (
                    TableState.UNDECIDED
                    if met.undecided
                    else TableState.WRONG_PORT
                    if same_address
                    else TableState.STALE
                )
                missing = [backend for backend in missing if backend != same_address]
            states.append(InTable(node.label, str(front), *shared.backend, state, shared.share, path, shared.line))
        for backend in missing:
            state = TableState.UNDECIDED if met.undecided else TableState.MISSING
            states.append(InTable(node.label, str(front), *backend, state, None, path))
    return tuple(outcomes), states


def _listed(view: Scene, tables: Tables, states: list[InTable]) -> list[BackendRow]:
    """A row for each endpoint that a slice lists."""
    held_at: dict[str, list[InTable]] = defaultdict(list)
    for state in states:
        held_at[state.address].append(state)
    listed_at: dict[str, list[EndpointView]] = defaultdict(list)
    distinct = view.distinct
    for endpoint in distinct:
        listed_at[endpoint.address].append(endpoint)
    return [
        _endpoint(view, endpoint, tables, held_at[endpoint.address], listed_at[endpoint.address])
        for endpoint in distinct
    ]


def _endpoint(
    view: Scene, endpoint: EndpointView, tables: Tables, states: list[InTable], same_address: list[EndpointView]
) -> BackendRow:
    pod = endpoint.pod.fact if endpoint.pod is not None and endpoint.pod.fact.name == endpoint.who else None
    ports = tuple(_chain(port, endpoint, tables) for port in view.service_ports)
    others = _ports(view, [other for other in same_address if other is not endpoint])
    own = {port.slice_port for port in ports}
    return BackendRow(
        address=endpoint.address,
        pod=endpoint.who if endpoint.who != endpoint.address else "",
        node=endpoint.endpoint.node_name or (pod.spec.node_name if pod else "") or "",
        zone=endpoint.endpoint.zone or "",
        slice=endpoint.slice.name,
        ready=endpoint.endpoint.ready,
        serving=endpoint.endpoint.serving,
        terminating=endpoint.endpoint.terminating,
        pod_ready=pod.ready if pod else None,
        pod_state=_state(pod) if pod else "",
        restarts=_restarts(pod) if pod else 0,
        ports=ports,
        tables=tuple(entry for entry in states if entry.port in own or entry.port not in others),
    )


def _ports(view: Scene, endpoints: list[EndpointView]) -> set[int | None]:
    """The ports that the slices give for these endpoints."""
    found = (endpoint.port_for(port) for endpoint in endpoints for port in view.service_ports)
    return {port.port for port in found if port is not None}


def _chain(port: ServicePort, endpoint: EndpointView, tables: Tables) -> PortChain:
    target = port.target_port if port.target_port not in (None, 0, "") else port.port
    label = f"{port.port}/{port.protocol}"
    found = endpoint.port_for(port)
    if found is None or found.port is None:
        return PortChain(label, str(target), None, "")
    link = link_to(endpoint, found.port, port.protocol, tables.get(endpoint.who))
    return PortChain(label, str(target), found.port, link.reach.value, link.others)


def _pod_alone(pod: Observation[Pod], addresses: list[str], states: list[InTable]) -> BackendRow:
    fact = pod.fact
    return BackendRow(
        address=addresses[0] if addresses else "",
        pod=fact.name,
        node=fact.spec.node_name or "",
        zone="",
        slice="",
        ready=None,
        serving=None,
        terminating=None,
        pod_ready=fact.ready,
        pod_state=_state(fact),
        restarts=_restarts(fact),
        ports=(),
        tables=tuple(entry for entry in states if entry.address in addresses),
    )


def _stranger(view: Scene, address: str, states: list[InTable]) -> BackendRow:
    """An address that a table holds and neither a slice nor the selector gives."""
    owner = next((pod.fact for pod in view.pods if address in map(canonical, pod.fact.ips)), None)
    return BackendRow(
        address=address,
        pod=owner.name if owner else "",
        node=(owner.spec.node_name or "") if owner else "",
        zone="",
        slice="",
        ready=None,
        serving=None,
        terminating=None,
        pod_ready=owner.ready if owner else None,
        pod_state=_state(owner) if owner else "no such Pod was read",
        restarts=_restarts(owner) if owner else 0,
        ports=(),
        tables=tuple(entry for entry in states if entry.address == address),
    )


def _state(pod: Pod) -> str:
    """The phase, or what keeps a container from running."""
    if pod.deleting:
        return "Terminating"
    for status in pod.status.container_statuses or ():
        if status.state is not None and status.state.waiting is not None and status.state.waiting.reason:
            return status.state.waiting.reason
    return pod.status.reason or pod.status.phase or ""


def _restarts(pod: Pod) -> int:
    return sum(status.restart_count for status in pod.status.container_statuses or ())
