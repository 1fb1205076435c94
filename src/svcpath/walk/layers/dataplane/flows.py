"""Connection tracking of this Service: what old flows still carry, against what the slices say now."""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.dataplanes import Frontend, NodeView, expected
from svcpath.models.dataplanes.conntrack import FlowKind, Judged, delete_command, imbalances, judge
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.scene import Scene, host_port

#: Port numbers and words that suggest long-lived HTTP/2.
GRPC = ("grpc", "h2c", "http2")


def check(view: Scene, service: Service, observed: tuple[Observation[Any], ...], attempts: Reply) -> CheckResult:
    """Stale entries are findings of the data plane; connections to what is leaving, or that keep others idle, of the
    lifecycle."""
    if not observed or not (view.slices or view.slices_reply.absent):
        return CheckResult(looked=False)
    findings: list[Finding] = []
    slices = [slice_.fact for slice_ in view.slices]
    for listing in observed:
        node = NodeView(name=listing.provenance.node if listing.provenance.node != "?" else "")
        items = expected(service, slices, node)
        judged = judge(listing.fact.flows, items)
        findings.extend(_stale(view, judged, listing))
        findings.extend(_untranslated(judged, listing))
        findings.extend(_removed(view, judged, listing))
        findings.extend(_unanswered(_still(judged, attempts), listing))
        findings.extend(_crowded(view, service, judged, items, listing))
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def _by_frontend(judged: tuple[Judged, ...], kind: FlowKind) -> dict[Frontend, list[Judged]]:
    found: dict[Frontend, list[Judged]] = {}
    for flow in judged:
        if flow.kind is kind:
            found.setdefault(flow.frontend, []).append(flow)
    return found


def _lines(flows: list[Judged]) -> str:
    return ", ".join(f"line {judged.flow.line}" for judged in flows[:4] if judged.flow.line)


def _stale(view: Scene, judged: tuple[Judged, ...], observed: Observation[Any]) -> list[Finding]:
    findings = []
    for frontend, stale in _by_frontend(judged, FlowKind.STALE_UDP).items():
        total = sum(1 for flow in judged if flow.frontend == frontend)
        right = [flow for flow in judged if flow.frontend == frontend and flow.kind is FlowKind.FINE]
        gone = ", ".join(dict.fromkeys(flow.backend.address for flow in stale))
        ports = ", ".join(f"sport={entry.flow.original.source_port}" for entry in stale[:4])
        unreplied = " [UNREPLIED]" if any(entry.flow.unreplied for entry in stale) else ""
        good = (
            f"; {', '.join(f'sport={entry.flow.original.source_port}' for entry in right[:4])} is right"
            if right
            else ""
        )
        rejects = (
            ("the rules say REJECT, but the flows are older than the rule and are never asked again",)
            if not view.usable
            else ()
        )
        findings.append(
            finding(
                "SP606",
                Status.FAIL,
                f"{len(stale)} of {count(total, 'UDP entry')} for {host_port(frontend.address, frontend.port)} still {'has' if len(stale) == 1 else 'have'} DNAT to {gone}, "
                f"which is in no slice of {view.named} ({ports}): stale{good}; delete with {delete_command(stale[0])}",
                evidence=(
                    Evidence(f"conntrack {_lines(stale)}: reply src={gone}, the removed Pod{unreplied}", observed),
                    *(Evidence(f"slice {slice_.fact.name} does not list {gone}", slice_) for slice_ in view.slices[:2]),
                ),
                confidence=Confidence.PROVEN,
                details=rejects,
                explaining=True,
                share=f"{len(stale)} of {count(total, 'flow')}",
                address=frontend.address,
                backend=stale[0].backend.address,
                port=frontend.port,
            )
        )
    return findings


def _untranslated(judged: tuple[Judged, ...], observed: Observation[Any]) -> list[Finding]:
    findings = []
    for frontend, untranslated in _by_frontend(judged, FlowKind.UNTRANSLATED_UDP).items():
        findings.append(
            finding(
                "SP606",
                Status.FAIL,
                f"{count(len(untranslated), 'UDP entry')} for {host_port(frontend.address, frontend.port)} without translation: "
                f"created before the node had a rule; delete with {delete_command(untranslated[0])}",
                evidence=(
                    Evidence(f"conntrack {_lines(untranslated)}: the reply comes from the cluster IP itself", observed),
                ),
                confidence=Confidence.SUPPORTED,
                address=frontend.address,
                backend=frontend.address,
                port=frontend.port,
            )
        )
    return findings


def _removed(view: Scene, judged: tuple[Judged, ...], observed: Observation[Any]) -> list[Finding]:
    findings = []
    kinds = ((FlowKind.REMOVED_TCP, "not an endpoint any more"), (FlowKind.DRAINING_TCP, "terminating"))
    for kind, word in kinds:
        for frontend, removed in _by_frontend(judged, kind).items():
            gone = ", ".join(dict.fromkeys(flow.backend.address for flow in removed))
            fresh = ", ".join(endpoint.address for endpoint in view.usable[:4]) or "none"
            going = (
                "1 ESTABLISHED flow still goes" if len(removed) == 1 else f"{len(removed)} ESTABLISHED flows still go"
            )
            findings.append(
                finding(
                    "SP703",
                    Status.WARN,
                    f"{going} to {gone} ({word}): expected for TCP; new connections go to {fresh} only",
                    evidence=(
                        Evidence(f"conntrack {_lines(removed)}: ESTABLISHED to {gone}", observed),
                        *(Evidence(f"slice {slice_.fact.name}", slice_) for slice_ in view.slices[:2]),
                    ),
                    confidence=Confidence.PROVEN,
                    layer="dataplane" if kind is FlowKind.REMOVED_TCP else "lifecycle",
                    cause_layer="lifecycle",
                    remedy="recycle the client's pool, or close on the server at shutdown",
                    address=frontend.address,
                    backend=removed[0].backend.address,
                )
            )
    return findings


