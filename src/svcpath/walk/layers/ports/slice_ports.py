"""Service port against slice port: joined by name and protocol, never by number.

Source: pkg/proxy/endpointslicecache.go (v1.35): ServicePortName is namespace, name and *port name*, with the protocol.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import EndpointPort, EndpointSlice, ServicePort
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.slices import CONTROLLER
from svcpath.walk.subjects.target_ports import is_named, target_port


def check(view: Scene) -> CheckResult:
    service = view.service
    if service is None or not view.slices:
        return CheckResult(looked=False)
    filled = [slice_ for slice_ in view.slices if slice_.fact.endpoints]
    if not filled:
        return CheckResult(looked=False)
    findings: list[Finding] = []
    for port in view.service_ports:
        findings.extend(_join(view, port, filled))
        findings.extend(_numbers(view, port))
    phrase = _phrase(view)
    return CheckResult(
        findings=tuple(findings), phrase="" if findings else phrase, looked=bool(findings or phrase or view.usable)
    )


def _phrase(view: Scene) -> str:
    """ "80/TCP -> 8080" for each port asked for, up to three."""
    parts = []
    for port in view.service_ports[:3]:
        numbers = sorted(
            {
                found.port
                for endpoint in view.usable
                if (found := endpoint.port_for(port)) is not None and found.port is not None
            }
        )
        if numbers:
            parts.append(f"{port.port}/{port.protocol} -> {', '.join(str(number) for number in numbers)}")
    return ", ".join(parts)


def _label(port: EndpointPort) -> str:
    return f'"{port.name or ""}" {port.port if port.port is not None else "no number"}/{port.protocol or "TCP"}'


def _join(view: Scene, port: ServicePort, filled: list[Observation[EndpointSlice]]) -> list[Finding]:
    service = view.service
    joined = [slice_ for slice_ in filled if _has(slice_.fact, port)]
    if service is None or (service.is_headless and not service.ports):
        return []
    if joined:
        return [] if view.usable_for(port) or not view.usable else [_none_ready(view, port, joined)]
    candidates = [slice_ for slice_ in filled if any(entry.port is not None for entry in slice_.fact.ports or ())]
    if not candidates:
        if is_named(port) and view.selected:
            return []  # named.py says which Pods do not have the name
        return [_portless(view, port, filled)]
    slice_ = candidates[0]
    other = next(entry for entry in slice_.fact.ports or () if entry.port is not None)
    refused = "; the node's REJECT rule refuses connections" if service.cluster_ips else ""
    if (other.name or "") == port.name:
        return [
            finding(
                "SP408",
                Status.FAIL,
                f"Service port {port.port} is {port.protocol}, slice {slice_.fact.name} carries {_label(other)}: no backend{refused}",
                evidence=_pair(view, port, slice_, other),
                confidence=Confidence.PROVEN,
                share="all new connections",
                remedy=f"protocol: {other.protocol or 'TCP'} in the Service port, or {port.protocol} in the slice",
                namespace=service.namespace,
                pod=view.usable[0].who if view.usable else service.name,
                port_hex=f"{other.port or 0:04X}",
                state_hex="0A" if port.protocol == "TCP" else "07",
                raw_tables="/proc/net/tcp /proc/net/tcp6" if port.protocol == "TCP" else "/proc/net/udp /proc/net/udp6",
            )
        ]
    return [
        finding(
            "SP407",
            Status.FAIL,
            f'slice port name "{other.name or ""}" != Service port name "{port.name}": no backend{refused}; '
            "names must match exactly, numbers do not matter",
            evidence=_pair(view, port, slice_, other),
            confidence=Confidence.PROVEN,
            share="all new connections",
            remedy=f'name the port of slice {slice_.fact.name} "{port.name}"'
            + (" (leave the name out)" if not port.name else ""),
            namespace=service.namespace,
            slice=slice_.fact.name,
            wanted=port.name or '""',
        )
    ]


def _pair(
    view: Scene, port: ServicePort, slice_: Observation[EndpointSlice], other: EndpointPort
) -> tuple[Evidence, ...]:
    return (
        Evidence(f'Service {view.named}: port "{port.name}" {port.port}/{port.protocol}', view.service_observation),
        Evidence(f"slice {slice_.fact.name}: port {_label(other)}", slice_),
    )


def _has(slice_: EndpointSlice, port: ServicePort) -> bool:
    return any(
        (entry.name or "") == port.name and (entry.protocol or "TCP") == port.protocol and entry.port is not None
        for entry in slice_.ports or ()
    )


def _portless(view: Scene, port: ServicePort, filled: list[Observation[EndpointSlice]]) -> Finding:
    names = ", ".join(slice_.fact.name for slice_ in filled[:3])
    target = f" (targetPort {port.target_port})" if port.target_port is not None else ""
    return finding(
        "SP411",
        Status.FAIL,
        f"slices {names} carry no port for Service port {port.port}/{port.protocol}{target}: "
        f"{count(len(view.ready), 'ready address')}, 0 usable (no port)",
        evidence=tuple(Evidence(f"slice {slice_.fact.name}: ports empty", slice_) for slice_ in filled[:3]),
        confidence=Confidence.PROVEN,
        share="all new connections",
        namespace=view.request.namespace,
        service=view.request.service,
    )


def _none_ready(view: Scene, port: ServicePort, joined: list[Observation[EndpointSlice]]) -> Finding:
    """Readiness counts per Service port: ready endpoints without the port do not help those with it."""
    waiting = [endpoint.who for endpoint in view.distinct if endpoint.port_for(port) is not None]
    return finding(
        "SP411",
        Status.FAIL,
        f"no ready endpoint ({len(view.usable)} in all) carries a port for Service port {port.port}/{port.protocol}, and none that "
        f"carries it is ready ({', '.join(waiting[:3])}): no backend",
        evidence=tuple(Evidence(f"slice {slice_.fact.name}: no endpoint ready", slice_) for slice_ in joined[:3]),
        confidence=Confidence.PROVEN,
        share="all new connections",
        namespace=view.request.namespace,
        service=view.request.service,
    )


def _numbers(view: Scene, port: ServicePort) -> list[Finding]:
    """The slice's number against what targetPort gives in that endpoint's Pod. Hand-made slices are free to differ."""
    service = view.service
    if service is None or not service.spec.selector:
        return []
    for endpoint in view.usable:
        found = endpoint.port_for(port)
        if found is None:
            continue
        if endpoint.pod is not None and endpoint.pod.fact.spec.containers:
            wanted = target_port(endpoint.pod.fact, port)
        elif not is_named(port):
            wanted = port.target_port if isinstance(port.target_port, int) and port.target_port else port.port
        else:
            wanted = None
        if wanted is None or wanted == found.port:
            continue
        by = endpoint.slice.managed_by
        lag = (
            "the slice is behind the Service or the Pod"
            if by == CONTROLLER
            else f"the slice is managed by {by}"
            if by
            else "the slice says of no controller that it manages it"
        )
        return [
            finding(
                "SP409",
                Status.WARN,
                f"slice {endpoint.slice.name} carries port {found.port} where targetPort {port.target_port} gives {wanted} "
                f"in {endpoint.who}: {lag}",
                evidence=(
                    Evidence(f"Service {service.name}: targetPort {port.target_port}", view.service_observation),
                    Evidence(f"slice {endpoint.slice.name}: port {found.port}", endpoint.observation),
                ),
                confidence=Confidence.PROVEN,
                namespace=service.namespace,
                service=service.name,
            )
        ]
    return []
