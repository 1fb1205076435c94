"""Which ports of a Pod its readiness probes go to: while the Pod is ready, something listens there.

Source: pkg/probe/util.go ResolveContainerPort (v1.35): a number stands for itself, a name is looked up in the container
that the probe belongs to; a probe with a host of its own goes elsewhere.
"""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Container, Pod
from svcpath.walk.subjects.target_ports import containers


def probed(pod: Pod, port: int) -> bool:
    """Whether a readiness probe of the Pod goes to this TCP port of it."""
    return any(port in _probe_ports(one) for one in containers(pod))


def _probe_ports(container: Container) -> tuple[int, ...]:
    probe = container.readiness_probe
    if probe is None:
        return ()
    asked = [each.port for each in (probe.http_get, probe.tcp_socket) if each is not None and not each.host]
    asked += [probe.grpc.port] if probe.grpc else []
    named = {each.name: each.container_port for each in container.ports or () if each.name}
    numbers = (named.get(one) if isinstance(one, str) and not one.isdigit() else one for one in asked)
    return tuple(int(one) for one in numbers if one is not None)