def _still(judged: tuple[Judged, ...], attempts: Reply) -> tuple[Judged, ...]:
    """Without flows that wait for a reply of a backend that answers now: their SYN was sent before (nf_conntrack keeps one
    for two minutes), and what was wrong then is over."""
    newest: dict[tuple[str, int], bool] = {}
    for recorded in attempts.present:
        for attempt in recorded.fact.attempts:
            if recorded.fact.repeated and attempt.protocol == "TCP" and not attempt.padded:
                place = (canonical(attempt.address or attempt.host), attempt.port)
                good = attempt.outcome in ("ok", "http-error", "tls-error")
                newest[place] = good and newest.get(place, True)
    return tuple(
        flow
        for flow in judged
        if flow.kind is not FlowKind.RETURN_PATH
        or not (
            newest.get((flow.backend.address, flow.backend.port))
            and newest.get((flow.frontend.address, flow.frontend.port))
        )
    )


def _unanswered(judged: tuple[Judged, ...], observed: Observation[Any]) -> list[Finding]:
    """SYNs to an endpoint without a reply, and flows whose replies can't be distinguished."""
    findings = []
    for frontend, waiting in _by_frontend(judged, FlowKind.RETURN_PATH).items():
        backends = ", ".join(dict.fromkeys(str(flow.backend) for flow in waiting))
        total = sum(1 for flow in judged if flow.frontend == frontend)
        findings.append(
            finding(
                "SP621",
                Status.WARN,
                f"{len(waiting)} of {count(total, 'flow')} to {host_port(frontend.address, frontend.port)} {'waits' if len(waiting) == 1 else 'wait'} for a reply from {backends} "
                "(SYN_SENT, [UNREPLIED]): the packet was translated, and nothing came back through this node",
                evidence=(Evidence(f"conntrack {_lines(waiting)}: SYN_SENT [UNREPLIED]", observed),),
                confidence=Confidence.POSSIBLE,
                cause="the reply takes another way, or the backend does not answer",
                address=frontend.address,
            )
        )
    for frontend, clashing in _by_frontend(judged, FlowKind.CLASH).items():
        findings.append(
            finding(
                "SP621",
                Status.WARN,
                f"{count(len(clashing), 'flow')} to {host_port(frontend.address, frontend.port)} {'expects' if len(clashing) == 1 else 'expect'} the same reply as another flow: "
                "conntrack drops the first packet of the second (clash)",
                evidence=(Evidence(f"conntrack {_lines(clashing)}: reply tuple of another flow", observed),),
                confidence=Confidence.SUPPORTED,
                address=frontend.address,
            )
        )
    return findings


def _crowded(
    view: Scene, service: Service, judged: tuple[Judged, ...], items: tuple[Any, ...], observed: Observation[Any]
) -> list[Finding]:
    """All long-lived connections on one backend while others idle, for a port that looks like HTTP/2."""
    findings = []
    for imbalance in imbalances(judged, items):
        port = next((port for port in service.ports if port.port == imbalance.frontend.port), None)
        hint = _long_lived(port.name, port.app_protocol) if port else ""
        if not hint or service.spec.session_affinity == "ClientIP":
            continue
        busy = ", ".join(f"{backend.address} ({flows})" for backend, flows in imbalance.connections)
        total = sum(flows for _, flows in imbalance.connections)
        clients = {entry.flow.original.source for entry in judged if entry.frontend == imbalance.frontend}
        if len(imbalance.connections) != 1 or len(clients) < 2:
            continue
        only, _ = imbalance.connections[0]
        findings.append(
            finding(
                "SP705",
                Status.WARN,
                f"all {total} flows go to {only.address}, {count(len(view.ready), 'ready endpoint')}: per-connection balancing "
                f"with long-lived HTTP/2 (port {hint} suggests gRPC); use headless + round_robin, max connection age, or an L7 proxy",
                evidence=(
                    Evidence(f"conntrack: {busy}", observed),
                    Evidence(
                        f"no connection to {count(len(imbalance.idle), 'endpoint')}",
                        view.slices[0] if view.slices else None,
                    ),
                ),
                confidence=Confidence.SUPPORTED,
                layer="lifecycle",
                address=imbalance.frontend.address,
            )
        )
    return findings


def _long_lived(name: str, app_protocol: str | None) -> str:
    for word in (name.lower(), (app_protocol or "").lower()):
        if any(hint in word for hint in GRPC):
            return f'name "{name}"' if word == name.lower() else f'appProtocol "{app_protocol}"'
    return ""
