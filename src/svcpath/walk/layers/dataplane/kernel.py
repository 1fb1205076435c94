"""Kernel settings of a node, IPVS persistence and hairpin: what they do to this Service's packets."""

from __future__ import annotations

from typing import Any

import msgspec

from svcpath.evidence.facts.addresses import canonical
from svcpath.evidence.facts.kubernetes import Service
from svcpath.evidence.facts.node import HairpinModes, Sysctls
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.models.dataplanes import Dialect, ServiceTable
from svcpath.models.dataplanes.conntrack import pinned
from svcpath.models.dataplanes.ipvs import connections as read_connections
from svcpath.models.dataplanes.kernel import Setting, Weight, judge, kernel_release, without_hairpin
from svcpath.status import Confidence, Status
from svcpath.walk.ask import Reply
from svcpath.walk.scene import Scene


def settings(
    service: Service | None,
    dialect: Dialect | None,
    sysctls: Reply,
    durations: Reply,
    kernels: tuple[str, ...],
    silent: str = "",
) -> CheckResult:
    """Settings that break or delay connections. A delay counts once connect times show it. ``silent``: the node on which no
    probe gets an answer; a setting by which it drops them explains Pods that are not ready."""
    findings: list[Finding] = []
    kernel = kernel_release(kernels)
    affinity = service is not None and service.spec.session_affinity == "ClientIP"
    for observed in sysctls.present:
        values: Sysctls = observed.fact
        for setting in judge(values, dialect, kernel=kernel, affinity=affinity):
            if setting.weight is Weight.DELAYS:
                findings.extend(_delay(setting, observed, durations))
            elif setting.weight is Weight.BREAKS and "quiescent" not in setting.key:
                starves = setting.drops and bool(silent) and observed.provenance.node == silent
                findings.append(_breaks(setting, observed, explaining=starves))
    judged = bool(sysctls.present) and dialect is not None
    phrase = "kernel settings as they should be" if judged and not findings and service is None else ""
    return CheckResult(findings=tuple(findings), phrase=phrase, looked=bool(findings) or bool(phrase))


def _breaks(setting: Setting, observed: Observation[Any], *, explaining: bool = False) -> Finding:
    return finding(
        "SP617",
        Status.FAIL,
        f"{setting.key} is {setting.value}: {setting.says}",
        evidence=(Evidence(f"{setting.key} = {setting.value}", observed),),
        confidence=Confidence.SUPPORTED,
        remedy=f"sysctl -w {setting.key}={setting.wanted}" if setting.wanted else "",
        explaining=explaining,
        key=setting.key,
    )


def _delay(setting: Setting, observed: Observation[Any], durations: Reply) -> list[Finding]:
    """One second more is the first retransmission of a SYN (RFC 6298: the initial timeout is 1 s)."""
    slow: list[float] = []
    total = 0
    seen: Observation[Any] | None = None
    for timing in durations.present:
        if timing.fact.what in ("connect", ""):
            late = [value for value in timing.fact.seconds if 0.95 <= value <= 1.3]
            quick = [value for value in timing.fact.seconds if value < 0.5]
            if late and len(late) + len(quick) == len(timing.fact.seconds):
                slow, total, seen = late, len(timing.fact.seconds), timing
    shown = f"; {len(slow)} of {total} connects take 1 s more (SYN retransmit), not 5 s (a lookup)" if slow else ""
    return [
        finding(
            "SP611",
            Status.FAIL if slow else Status.WARN,
            f"{'connect time clusters at +1 s, ' if slow else ''}{setting.key.rpartition('.')[2]}={setting.value}: "
            f"{setting.says}{shown}",
            evidence=(
                Evidence(f"{setting.key} = {setting.value}", observed),
                *(
                    (Evidence(f"connect times: {', '.join(f'{value:.3f}' for value in slow[:4])}", seen),)
                    if seen
                    else ()
                ),
            ),
            confidence=Confidence.SUPPORTED if slow else Confidence.POSSIBLE,
            names={"key": setting.key},
        )
    ]


