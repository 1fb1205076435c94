"""A named targetPort, looked up in every Pod: missing, missing in some, twice in one, with different numbers."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Pod, ServicePort
from svcpath.evidence.facts.observation import Observation
from svcpath.findings.catalogue import finding
from svcpath.findings.finding import CheckResult, Evidence, Finding
from svcpath.plural import count
from svcpath.status import Confidence, Status
from svcpath.walk.scene import Scene, host_port
from svcpath.walk.subjects.selectors import as_text
from svcpath.walk.subjects.target_ports import declared, is_named, named_ports, target_port


def check(view: Scene) -> CheckResult:
    service = view.service
    if service is None:
        return CheckResult(looked=False)
    pods = [pod for pod in view.selected if pod.fact.spec.containers]
    findings: list[Finding] = []
    phrases: list[str] = []
    for port in view.service_ports:
        if not is_named(port):
            continue
        if pods:
            findings.extend(_lookup(view, port, pods))
            phrases.extend(_numbers(port, pods))
    return CheckResult(findings=tuple(findings), phrase="; ".join(phrases), looked=bool(findings or phrases))


def _lookup(view: Scene, port: ServicePort, pods: list[Observation[Pod]]) -> list[Finding]:
    name = str(port.target_port)
    with_name = [pod for pod in pods if target_port(pod.fact, port) is not None]
    without = [pod for pod in pods if target_port(pod.fact, port) is None]
    values = {
        "namespace": view.request.namespace,
        "selector": as_text((view.service.spec.selector if view.service else None) or {}),
        "target": name,
        "protocol": port.protocol,
    }
    if without and not with_name:
        return [_missing(view, port, without, values)]
    findings = []
    if without:
        gone = ", ".join(pod.fact.name for pod in without[:4])
        findings.append(
            finding(
                "SP402",
                Status.WARN,
                f'targetPort name "{name}" is missing in {len(without)} of {count(len(pods), "Pod")} ({gone}): '
                "they get no connections",
                evidence=tuple(Evidence(_declares(pod.fact), pod) for pod in (*without[:3], *with_name[:1])),
                confidence=Confidence.PROVEN,
                names={**values, "pod": without[0].fact.name},
            )
        )
    for pod in with_name:
        numbers = named_ports(pod.fact, name, port.protocol)
        if len(numbers) > 1:
            rest = ", ".join(str(number) for number in numbers[1:])
            findings.append(
                finding(
                    "SP406",
                    Status.WARN,
                    f'duplicate port name "{name}" in one Pod ({pod.fact.name}): only {numbers[0]} (first) is used, '
                    f"{rest} is unreachable through the Service; first match wins, by design",
                    evidence=(Evidence(_declares(pod.fact), pod),),
                    confidence=Confidence.PROVEN,
                    names={**values, "pod": pod.fact.name},
                )
            )
            break
    return findings


def _missing(view: Scene, port: ServicePort, pods: list[Observation[Pod]], values: dict[str, str]) -> Finding:
    name = str(port.target_port)
    usable = [endpoint for endpoint in view.ready if endpoint.port_for(port)]
    other = {
        (entry.container_port, entry.protocol or "TCP")
        for pod in pods
        for entry in declared(pod.fact)
        if entry.name == name
    }
    numbers = sorted({entry.container_port for pod in pods for entry in declared(pod.fact)})
    names = sorted({entry.name for pod in pods for entry in declared(pod.fact) if entry.name})
    which = "either Pod" if len(pods) == 2 else "any Pod" if len(pods) > 2 else f"Pod {pods[0].fact.name}"
    sentence = f'targetPort name "{name}" matches no containerPort name in {which}'
    if other:
        number, protocol = sorted(other)[0]
        sentence += f" as {port.protocol}: it is {number}/{protocol} there"
    elif early := next((_early(pod.fact, name) for pod in pods if _early(pod.fact, name)), ""):
        sentence += f"; init container {early} has it, and ends before the Pod runs (no restartPolicy: Always)"
    if view.ready:
        sentence += f"; {count(len(view.ready), 'ready address')}, {len(usable)} usable (no port)"
    fix = f"name the port {name} in the Pod template"
    if numbers:
        fix += f", or use {' or '.join(str(number) for number in numbers[:3])} as targetPort"
    if names:
        fix += f" (the Pods name {', '.join(names[:4])})"
    return finding(
        "SP401",
        Status.FAIL if not usable else Status.WARN,
        sentence,
        evidence=(
            Evidence(f'Service {view.named}: port {port.port} -> targetPort "{name}"', view.service_observation),
            *(Evidence(_declares(pod.fact), pod) for pod in pods[:3]),
            *(
                Evidence(
                    f"slice {slice_.fact.name}: no port"
                    if not any(entry.port for entry in slice_.fact.ports or ())
                    else f"slice {slice_.fact.name}",
                    slice_,
                )
                for slice_ in view.slices[:2]
            ),
        ),
        confidence=Confidence.PROVEN if view.slices and not usable else Confidence.SUPPORTED,
        remedy=fix,
        share="all new connections",
        names=values,
    )


def _early(pod: Pod, name: str) -> str:
    """The init container that declares the name and is no sidecar: FindPort does not look there."""
    for container in pod.spec.init_containers or ():
        if container.restart_policy != "Always" and any(port.name == name for port in container.ports or ()):
            return container.name
    return ""


def _numbers(port: ServicePort, pods: list[Observation[Pod]]) -> list[str]:
    """Different numbers under one name are valid: the controller writes a slice per set of ports."""
    numbers = sorted({number for pod in pods if (number := target_port(pod.fact, port)) is not None})
    if len(numbers) < 2:
        return []
    pairs = ", ".join(
        host_port(pod.fact.ips[0], number)
        for pod in pods[:6]
        if pod.fact.ips and (number := target_port(pod.fact, port)) is not None
    )
    return [
        f'"{port.target_port}" is {" and ".join(str(number) for number in numbers)} in different Pods: backends are address+port pairs per slice: {pairs}'
    ]


def _declares(pod: Pod) -> str:
    ports = ", ".join(
        f"{entry.name or 'unnamed'} {entry.container_port}/{entry.protocol or 'TCP'}" for entry in declared(pod)
    )
    return f"Pod {pod.name} declares {ports or 'no ports'}"
