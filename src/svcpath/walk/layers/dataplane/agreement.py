"""The table against what Service and slices ask of that node: drift of this Service, both ways, as findings."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Service
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding, Gap
from svcpath.models.dataplanes import (
    Dialect,
    Difference,
    DifferenceKind,
    Frontend,
    StaleCause,
    TrafficOrigin,
    drift,
    expected,
)
from svcpath.percent import percent
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.layers.dataplane import repeat
from svcpath.walk.layers.dataplane.agreed import agrees, no_reject, redirected
from svcpath.walk.layers.dataplane.compared import Compared, rule_at
from svcpath.walk.layers.dataplane.together import apart
from svcpath.walk.nodes.differences import BREAKS, CODES
from svcpath.walk.nodes.plane import Plane
from svcpath.walk.nodes.tables import NodeTables
from svcpath.walk.scene import Scene

#: Kinds whose rule may stand in any chain: only the whole table shows that it is there.
WHOLE_TABLE = frozenset(
    {
        DifferenceKind.FOREIGN_RULE,
        DifferenceKind.MASQUERADE_MISSING,
        DifferenceKind.MASQUERADE_UNEXPECTED,
        DifferenceKind.HAIRPIN_MISSING,
    }
    | {
        DifferenceKind.AFFINITY_MISSING,
        DifferenceKind.AFFINITY_UNEXPECTED,
        DifferenceKind.AFFINITY_TIMEOUT,
        DifferenceKind.SHARE_LOST,
        DifferenceKind.UNEVEN_SHARES,
    }
)


def compare(view: Scene, service: Service, node: NodeTables, plane: Plane) -> list[Compared]:
    """Each table in use against what Service and slices ask of the node."""
    compared = []
    for dump in plane.dumps:
        report = drift(
            dump.table,
            [service],
            [slice_.fact for slice_ in view.slices],
            node.view,
            times=plane.times,
            complete=False,
        )
        elsewhere = plane.without(dump)
        covered = tuple(gap for gap in report.not_covered if gap.family not in elsewhere)
        compared.append(Compared(node, dump, msgspec.structs.replace(report, not_covered=covered), plane))
    return compared


def check(view: Scene, service: Service, compared: list[Compared]) -> CheckResult:
    findings: list[Finding] = []
    gaps: list[Gap] = []
    phrases: list[str] = []
    seen: set[tuple[str, DifferenceKind, object, object]] = set()
    for comparison in compared:
        rows = [row for row in comparison.report.rows if row.kind in CODES and _concerns(view, service, row)]
        for row in rows:
            key = (comparison.node.label, row.kind, row.frontend, row.backend)
            if key not in seen:
                seen.add(key)
                findings.append(_finding(view, comparison, row))
        mine = {
            item.frontend
            for item in expected(service, [slice_.fact for slice_ in view.slices], comparison.node.view)
            if (6 if ":" in item.frontend.address else 4) in comparison.dump.table.families
        }
        if comparison.report.undecided and not rows:
            findings.append(_undecided(comparison))
        elif taken := redirected(comparison, mine):
            phrases.append(f"{comparison.node.label}: {taken}")
        elif not rows and mine:
            phrases.append(agrees(view, service, comparison))
            if not comparison.plane.left:
                findings.extend(no_reject(view, service, comparison))
        gaps.extend(
            Gap("dataplane", f"{gap.text} on {comparison.node.label}", "the dump does not hold it")
            for gap in comparison.report.not_covered
            if gap.frontend is None
        )
    return CheckResult(tuple(findings), tuple(gaps), "; ".join(dict.fromkeys(phrases)), looked=bool(compared))


def is_right(view: Scene, service: Service, comparison: Compared) -> bool:
    """Whether the table in use holds for this Service what its slices ask."""
    return not comparison.report.undecided and not any(_concerns(view, service, row) for row in comparison.report.rows)


def _concerns(view: Scene, service: Service, row: Difference) -> bool:
    """Whether a row is about this Service, the ports asked for, and the client's kind of traffic."""
    if row.frontend is None:
        return row.kind is DifferenceKind.FOREIGN_RULE
    if not _is_of(service, row.service.partition(":")[0], row.frontend):
        return False
    if view.request.port:
        numbers = {port.port for port in view.service_ports} | {port.node_port for port in view.service_ports}
        if row.frontend.port not in numbers:
            return False
    if view.request.client and row.origins and TrafficOrigin.POD not in row.origins:
        return False
    return not (view.request.client_node and row.origins and TrafficOrigin.NODE not in row.origins)


