"""A node's table where the Service itself was not read: only its slices tell what belongs to it.

The table names the Service of an entry in some dialects (the comments of iptables and nft); elsewhere an entry is taken
for this Service's when it sends to one of its endpoints. Another Service may select the same Pods, so a backend in no
slice is a fault only where the table names this Service, and what is missing from the table decides nothing: the Service's traffic
policies are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.models.dataplanes import Backend, Frontend, Packet, PacketVerdict, ServiceTable, TrafficOrigin, trace
from svcpath.models.dataplanes.table import PacketOutcome, TableEntry
from svcpath.status import Confidence, Status
from svcpath.walk.layers.dataplane import repeat
from svcpath.walk.nodes.plane import Plane
from svcpath.walk.nodes.tables import TableDump
from svcpath.walk.scene import Scene


def check(view: Scene, planes: list[Plane], labels: list[str]) -> CheckResult:
    """``labels`` name the nodes of ``planes``, in the same order."""
    listed = {
        Backend(endpoint.address, port.port)
        for endpoint in view.endpoints
        for port in endpoint.slice.ports or ()
        if port.port is not None
    }
    findings: list[Finding] = []
    phrases: list[str] = []
    for label, plane in zip(labels, planes, strict=True):
        for dump in plane.dumps:
            for frontend, outcome, named in _mine(view, dump.table, listed):
                sent = set(outcome.addresses)
                where = f"{label} ({dump.table.dialect.value})"
                if sent <= listed:
                    backends = ", ".join(str(backend) for backend in sorted(sent)[:4])
                    phrases.append(f"{where} sends {frontend} to {backends}, which the slices list")
                else:
                    findings.append(_stale(view, dump, where, frontend, sorted(sent - listed), named=named))
    if not findings and not phrases:
        gap = Gap("dataplane", "the nodes' tables", "the Service they belong to was not read")
        return CheckResult(not_looked_at=(gap,), looked=False)
    return CheckResult(findings=tuple(findings), phrase="; ".join(phrases[:2]))


def _mine(view: Scene, table: ServiceTable, listed: set[Backend]) -> Iterator[tuple[Frontend, PacketOutcome, bool]]:
    """Entries that send to backends for this Service, and whether the table itself says whose they are."""
    owner = f"{view.request.namespace}/{view.request.service}"
    for frontend, entry in table.frontends.items():
        named = entry.service is not None
        if entry.service is not None and entry.service.partition(":")[0] != owner:
            continue
        outcome = _outcome(table, frontend, entry) if named or table.ruleset is None else None
        if outcome is None or outcome.verdict is not PacketVerdict.BACKENDS or outcome.undecided:
            continue
        if named or listed & set(outcome.addresses):
            yield frontend, outcome, named


def _outcome(table: ServiceTable, frontend: Frontend, entry: TableEntry) -> PacketOutcome | None:
    if entry.outcome is not None or frontend.is_node_port:
        return entry.outcome
    source = "2001:db8::77" if ":" in frontend.address else "198.51.100.77"
    return trace(table, Packet(source, TrafficOrigin.POD, frontend.protocol, frontend.address, frontend.port))


def _stale(
    view: Scene, dump: TableDump, where: str, frontend: Frontend, stale: list[Backend], *, named: bool
) -> Finding:
    backends = ", ".join(str(backend) for backend in stale[:4])
    service = dump.table.frontends[frontend].service or f"{view.request.namespace}/{view.request.service}"
    doubt = "" if named else f"; what was read does not show whether {frontend} belongs to {view.request.service}"
    return finding(
        "SP603",
        Status.FAIL if named else Status.INCONCLUSIVE,
        f"{where}: new connections to {frontend} go to {backends}, in no slice{doubt}",
        evidence=(
            Evidence(
                f"the table in {dump.observation.provenance.path or dump.observation.kind.value}", dump.observation
            ),
            *(Evidence(f"slice {slice_.fact.name} does not list {backends}", slice_) for slice_ in view.slices[:3]),
        ),
        confidence=Confidence.SUPPORTED if named else Confidence.POSSIBLE,
        names={"raw_check": repeat.of_backend(dump.table.dialect, service, frontend, stale[0]), "port": frontend.port},
    )