def persistence(view: Scene, table: ServiceTable | None, connections: Reply, sysctls: Reply) -> CheckResult:
    """Clients whose IPVS template leads to a server that takes nothing new."""
    if table is None or table.dialect is not Dialect.IPVS:
        return CheckResult(looked=False)
    findings: list[Finding] = []
    usable = {endpoint.address for endpoint in view.usable}
    frontends = set(view.service.cluster_ips) if view.service else set()
    for listing in connections.present:
        for pin in pinned(read_connections(listing.fact.text)[0], table):
            if frontends and canonical(pin.frontend.address) not in frontends:
                continue
            if pin.backend.address in usable:
                continue
            weight = f"weight {pin.weight}" if pin.weight is not None else "not in the table"
            others = ", ".join(backend.address for backend in pin.others) or "none"
            setting = next(
                (
                    (look, values)
                    for look in sysctls.present
                    if (values := look.fact.values.get("net.ipv4.vs.expire_quiescent_template")) is not None
                ),
                None,
            )
            findings.append(
                finding(
                    "SP610",
                    Status.FAIL,
                    f"client {pin.client} is pinned by a persistence template to {pin.backend.address} ({weight}, not an endpoint); "
                    f"other clients reach {others}; set net.ipv4.vs.expire_quiescent_template=1",
                    evidence=(
                        Evidence(f"ipvsadm -Lcn line {pin.line}: template of {pin.client} to {pin.backend}", listing),
                        *(
                            (Evidence(f"net.ipv4.vs.expire_quiescent_template = {setting[1]}", setting[0]),)
                            if setting
                            else ()
                        ),
                        *(Evidence(f"slice {slice_.fact.name}", slice_) for slice_ in view.slices[:1]),
                    ),
                    confidence=Confidence.PROVEN if setting and setting[1].strip() == "0" else Confidence.SUPPORTED,
                    share=f"client {pin.client}",
                    client=pin.client,
                )
            )
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def bridge(view: Scene, modes: Reply, sysctls: Reply, attempts: Reply) -> CheckResult:
    """Pods on a Linux bridge whose packets pass no netfilter: a fault once a connection to the cluster IP hangs."""
    if not modes.present or view.service is None:
        return CheckResult(looked=False)
    hangs = [
        (attempt, recorded)
        for recorded in attempts.present
        for attempt in recorded.fact.attempts
        if attempt.outcome == "timeout" and canonical(attempt.host) in view.service.cluster_ips
    ]
    findings = []
    for observed in sysctls.present:
        for setting in judge(observed.fact, None, bridged=True):
            if setting.key.startswith("net.bridge.") and setting.weight is Weight.BREAKS:
                found = _breaks(setting, observed)
                tried = tuple(
                    Evidence(f"{attempt.client or 'the client'} to {attempt.host}:{attempt.port}: timeout", recorded)
                    for attempt, recorded in hangs[:1]
                )
                status = Status.FAIL if hangs else Status.WARN
                findings.append(msgspec.structs.replace(found, status=status, evidence=(*found.evidence, *tried)))
    return CheckResult(findings=tuple(findings), looked=bool(findings))


def hairpin(view: Scene, modes: Reply, attempts: Reply, table: ServiceTable | None) -> CheckResult:
    """A Pod that is its own backend needs its bridge port in hairpin mode."""
    off = without_hairpin([ports.fact for ports in modes.present])
    mixed = any(on for ports in modes.present for on in _modes(ports).ports.values())
    if not off or not view.usable:
        return CheckResult(looked=False)
    observed = next(ports for ports in modes.present if any(not on for on in _modes(ports).ports.values()))
    clients = {view.request.client.rpartition("/")[2]} if view.request.client else set()
    tried = [
        (attempt, recorded)
        for recorded in attempts.present
        for attempt in recorded.fact.attempts
        if attempt.outcome == "timeout" and view.service and canonical(attempt.host) in view.service.cluster_ips
    ]
    clients |= {attempt.client.rpartition("/")[2] for attempt, _ in tried if attempt.client not in ("", "other")}
    own = [endpoint for endpoint in view.usable if endpoint.who in clients or endpoint.address in clients]
    if not own:
        return CheckResult(looked=False)
    endpoint = own[0]
    only = (
        "the only endpoint is the client itself"
        if len(view.usable) == 1
        else f"1 of {len(view.usable)} endpoints is the client itself"
    )
    proven = any(attempt.client.rpartition("/")[2] == endpoint.who for attempt, _ in tried)
    # With ports of both kinds nothing tells which is this Pod's, unless its own connection failed.
    doubtful = mixed and not proven
    return CheckResult(
        findings=(
            finding(
                "SP613",
                Status.WARN if doubtful else Status.FAIL,
                f"hairpin: {only} ({endpoint.who}, {endpoint.address}) and the bridge port {off[0]} has hairpin_mode 0; "
                "only self traffic fails",
                evidence=(
                    Evidence(f"{off[0]}: hairpin_mode 0", observed),
                    *(
                        Evidence(f"{attempt.client} to {attempt.host}:{attempt.port}: {attempt.outcome}", recorded)
                        for attempt, recorded in tried[:1]
                    ),
                    Evidence(
                        f"slice {endpoint.slice.name}: {endpoint.address} is {endpoint.who}", endpoint.observation
                    ),
                ),
                confidence=Confidence.PROVEN
                if proven and not mixed
                else Confidence.POSSIBLE
                if doubtful
                else Confidence.SUPPORTED,
                details=("the rule that MASQUERADEs to-self traffic is present",) if _masquerades_self(table) else (),
                share=f"{endpoint.who} to itself",
                names={"pod": endpoint.who},
            ),
        )
    )


def _modes(ports: Observation[HairpinModes]) -> HairpinModes:
    return ports.fact


def _masquerades_self(table: ServiceTable | None) -> bool:
    if table is None or table.ruleset is None:
        return False
    return (
        any("KUBE-SEP" in chain for nat in table.ruleset.tables.values() for chain in nat.chains)
        or table.dialect is Dialect.NFTABLES
    )