def _is_of(service: Service, owner: str, frontend: Frontend) -> bool:
    """A row of rules without comments names no owner: then the address tells, or the port on a node's own address."""
    if owner == f"{service.namespace}/{service.name}" or frontend.address in service.cluster_ips:
        return True
    if owner:
        return False
    status = service.status.load_balancer if service.status else None
    balanced = {ingress.ip for ingress in (status.ingress if status else None) or ()}
    others = {canonical(address) for address in (*(service.spec.external_ips or ()), *balanced) if address}
    return frontend.address in others or frontend.port in {port.node_port for port in service.ports if port.node_port}


def _finding(view: Scene, comparison: Compared, row: Difference) -> Finding:
    code = CODES[row.kind]
    if row.cause is StaleCause.LATE and row.kind in (
        DifferenceKind.STALE,
        DifferenceKind.MISSING,
        DifferenceKind.WRONG_PORT,
        DifferenceKind.WRONG_TARGET,
    ):
        code = "SP605"
    status = Status.FAIL if row.kind in BREAKS or _masquerade_breaks(row) else Status.WARN
    frontend = row.frontend
    place = str(frontend) if frontend else "every Service"
    if _from_inside_alone(view, comparison, row):
        # The outside's traffic is dropped as the policy asks (SP608 says so); few clients inside use such an address.
        status = Status.WARN
        place += " from inside the cluster"
    slices = tuple(
        Evidence(
            f"slice {slice_.fact.name} does not list {row.backend}"
            if row.kind is DifferenceKind.STALE and not row.note
            else f"slice {slice_.fact.name}",
            slice_,
        )
        for slice_ in view.slices
        if not row.slice or slice_.fact.name == row.slice
    )
    names = {"raw_check": _check(comparison, row), "port": frontend.port if frontend else 0}
    late = apart(row.kind, comparison.dump.observation, view.slices)
    return finding(
        code,
        status,
        f"{comparison.node.label}: {_sentence(row, place, _given(view, comparison, row))}",
        evidence=(rule_at(comparison, row.rule), *slices[:3]),
        confidence=Confidence.SUPPORTED if comparison.report.undecided or late else Confidence.PROVEN,
        details=(*_details(row, comparison), *((late,) if late else ())),
        share=f"{_share(row)} of new connections to {place}" if row.share is not None else "",
        names=names,
    )


def _from_inside_alone(view: Scene, comparison: Compared, row: Difference) -> bool:
    """Whether the row is about Pods and the node itself at an outside address that a Local policy closes to the outside,
    and no such client was named."""
    if view.service is None or view.request.client or view.request.client_node or TrafficOrigin.EXTERNAL in row.origins:
        return False
    if row.kind not in (DifferenceKind.UNEXPECTED_DROP, DifferenceKind.FRONTEND_MISSING):
        return False
    for item in expected(view.service, [slice_.fact for slice_ in view.slices], comparison.node.view):
        if item.frontend == row.frontend:
            return item.external and item.local_only and not item.local
    return False


def _check(comparison: Compared, row: Difference) -> str:
    """The command that looks at what the row says again."""
    dialect, frontend = comparison.dump.table.dialect, row.frontend
    if frontend is None or row.kind in WHOLE_TABLE:
        return repeat.listing(dialect, frontend)
    if row.backend is not None and CODES[row.kind] in ("SP603", "SP604"):
        return repeat.of_backend(dialect, row.service, frontend, row.backend)
    return repeat.of_frontend(dialect, frontend)


def _masquerade_breaks(row: Difference) -> bool:
    """Without masquerade an outside client's reply leaves by another way than it came."""
    return row.kind is DifferenceKind.MASQUERADE_MISSING and TrafficOrigin.EXTERNAL in row.origins


def _share(row: Difference) -> str:
    return percent(row.share) if row.share is not None else ""


