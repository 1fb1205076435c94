"""The Pods and nodes behind the endpoints: running at all, and on a node that still reports.

Source: pkg/controller/nodelifecycle (v1.35): a node that stops reporting keeps its Pods' endpoints ready until
node-monitor-grace-period has passed and its Ready condition turns Unknown, after which Pods are marked not ready. Ready
False is written by the node's own kubelet: that node is alive.
"""

from __future__ import annotations

from fractions import Fraction

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Node
from svcpath.evidence.facts.need import Kind, Need
from svcpath.evidence.facts.node import NodeReport
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.percent import percent
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking, Reply
from svcpath.walk.scene import EndpointView, Scene


def check(view: Scene, attempts: Reply) -> Asking[CheckResult]:
    nodes = yield from ask.nodes()
    reports = yield from ask.one(Need(Kind.NODE_REPORT))
    findings = [*_dead_nodes(view, nodes, reports, _answering(attempts)), *_dead_pods(view)]
    looked = any(endpoint.pod is not None for endpoint in view.usable)
    hosts = [endpoint.who for endpoint in view.usable if endpoint.pod and endpoint.pod.fact.spec.host_network]
    phrase = f"{', '.join(hosts[:2])} in the node's network" if hosts else ""
    if not phrase and looked and not findings:
        pods = len({endpoint.who for endpoint in view.usable if endpoint.pod})
        phrase = f"{count(pods, 'Pod')} running"
    return CheckResult(findings=tuple(findings), phrase=phrase, looked=bool(findings) or looked)


def _answering(attempts: Reply) -> set[str]:
    """Addresses whose newest recorded connection was taken."""
    newest: dict[str, bool] = {}
    for recorded in attempts.present:
        for attempt in recorded.fact.attempts:
            newest[canonical(attempt.address or attempt.host)] = attempt.outcome in (
                "ok",
                "http-error",
                "tls-error",
                "stalled",
            )
    return {address for address, taken in newest.items() if taken}


_Reasons = dict[str, tuple[str, Observation[object]]]


def _dead_nodes(view: Scene, nodes: Reply, reports: Reply, answering: set[str]) -> list[Finding]:
    silent: _Reasons = {}
    unwell: _Reasons = {}
    for observed in nodes.present:
        node: Node = observed.fact
        ready = next((condition for condition in node.status.conditions or () if condition.type == "Ready"), None)
        if ready is not None and ready.status != "True":
            beat = f", last heartbeat {ready.last_heartbeat_time}" if ready.last_heartbeat_time else ""
            reported = unwell if ready.status == "False" else silent
            reported[node.name] = (f"Ready is {ready.status} ({ready.reason or 'no reason'}{beat})", observed)
    for observed in reports.present:
        for report in observed.fact.nodes:
            if _is_down(report):
                note = f" {report.note}" if report.note else ""
                if report.name not in unwell:
                    silent.setdefault(report.name, (f"{report.status}{note}", observed))
    lost = [
        endpoint
        for endpoint in view.usable
        if (endpoint.endpoint.node_name or "") in silent and endpoint.address not in answering
    ]
    if not lost:
        return _unwell(view, unwell)
    total = len(view.usable)
    names = list(dict.fromkeys(endpoint.endpoint.node_name or "" for endpoint in lost))
    backends = ", ".join(endpoint.address for endpoint in lost[:4])
    # A bare NotReady in a list of nodes may be the node's own word: then it is not silent, and its Pods may answer.
    what = "is not ready" if silent[names[0]][0] == "NotReady" else "has stopped reporting"
    return [
        finding(
            "SP504",
            Status.FAIL,
            f"node {', '.join(names)} {what}: {silent[names[0]][0]}; the slice still lists {backends} "
            f"on it, expect timeouts of {percent(Fraction(len(lost), total))} of new connections until it is marked NotReady and the slice follows",
            evidence=(
                *(Evidence(f"node {name}: {silent[name][0]}", silent[name][1]) for name in names[:3]),
                *(
                    Evidence(
                        f"slice {endpoint.slice.name}: {endpoint.address} on {endpoint.endpoint.node_name}, ready",
                        endpoint.observation,
                    )
                    for endpoint in lost[:3]
                ),
            ),
            confidence=Confidence.SUPPORTED,
            details=("the data plane follows the slice and is right",),
            share=f"{len(lost)} of {count(total, 'backend')}",
            node=names[0],
        )
    ]


def _unwell(view: Scene, unwell: _Reasons) -> list[Finding]:
    """The node's own kubelet says NotReady: it is alive, and its Pods may go on answering."""
    there = [endpoint for endpoint in view.usable if (endpoint.endpoint.node_name or "") in unwell]
    if not there:
        return []
    name = there[0].endpoint.node_name or ""
    places = ", ".join(endpoint.address for endpoint in there[:4])
    return [
        finding(
            "SP504",
            Status.WARN,
            f"node {name} reports itself not ready: {unwell[name][0]}; {places} on it may stop answering and leave the slice",
            evidence=(Evidence(f"node {name}: {unwell[name][0]}", unwell[name][1]),),
            confidence=Confidence.POSSIBLE,
            share=f"{len(there)} of {count(len(view.usable), 'backend')}",
            node=name,
        )
    ]


def _is_down(report: NodeReport) -> bool:
    status = report.status.partition(",")[0]
    return bool(report.name) and status in ("NotReady", "Unknown")


def _dead_pods(view: Scene) -> list[Finding]:
    """Usable endpoints whose Pod plainly does not run: another phase, or no running container."""
    bad: list[tuple[EndpointView, str]] = []
    for endpoint in view.usable:
        if endpoint.pod is None:
            continue
        pod = endpoint.pod.fact
        if pod.finished:
            bad.append((endpoint, f"{pod.status.phase} {pod.status.reason or ''}".strip()))
        elif pod.status.phase == "Pending":
            bad.append((endpoint, "Pending"))
        elif pod.status.container_statuses and not any(
            container.state is None or container.state.running for container in pod.status.container_statuses
        ):
            waiting = next(
                (
                    container.state.waiting.reason
                    for container in pod.status.container_statuses
                    if container.state and container.state.waiting
                ),
                None,
            )
            bad.append((endpoint, f"no container runs ({waiting or 'terminated'})"))
    if not bad:
        return []
    published = view.service is not None and bool(view.service.spec.publish_not_ready_addresses)
    listed = "; ".join(f"{endpoint.who} ({endpoint.address}): {why}" for endpoint, why in bad[:3])
    return [
        finding(
            "SP505",
            Status.FAIL,
            f"{len(bad)} of {len(view.usable)} {'backend' if len(view.usable) == 1 else 'backends'} {'does' if len(bad) == 1 else 'do'} not run: {listed}"
            + (" (published before they are ready, as the Service asks)" if published else ""),
            evidence=tuple(Evidence(f"Pod {endpoint.who}: {why}", endpoint.pod) for endpoint, why in bad[:3]),
            confidence=Confidence.PROVEN,
            share=f"{len(bad)} of {count(len(view.usable), 'backend')}",
            namespace=view.request.namespace,
            pod=bad[0][0].who,
        )
    ]
