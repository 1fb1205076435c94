"""targetPort as the slice controller resolves it, Pod by Pod.

Source: pkg/api/v1/pod/util.go FindPort (v1.35): a number stands for itself; a name is looked up among the container ports
of ``containers`` and then of restartable init containers, by name and protocol, and the first match wins.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Container, ContainerPort, Pod, ServicePort


def containers(pod: Pod) -> tuple[Container, ...]:
    sidecars = tuple(container for container in pod.spec.init_containers or () if container.restart_policy == "Always")
    return (*(pod.spec.containers or ()), *sidecars)


def declared(pod: Pod) -> tuple[ContainerPort, ...]:
    return tuple(port for container in containers(pod) for port in container.ports or ())


def named_ports(pod: Pod, name: str, protocol: str) -> tuple[int, ...]:
    """The numbers under this name and protocol, in the order in which the controller meets them."""
    return tuple(
        port.container_port for port in declared(pod) if port.name == name and (port.protocol or "TCP") == protocol
    )


def target_port(pod: Pod, port: ServicePort) -> int | None:
    """The number that ``port`` reaches in this Pod; None when its targetPort names no port of the Pod."""
    target = port.target_port if port.target_port not in (None, 0, "") else port.port
    if isinstance(target, int):
        return target
    if isinstance(target, str) and target.isdigit():
        return int(target)
    found = named_ports(pod, str(target), port.protocol)
    return found[0] if found else None


def is_named(port: ServicePort) -> bool:
    return isinstance(port.target_port, str) and not port.target_port.isdigit() and port.target_port != ""


#: Proxies that a mesh puts into a Pod, whose rules there take every connection from outside.
_PROXIES = frozenset({"istio-proxy", "linkerd-proxy", "kuma-sidecar", "consul-dataplane"})


def mesh_proxy(pod: Pod | None) -> str:
    """The container of a mesh that accepts in the application's place; empty where there is none."""
    return (
        next((container.name for container in containers(pod) if container.name in _PROXIES), "")
        if pod is not None
        else ""
    )


def of_the_mesh(number: int) -> bool:
    """Whether a port is one of those on which such proxies themselves listen (Istio 15000-15099, Linkerd 4140-4191)."""
    return 15000 <= number <= 15099 or number in (4140, 4143, 4190, 4191)
