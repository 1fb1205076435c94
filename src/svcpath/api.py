"""The library: what ``import svcpath`` re-exports, for notebooks, tests and operators.

    >>> import svcpath
    >>> report = svcpath.diagnose(svcpath.recording("iptables"), "svc/wrong-port", namespace="service-ops")
    >>> report.verdict.status, report.verdict.layer, report.verdict.code
    ('fault', 'ports', 'SP403')

Evidence comes from any Source: ``files(path, ...)`` for what is on disk, ``recording(name)`` for what ships with the
package, or an object of one's own with an ``observe`` method.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svcpath.diagnosis import diagnose
from svcpath.errors import UnknownTarget, UsageError
from svcpath.evidence.facts.addresses import family_of
from svcpath.evidence.facts.kubernetes.workload_names import KIND_OF
from svcpath.evidence.facts.request import Request
from svcpath.evidence.facts.source import Source
from svcpath.evidence.sources.bundle import BundleSource
from svcpath.evidence.sources.dns import DnsServer
from svcpath.evidence.sources.files import FilesSource
from svcpath.evidence.sources.manifests import ManifestBytes, ManifestSource
from svcpath.evidence.sources.recordings import recording
from svcpath.judge.tally import LayerResult
from svcpath.models.dataplanes import Packet, TrafficOrigin
from svcpath.models.drain.clock import OnSignal
from svcpath.models.drain.terms import GivenTerms
from svcpath.models.drain.timeline import timeline
from svcpath.models.resolvers import COMPARED, Answer, Query, World, canonical, compare
from svcpath.models.resolvers.worlds import from_row
from svcpath.reports import resolve as resolve_contract
from svcpath.reports.budget import BudgetContract, BudgetRequest, budget_report
from svcpath.reports.dataplane import (
    DriftContract,
    ShowContract,
    TraceContract,
    drift_report,
    show_report,
    trace_report,
)
from svcpath.reports.records import Report
from svcpath.reports.resolve import ResolveReport
from svcpath.reports.timeline import measured, seen_of
from svcpath.walk.driver import Driver
from svcpath.walk.names.surroundings import surroundings
from svcpath.walk.nodes.tables import NodeTables, TableDump
from svcpath.walk.planes import a_pod_of, origin_of, planes, pod_named

if TYPE_CHECKING:
    from svcpath.evidence.sources.kube import ClusterSource

__all__ = [
    "BudgetContract",
    "DriftContract",
    "LayerResult",
    "Report",
    "Request",
    "ResolveReport",
    "Source",
    "TraceContract",
    "budget",
    "bundle",
    "cluster",
    "diagnose",
    "drift",
    "files",
    "frontends",
    "manifests",
    "recording",
    "resolve",
    "trace",
]


def files(*paths: str | Path) -> FilesSource:
    """Files and folders as a Source; each file is recognised by its content.

    Raises SourceUnavailable when a path can't be read at all.
    """
    return FilesSource([Path(path) for path in paths])


def bundle(path: str | Path) -> BundleSource:
    """A bundle that ``svcpath collect`` wrote, as a Source. Raises FormatError for one that was changed."""
    return BundleSource.open(Path(path))


def cluster(
    *,
    context: str = "",
    kubeconfig: str = "",
    impersonate: str = "",
    timeout: float = 60.0,
    execs: bool = True,
    all_nodes: bool = False,
) -> ClusterSource:
    """A running cluster as a Source and context manager. ``timeout`` is in seconds, for everything together.

    Raises SourceUnavailable when it can't be reached, UsageError for a context that is not there.
    """
    from svcpath.evidence.sources.kube import ClusterSource, Options
    from svcpath.evidence.sources.kube_client import Access

    access = Access(context=context, kubeconfig=kubeconfig, impersonate=impersonate, timeout=timeout)
    return ClusterSource(access, Options(execs=execs, all_nodes=all_nodes))


class LiveWorld:
    """A live server as the world of a resolver model; each question is asked once."""

    def __init__(self, server: DnsServer) -> None:
        self._server = server
        self._known: dict[tuple[str, str, str], Answer] = {}

    def answer(self, query: Query) -> Answer:
        key = (query.name.lower(), query.type, query.transport)
        if key not in self._known:
            row = self._server.ask(query.name, query.type, query.transport)
            truncated = row.rcode == "TRUNCATED"
            self._known[key] = Answer("NOERROR", truncated=True) if truncated else from_row(row, query.type)
        return self._known[key]


def resolve(
    source: Source,
    names: Sequence[str],
    *,
    resolver: str = "",
    client: str = "",
    container: str = "",
    namespace: str = "",
    server: str = "",
) -> ResolveReport:
    """What resolvers make of ``names``: each query, its answer, the rule that led on, and the outcome.

    ``resolver`` is one resolver's name, or "" or "all" to compare. The client's resolv.conf, hosts and nsswitch.conf come
    from ``source``; the answers too (recorded ones, then the CoreDNS model over the objects, of a running cluster those of
    the namespaces that the names can lead to), unless ``server`` names a live DNS server ("IP" or "IP:PORT") to ask. Raises UsageError for an unknown resolver.
    """
    asked = Request.of(namespace=namespace, client=client, container=container)
    around = Driver(source).run(surroundings(asked, tuple(names)))
    world: World = LiveWorld(DnsServer(server)) if server else around.world
    chosen = COMPARED if resolver in ("", "all") else (canonical(resolver),)
    comparisons = tuple(compare(name, around.environment, world, chosen) for name in names)
    return resolve_contract.report(comparisons, around.environment.resolv_conf or "")


def frontends(source: Source, *, node: str = "") -> ShowContract:
    """Every frontend of every node's table with the backends a Pod's new connection goes to."""
    return show_report(Driver(source).run(planes(node)))


def drift(source: Source, *, node: str = "", namespace: str = "", service: str = "") -> DriftContract:
    """Every node's table against what Services and slices ask of it, both ways (contract ``svcpath.drift/v1``).

    >>> import svcpath
    >>> svcpath.drift(svcpath.recording("nftables")).rows
    ()
    """
    return drift_report(Driver(source).run(planes(node)), namespace, service)


def trace(
    source: Source,
    address: str,
    port: int,
    protocol: str = "TCP",
    *,
    client: str = "",
    namespace: str = "",
    node: str = "",
) -> tuple[TraceContract, ...]:
    """One packet through the nodes' tables, one trace a node (contract ``svcpath.trace/v1``).

    ``client`` is "pod/NAME" (its node's table is walked), "node/NAME", an address (of a Pod, of the node whose table it is, or
    from outside), or "" for some Pod of the node.
    Raises UnknownTarget when the evidence has no such Pod or table.
    """
    driver = Driver(source)
    kind, slash, name = client.partition("/")
    origin, sender = TrafficOrigin.POD, ""
    if slash and kind in ("node", "no", "nodes"):
        origin, node = TrafficOrigin.NODE, name
    elif slash and kind in ("pod", "po", "pods"):
        pod = driver.run(pod_named(name, namespace))
        node = node or pod.spec.node_name or ""
        sender = next((ip for ip in pod.ips if (":" in ip) == (":" in address)), "")
        origin = TrafficOrigin.NODE if pod.spec.host_network else TrafficOrigin.POD
    elif client:
        if not family_of(client):
            raise UsageError(f"--from {client!r}: give pod/NAME, node/NAME or an address")
        if (":" in client) != (":" in address):
            raise UsageError(f"--from {client} and --to {address} are not of one address family")
        origin, sender = TrafficOrigin.EXTERNAL, client
    all_planes = driver.run(planes(node))

    def packet(tables: NodeTables, dump: TableDump) -> Packet:
        whose, source = origin, sender
        if origin is TrafficOrigin.EXTERNAL:
            whose = origin_of(all_planes, tables, sender)
        elif origin is TrafficOrigin.POD and not sender:
            source = a_pod_of(all_planes, tables, dump.table, ipv6=":" in address)
        return Packet(source, whose, protocol, address, port, known=bool(client))

    found = tuple(
        trace_report(tables.label, plane.mode, dump.place, dump.table, packet(tables, dump))
        for tables, plane in all_planes.nodes
        if (dump := plane.holding(address)) is not None
    )
    if not found:
        raise UnknownTarget("no rule dump was read: record iptables-save and nft list ruleset on the node")
    return found


def manifests(*paths: str | Path) -> ManifestSource:
    """Files and folders as a Source that knows the line of each field, for ``budget``.

    Raises SourceUnavailable when a path can't be read at all.
    """
    return ManifestSource([Path(path) for path in paths])


def budget(
    source: ManifestSource | ManifestBytes,
    *,
    workload: str = "",
    namespace: str = "",
    longest_request: float | None = None,
    lb_removal: float | None = None,
    propagation: float | None = None,
    shutdown: float | None = None,
    on_signal: str = "",
    path: Sequence[str] = (),
    unlisted: Sequence[str] = (),
    recorded: GivenTerms | None = None,
) -> BudgetContract:
    """Whether the drain of every workload fits its grace period (contract ``svcpath.budget/v1``); terms in seconds.

    ``workload`` is a name or KIND/NAME; ``recorded`` what a recording measured; ``on_signal`` exit, finish, ignore or "" (not known); ``path`` names the
    containers that traffic goes through; ``unlisted`` resources that may stand in front and could not be listed.
    """
    kind, slash, name = workload.partition("/")
    given = GivenTerms(removal=lb_removal, propagation=propagation, longest=longest_request, shutdown=shutdown)
    if recorded is not None:
        given = given.filled(recorded)
    events = seen_of(source.watch_events())
    if events:
        given = given.filled(measured(timeline(events)))
    asked = BudgetRequest(
        given=given,
        on_signal=OnSignal(on_signal) if on_signal else None,
        path=tuple(path),
        unlisted=tuple(unlisted),
        kind=KIND_OF.get(kind.lower(), kind) if slash else "",
        name=name if slash else workload,
        namespace=namespace,
    )
    return budget_report(source.inventory(), asked, source.places)
