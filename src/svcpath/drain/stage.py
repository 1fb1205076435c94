"""Where a scenario plays: a namespace of its own, servers whose stopping is chosen, a client that samples."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from svcpath.drain import workload
from svcpath.drain.cluster import Expired, WatchCut
from svcpath.drain.kube import Api
from svcpath.drain.outside import Outside
from svcpath.drain.sampler import whole
from svcpath.drain.watch import connection_of
from svcpath.drain.workload import WorkloadStopping
from svcpath.errors import FormatError, SourceUnavailable
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.models.drain.moments import SampledConnection


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """``passed`` is the scenario's verdict on what was measured (None: it could not be played, ``sentence`` is why); ``sentence``
    the sentence with the times; ``measured`` the numbers by name, in seconds or counts."""

    number: int
    variant: str
    passed: bool | None
    sentence: str
    measured: dict[str, float | int | None] = field(default_factory=dict)


@dataclass(slots=True)
class DrainStage:
    """A cluster to play on. ``space`` is the drain's own namespace; ``outside`` a place outside the cluster where there is
    one."""

    api: Api
    space: str
    image: str
    say: Callable[[str], None]
    outside: Outside | None = None

    def deploy(
        self,
        name: str,
        stopping: WorkloadStopping,
        *,
        replicas: int = 2,
        probe: bool = True,
        headless: bool = False,
        server: str = "http",
    ) -> list[dict[str, Any]]:
        """A Deployment with its Service, of the same name; returns its ready Pods."""
        spec = workload.pod_spec(self.image, stopping, probe=probe, server=server)
        made = workload.headless(name, self.space) if headless else workload.service(name, self.space)
        self.api.create([workload.deployment(name, self.space, replicas, spec), made])
        pods = self.api.ready_pods(self.space, f"app={name}", replicas)
        if not headless:
            self.answers(name)
        return pods

    def answers(self, name: str, timeout: float = 30) -> None:
        """Waits until the client's node carries connections to the Service: a new one takes kube-proxy a moment."""
        connect = f"import socket; socket.create_connection(({name!r}, 80), 2).close()"
        deadline = time.monotonic() + timeout
        while not self.succeeds("client", "python3", "-c", connect):
            if time.monotonic() > deadline:
                raise SourceUnavailable(f"Service {name} does not answer after {timeout:g} s")
            time.sleep(0.3)

    def sample(self, *words: str) -> SampledRows:
        """Begin to sample from the client Pod."""
        return self.rows_of("python3", "-u", "/scripts/sampler.py", *words)

    def rows_of(self, *command: str) -> SampledRows:
        """Begin a command in the client Pod that prints rows as the sampler does."""
        started = self.api.cluster.start(self.space, "client", "", command)
        return SampledRows(started.lines(), started.close, self.say)

    def succeeds(self, pod: str, *command: str) -> bool:
        """Whether a command in a Pod was seen to end with 0."""
        try:
            return self.api.cluster.execute(self.space, pod, "", command, 60).code == 0
        except ApiTrouble:
            return False

    def sample_outside(self, *words: str) -> SampledRows:
        """Begin to sample from outside the cluster."""
        if self.outside is None:
            raise SourceUnavailable("this lab has no place outside the cluster")
        process = self.outside.popen("sampler", [sys.executable, "-I", "-S", "-u", "-c", whole.text(), *words])
        assert process.stdout is not None
        return SampledRows(process.stdout, lambda: _end(process), self.say)

    def delete(self, pod: dict[str, Any]) -> float:
        """Delete a Pod; returns when it was accepted."""
        return self.api.delete_pod(self.space, pod["metadata"]["name"])

    def follow(self, pod: dict[str, Any], timeout: float) -> tuple[float | None, dict[str, int]]:
        """Watches a Pod until it is gone: when its last container ended, and the exit codes.

        A watch and no polling: between a Pod's last status and its end may lie a few milliseconds.
        """
        name, deadline = pod["metadata"]["name"], time.monotonic() + timeout
        path = f"/api/v1/namespaces/{self.space}/pods?fieldSelector=metadata.name%3D{name}&watch=1&timeoutSeconds=10"
        codes: dict[str, int] = {}
        ended: float | None = None
        while time.monotonic() < deadline:
            try:
                for line in self.api.cluster.stream(path):
                    event = json.loads(line)
                    for status in event["object"].get("status", {}).get("containerStatuses") or ():
                        over = status.get("state", {}).get("terminated")
                        if over and status["name"] not in codes:
                            codes[status["name"]] = over["exitCode"]
                            ended = time.time()
                    if event["type"] == "DELETED":
                        return ended, codes
            except (WatchCut, Expired, ValueError):
                time.sleep(0.1)
            if not any(pod["metadata"]["name"] == name for pod in self.api.pods(self.space)):
                break
        return ended, codes

    def removed(self, service: str, pod: dict[str, Any], timeout: float = 60) -> float | None:
        """Waits until no slice of the Service gives the Pod as ready; when that was."""
        address, deadline = pod["status"]["podIP"], time.monotonic() + timeout
        path = f"/apis/discovery.k8s.io/v1/namespaces/{self.space}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{service}"
        while time.monotonic() < deadline:
            slices = self.api.call("GET", path)["items"]
            ready = [
                endpoint
                for slice_ in slices
                for endpoint in slice_.get("endpoints") or ()
                if address in endpoint["addresses"] and endpoint.get("conditions", {}).get("ready") is not False
            ]
            if not ready:
                return time.time()
            time.sleep(0.1)
        return None


class SampledRows:
    """Rows of a sampler as they come."""

    def __init__(self, lines: Iterable[bytes], close: Callable[[], None], say: Callable[[str], None]) -> None:
        self.rows: list[SampledConnection] = []
        self.late = 0
        self._lines, self._close, self._say = lines, close, say
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self._lines:
            try:
                row = json.loads(line)
                if row["kind"] == "end":
                    self.late = int(row["late"])
                    return
                self.rows.append(connection_of(row))
            except (ValueError, KeyError, FormatError):
                self._say(f"no line of a sampler: {line[:100]!r}")

    def wait(self, timeout: float = 120) -> list[SampledConnection]:
        """The rows once the sampler's time is over. Raises SourceUnavailable."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise SourceUnavailable("the sampler did not end")
        self._close()
        return self.rows

    def first(self, timeout: float = 30) -> None:
        """Waits until something was sampled."""
        deadline = time.monotonic() + timeout
        while not self.rows and time.monotonic() < deadline:
            time.sleep(0.05)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Whatever state it is in; no pipe of it stays open."""
    if process.poll() is None:
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def failed(rows: Sequence[SampledConnection]) -> list[SampledConnection]:
    return [row for row in rows if row.outcome != "ok"]


def why(rows: Sequence[SampledConnection], zero: float) -> str:
    """The first failure in words, "" without one."""
    first = min(failed(rows), key=lambda row: row.start, default=None)
    if first is None:
        return ""
    return f" (the first {first.start - zero:.2f} s after the delete: {first.outcome}, {first.detail})"


def name_of(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["name"])