def _given(view: Scene, comparison: Compared, row: Difference) -> str:
    """The backends that the slices give this frontend, as text."""
    service = view.service
    if service is None:
        return ""
    for item in expected(service, [slice_.fact for slice_ in view.slices], comparison.node.view):
        if item.frontend == row.frontend:
            return ", ".join(str(backend) for backend in item.chosen[:6])
    return ""


def _sentence(row: Difference, place: str, given: str) -> str:
    backend = str(row.backend) if row.backend else ""
    share = f"{_share(row)} of " if row.share is not None else ""
    rule = f" (line {row.rule})" if row.rule else ""
    age = f" since {row.age:.0f} s" if row.age is not None else ""
    match row.kind:
        case DifferenceKind.STALE:
            return f"STALE {place}: {share}new connections go to {backend}, {row.note or 'in no slice'}{age}{rule}"
        case DifferenceKind.MISSING:
            return f"MISSING {place}: the slices give {given}; the dump does not have {backend} (compared by ip:port)"
        case DifferenceKind.WRONG_PORT | DifferenceKind.WRONG_TARGET:
            return f"WRONG PORT {place}: {share}new connections go to {backend}, the slices give {row.wanted}{rule}"
        case DifferenceKind.UNEXPECTED_REJECT:
            return f"REJECT for {place} although the slices give backends{rule}"
        case DifferenceKind.UNEXPECTED_DROP:
            return f"DROP for {place} although the slices give backends{rule}"
        case DifferenceKind.FRONTEND_MISSING:
            return f"no rule takes {place}; packets are not translated"
        case DifferenceKind.FOREIGN_RULE:
            return f"a rule that is not kube-proxy's catches {place} first{rule}" + (
                f": {row.note}" if row.note else ""
            )
        case _:
            at_backend = f" for {backend}" if backend else ""
            return f"{row.kind.value} at {place}{at_backend}{rule}" + (f": {row.note}" if row.note else "")


def _details(row: Difference, comparison: Compared) -> tuple[str, ...]:
    match row.cause:
        case StaleCause.LATE:
            rules = (
                (f"{count(comparison.plane.rules, 'nat rule')}: full syncs grow with them",)
                if comparison.plane.rules
                else ()
            )
            return (f"stale because not synced yet, not because of a wrong slice: {_sync(row, comparison)}", *rules)
        case StaleCause.STUCK:
            return (f"kube-proxy is stuck: {_sync(row, comparison)}, longer ago than its sync period",)
        case StaleCause.ALTERED:
            return (
                "kube-proxy has synced since the slice changed: something else altered the table; a full sync would fix it",
            )
        case _:
            if row.kind is DifferenceKind.MISSING and row.backend and comparison.dump.table.dialect is Dialect.IPTABLES:
                return ("kube-proxy before #101935 (2021) deduplicated endpoints by IP and lost one of two ports",)
            return ()


def _sync(row: Difference, comparison: Compared) -> str:
    """ "last sync (09:59:20Z) is older than the slice change (10:00:00Z) and a sync is queued"."""
    times = comparison.plane.times
    if times.last_sync is None:
        return "the slice changed after the last sync"
    change = comparison.plane.changes.get(row.slice)
    changed = f" ({_clock(change)})" if change is not None else ""
    queued = " and a sync is queued" if times.last_queued is not None and times.last_queued > times.last_sync else ""
    return f"last sync ({_clock(times.last_sync)}) is older than the slice change{changed}{queued}"


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M:%SZ")


def _undecided(comparison: Compared) -> Finding:
    unread = [gap for gap in comparison.report.undecided if gap.line]
    absent = "; ".join(gap.text for gap in comparison.report.undecided if not gap.line)
    parts = [absent] if absent else []
    if unread:
        lines = "; ".join(f"line {gap.line}: {gap.text}" for gap in unread[:3])
        not_read = "a line of the table was" if len(unread) == 1 else f"{len(unread)} lines of the table were"
        parts.append(f"{not_read} not understood ({lines})")
    return finding(
        "SP615",
        Status.INCONCLUSIVE,
        f"{comparison.node.label}: {'; '.join(parts)}",
        evidence=(rule_at(comparison, comparison.report.undecided[0].line),),
        confidence=None,
    )
