"""Where a scenario plays: a namespace of its own, servers whose stopping is chosen, a client that samples."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from svcpath.drill import kube
from svcpath.drill.kube import Api
from svcpath.drill.transport import KubectlTransport
from svcpath.drill.watch import connection_of
from svcpath.errors import FormatError, SourceUnavailable
from svcpath.models.drain.moments import Connection


@dataclass(frozen=True, slots=True)
class Result:
    """``passed`` is the scenario's verdict on what was measured; ``said`` the sentence with the times; ``measured`` the
    numbers by name, in seconds or counts."""

    number: int
    variant: str
    passed: bool
    said: str
    measured: dict[str, float | int | None] = field(default_factory=dict)


@dataclass(slots=True)
class Stage:
    """A cluster to play on. ``space`` is the drill's own namespace."""

    kubectl: KubectlTransport
    api: Api
    space: str
    image: str
    say: Callable[[str], None]

    def deploy(
        self,
        name: str,
        *,
        replicas: int = 2,
        grace: int = 10,
        hook: int = 0,
        on_signal: str = "finish",
        shutdown: float = 0.0,
        max_age: float = 0.0,
        probe: bool = True,
        headless: bool = False,
    ) -> list[dict[str, Any]]:
        """A Deployment with its Service, of the same name; returns its ready Pods."""
        container: dict[str, Any] = {
            "name": "app",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "command": ["python3", "-u", "/scripts/drain_server.py"],
            "env": [
                {"name": "ON_STOP", "value": on_signal},
                {"name": "SHUTDOWN", "value": f"{shutdown:g}"},
                {"name": "MAX_AGE", "value": f"{max_age:g}"},
            ],
            "ports": [{"name": "http", "containerPort": 8080}],
            "volumeMounts": [{"name": "scripts", "mountPath": "/scripts"}],
        }
        if probe:
            check = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 1, "failureThreshold": 1}
            container["readinessProbe"] = {**check, "timeoutSeconds": 3}
        if hook:
            container["lifecycle"] = {"preStop": {"sleep": {"seconds": hook}}}
        labels = {"app": name}
        spec: dict[str, Any] = {
            "terminationGracePeriodSeconds": grace,
            "containers": [container],
            "volumes": [{"name": "scripts", "configMap": {"name": "drain-scripts"}}],
        }
        deployment = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": self.space},
            "spec": {
                "replicas": replicas,
                "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
        service: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": self.space},
            "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
        }
        if headless:
            service["spec"]["clusterIP"] = "None"
            service["spec"]["ports"][0].update({"port": 8080})
        kube.apply(self.kubectl, [deployment, service])
        return self.api.ready_pods(self.space, f"app={name}", replicas)

    def sample(self, *words: str) -> Sample:
        """Begin to sample from the client Pod."""
        process = self.kubectl.popen(
            "-n", self.space, "exec", "client", "--", "python3", "-u", "/scripts/sampler.py", *words
        )
        assert process.stdout is not None
        return Sample(process.stdout, self)

    def delete(self, pod: dict[str, Any]) -> float:
        """Delete a Pod; returns when it was accepted."""
        return self.api.delete_pod(self.space, pod["metadata"]["name"])

    def follow(self, pod: dict[str, Any], timeout: float) -> tuple[float | None, dict[str, int]]:
        """Waits until a Pod's containers ended or it is gone: when the last one ended, and the exit codes."""
        name, deadline = pod["metadata"]["name"], time.monotonic() + timeout
        codes: dict[str, int] = {}
        ended: float | None = None
        while time.monotonic() < deadline:
            try:
                now = self.api.call("GET", f"/api/v1/namespaces/{self.space}/pods/{name}")
            except SourceUnavailable as gone:
                if " 404 " in str(gone):
                    return ended, codes
                raise
            statuses = now["status"].get("containerStatuses") or ()
            for one in statuses:
                over = one.get("state", {}).get("terminated")
                if over and one["name"] not in codes:
                    codes[one["name"]] = over["exitCode"]
                    ended = time.time()
            time.sleep(0.15)
        return ended, codes

    def removed(self, service: str, pod: dict[str, Any], timeout: float = 60) -> float | None:
        """Waits until no slice of the Service gives the Pod as ready; when that was."""
        address, deadline = pod["status"]["podIP"], time.monotonic() + timeout
        path = f"/apis/discovery.k8s.io/v1/namespaces/{self.space}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{service}"
        while time.monotonic() < deadline:
            slices = self.api.call("GET", path)["items"]
            ready = [
                one
                for each in slices
                for one in each.get("endpoints") or ()
                if address in one["addresses"] and one.get("conditions", {}).get("ready") is not False
            ]
            if not ready:
                return time.time()
            time.sleep(0.1)
        return None


class Sample:
    """Rows of a sampler as they come."""

    def __init__(self, stream: Any, stage: Stage) -> None:
        import threading

        self.rows: list[Connection] = []
        self.late = 0
        self._stream, self._stage = stream, stage
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self._stream:
            try:
                row = json.loads(line)
                if row["kind"] == "end":
                    self.late = int(row["late"])
                    return
                self.rows.append(connection_of(row))
            except (ValueError, KeyError, FormatError):
                self._stage.say(f"the sampler said: {line[:100]!r}")

    def wait(self, timeout: float = 120) -> list[Connection]:
        """The rows once the sampler's time is over. Raises SourceUnavailable."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise SourceUnavailable("the sampler did not end")
        return self.rows

    def first(self, timeout: float = 30) -> None:
        """Waits until something was sampled."""
        deadline = time.monotonic() + timeout
        while not self.rows and time.monotonic() < deadline:
            time.sleep(0.05)


def failed(rows: Sequence[Connection]) -> list[Connection]:
    return [one for one in rows if one.outcome != "ok"]


def why(rows: Sequence[Connection], zero: float) -> str:
    """The first failure in words, "" without one."""
    first = min(failed(rows), key=lambda one: one.start, default=None)
    if first is None:
        return ""
    return f" (the first {first.start - zero:.2f} s after the delete: {first.outcome}, {first.detail})"


def name_of(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["name"])
