"""Which ports of a Pod its readiness probes go to: while the Pod is ready, something listens there.

Source: pkg/probe/util.go ResolveContainerPort (v1.35): a number stands for itself, a name is looked up in the container
that the probe belongs to; a probe with a host of its own goes elsewhere.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Container, Pod
from svcpath.walk.subjects.target_ports import containers


def probed(pod: Pod, port: int) -> bool:
    """Whether a readiness probe of the Pod goes to this TCP port of it."""
    return any(port in _probe_ports(container) for container in containers(pod))


def _probe_ports(container: Container) -> tuple[int, ...]:
    probe = container.readiness_probe
    if probe is None:
        return ()
    asked = [action.port for action in (probe.http_get, probe.tcp_socket) if action is not None and not action.host]
    asked += [probe.grpc.port] if probe.grpc else []
    named = {port.name: port.container_port for port in container.ports or () if port.name}
    numbers = (named.get(port) if isinstance(port, str) and not port.isdigit() else port for port in asked)
    return tuple(int(number) for number in numbers if number is not None)
