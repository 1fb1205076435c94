"""Containers: ports, probes, hooks, and the states they go through. Kubernetes API v1.35, core/v1."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes.meta import ApiRecord


class ContainerPort(ApiRecord, frozen=True, kw_only=True):
    name: str | None = None
    container_port: int = 0
    protocol: str | None = None


class ExecAction(ApiRecord, frozen=True, kw_only=True):
    command: tuple[str, ...] | None = None


class HTTPGetAction(ApiRecord, frozen=True, kw_only=True):
    host: str | None = None
    path: str | None = None
    port: int | str | None = None


class TCPSocketAction(ApiRecord, frozen=True, kw_only=True):
    host: str | None = None
    port: int | str | None = None


class GRPCAction(ApiRecord, frozen=True, kw_only=True):
    port: int | None = None


class SleepAction(ApiRecord, frozen=True, kw_only=True):
    seconds: int = 0


class LifecycleHandler(ApiRecord, frozen=True, kw_only=True):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class Lifecycle(ApiRecord, frozen=True, kw_only=True):
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class Probe(ApiRecord, frozen=True, kw_only=True):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None


class Container(ApiRecord, frozen=True, kw_only=True):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    ports: tuple[ContainerPort, ...] | None = None
    readiness_probe: Probe | None = None
    liveness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    restart_policy: str | None = None


class ContainerStateWaiting(ApiRecord, frozen=True, kw_only=True):
    reason: str | None = None
    message: str | None = None


class ContainerStateRunning(ApiRecord, frozen=True, kw_only=True):
    """There where the container runs."""


class ContainerStateTerminated(ApiRecord, frozen=True, kw_only=True):
    exit_code: int = 0
    reason: str | None = None
    message: str | None = None
    finished_at: str | None = None


class ContainerState(ApiRecord, frozen=True, kw_only=True):
    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(ApiRecord, frozen=True, kw_only=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    state: ContainerState | None = None
    last_state: ContainerState | None = None
