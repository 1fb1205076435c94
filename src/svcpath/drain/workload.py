"""The workloads that scenarios drain, as manifests: a server whose way of stopping is chosen, and its Service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: What a server Pod runs, by name: its script in the ConfigMap of scripts.
SERVERS = {"http": "drain_server.py", "grpc": "grpc_server.py", "light": "light_server.py"}
PORT = 8080


@dataclass(frozen=True, slots=True)
class WorkloadStopping:
    """How a Pod ends. Seconds throughout; ``on_signal`` exit, finish, ignore or none (PID 1 without a handler);
    ``max_age`` after which the server closes a kept connection (0: never)."""

    grace: int = 10
    hook: int = 0
    on_signal: str = "finish"
    shutdown: float = 0.0
    max_age: float = 0.0


def pod_spec(image: str, stopping: WorkloadStopping, *, probe: bool = True, server: str = "http") -> dict[str, Any]:
    """A Pod of one server container, with a readiness probe each second."""
    container: dict[str, Any] = {
        "name": "app",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-u", f"/scripts/{SERVERS[server]}"],
        "env": [
            {"name": "ON_STOP", "value": stopping.on_signal},
            {"name": "SHUTDOWN", "value": f"{stopping.shutdown:g}"},
            {"name": "MAX_AGE", "value": f"{stopping.max_age:g}"},
        ],
        "ports": [{"name": "http", "containerPort": PORT}],
        "volumeMounts": [{"name": "scripts", "mountPath": "/scripts"}],
    }
    if probe:
        check = (
            {"httpGet": {"path": "/healthz", "port": "http"}} if server == "http" else {"tcpSocket": {"port": "http"}}
        )
        container["readinessProbe"] = {**check, "periodSeconds": 1, "failureThreshold": 1, "timeoutSeconds": 3}
    if stopping.hook:
        container["lifecycle"] = {"preStop": {"sleep": {"seconds": stopping.hook}}}
    return {
        "terminationGracePeriodSeconds": stopping.grace,
        "containers": [container],
        "volumes": [{"name": "scripts", "configMap": {"name": "drain-scripts"}}],
    }


def deployment(name: str, space: str, replicas: int, spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "replicas": replicas,
            "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def pinned_pods(name: str, space: str, nodes: Sequence[str], spec: dict[str, Any]) -> list[dict[str, Any]]:
    """A bare Pod on each node: what is deleted is not replaced, so its node stays without one."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{name}-{node}", "namespace": space, "labels": {"app": name}},
            "spec": {**spec, "nodeSelector": {"kubernetes.io/hostname": node}},
        }
        for node in nodes
    ]


def service(name: str, space: str, **more: Any) -> dict[str, Any]:
    """A Service of the workload of the same name, port 80; ``more`` goes into its spec."""
    ports = [{"name": "http", "port": 80, "targetPort": "http"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": space},
        "spec": {"selector": {"app": name}, "ports": ports, **more},
    }


def headless(name: str, space: str) -> dict[str, Any]:
    made = service(name, space, clusterIP="None")
    made["spec"]["ports"][0]["port"] = PORT
    return made
