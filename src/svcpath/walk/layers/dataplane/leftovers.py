"""What rules of another mode, left on a node, do to this Service's packets.

kube-proxy cleans up after another mode only with --cleanup. Netfilter's rules and IPVS both see a packet, so a left REJECT
or an old backend counts whatever the table in use says; left rules that send to the very backends that the slices give
break nothing until the endpoints change.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Service
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.models.dataplanes import (
    Backend,
    Expectation,
    Packet,
    PacketOutcome,
    PacketVerdict,
    TrafficOrigin,
    expected,
    trace,
)
from svcpath.status import Confidence, Status
from svcpath.walk.layers.dataplane import repeat
from svcpath.walk.nodes.plane import Plane
from svcpath.walk.nodes.tables import NodeTables, TableDump
from svcpath.walk.scene import Scene


def check(view: Scene, service: Service, node: NodeTables, plane: Plane, *, right: bool) -> CheckResult:
    """``right``: the table in use was compared with the slices and agrees with them."""
    findings: list[Finding] = []
    for item in expected(service, [slice_.fact for slice_ in view.slices], node.view):
        if item.kind != "cluster-ip" or not _asked(view, item):
            continue
        for dump in plane.left:
            packet = Packet(_source(item), TrafficOrigin.POD, *_destination(item))
            outcome = trace(dump.table, packet)
            if outcome.verdict is not PacketVerdict.NONE:
                findings.append(_finding(node, plane, dump, item, outcome, right=right))
    gaps: tuple[Gap, ...] = ()
    if plane.used is None and plane.mode:
        why = f"the mode in use is {plane.mode} ({'; '.join(plane.declared_by)}), and its table was not read"
        gaps = (Gap("dataplane", f"the table of {node.label}", why),)
    return CheckResult(findings=tuple(findings), not_looked_at=gaps, looked=bool(findings))


def _asked(view: Scene, item: Expectation) -> bool:
    return not view.request.port or item.frontend.port in {port.port for port in view.service_ports}


def _source(item: Expectation) -> str:
    return "2001:db8::77" if ":" in item.frontend.address else "198.51.100.77"


def _destination(item: Expectation) -> tuple[str, str, int]:
    return item.frontend.protocol, item.frontend.address, item.frontend.port


def _finding(
    node: NodeTables, plane: Plane, dump: TableDump, item: Expectation, outcome: PacketOutcome, *, right: bool
) -> Finding:
    given = set(item.cluster)
    lost = _lost(outcome, given)
    breaks = bool(lost) or (outcome.verdict in (PacketVerdict.REJECT, PacketVerdict.DROP) and bool(given))
    line = next((rule.line for rule in reversed(outcome.rules) if rule.line), 0)
    where = f"{node.label}'s table ({dump.observation.provenance.path or dump.observation.kind.value}" + (
        f", line {line})" if line else ")"
    )
    left = f"{dump.table.dialect.value} {dump.table.variant}".strip()
    return finding(
        "SP607",
        Status.FAIL if breaks else Status.WARN,
        f"{node.label}: two data planes on the node: {f'{plane.mode}, in use, is right; ' if right else ''}"
        f"rules of another mode are left and catch {item.frontend}"
        f"{f' (line {line})' if line else ''}: {left}: {_does(outcome, lost)}",
        evidence=(Evidence(where, dump.observation),),
        confidence=Confidence.PROVEN if plane.used is not None and breaks else Confidence.SUPPORTED,
        details=(f"the mode in use is {plane.mode} ({'; '.join(plane.declared_by)}), but rules of another mode exist",),
        share=f"new connections to {item.frontend}" if breaks else "",
        names={"raw_check": repeat.of_frontend(dump.table.dialect, item.frontend)},
    )


def _lost(outcome: PacketOutcome, given: set[Backend]) -> list[Backend]:
    """Backends that the left rules send to and that the slices do not give."""
    return sorted(set(outcome.addresses) - given)


def _does(outcome: PacketOutcome, lost: list[Backend]) -> str:
    if outcome.verdict is PacketVerdict.REJECT:
        return "REJECT"
    if outcome.verdict is PacketVerdict.DROP:
        return "DROP"
    if lost:
        return f"they send to {', '.join(str(backend) for backend in lost[:4])}, which the slices do not give"
    backends = ", ".join(str(backend) for backend in outcome.addresses[:4])
    return f"they send to {backends}, as the slices say, until the endpoints change"
