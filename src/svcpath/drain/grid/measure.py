"""Run the cells on a cluster, all at once, and measure from the logs of client and servers and the ends of containers.

Nothing of the model is imported here: the measured side stands on its own.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from svcpath.drain import kube
from svcpath.drain.cluster import Expired, WatchCut
from svcpath.drain.grid.cells import GridCell, deployment
from svcpath.drain.kube import Api
from svcpath.errors import SourceUnavailable

SPACE = "svcpath-drain-grid"
#: Seconds for servers to listen (the Pods have no readiness probe that would keep the kubelet busy) and nodes to calm down.
_SETTLE = 10.0
#: Seconds between two deletes, so that one kubelet has not all of them at once.
_STAGGER = 1.2
#: Seconds after the grace period that a connection is held at most.
_HELD = 30.0


@dataclass(frozen=True, slots=True)
class End:
    """One container's end, ``at`` seconds after the delete was accepted, at most ``within`` later than that.

    ``seen``: connection (one that was held to the process was closed), log (the process's last line), or status (the
    container's finishedAt, cut to whole seconds).
    """

    container: str
    at: float
    within: float
    seen: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One cell as it was: three booleans, and seconds after the delete was accepted (None: not seen).

    ``refused``: a new connection failed while the client still sent. ``cut``: an accepted request did not get its answer.
    ``killed``: a container ended with 137. ``signal``: the first SIGTERM (or the image's STOPSIGNAL) that a container on the path logged. ``ends``: of
    each container whose end was seen.
    """

    refused: bool
    cut: bool
    killed: bool
    signal: float | None
    ends: tuple[End, ...]
    tried: int
    requests: int
    codes: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class _Run:
    cell: GridCell
    pod: str
    host: str
    planned: float = 0.0
    accepted: float = 0.0


def measure(api: Api, cells: Sequence[GridCell], image: str, say: Callable[[str], None]) -> dict[str, Measured]:
    """Deploy, delete and measure every cell. Raises SourceUnavailable when the cluster does not play along."""
    with kube.namespace(api, SPACE):
        objects = [kube.scripts_map(SPACE), kube.client_pod(SPACE, image)]
        objects.extend(deployment(cell, SPACE, image) for cell in cells)
        api.create(objects)
        say(f"{len(cells)} Pods are starting")
        api.ready_pods(SPACE, "app=drain-client", 1)
        pods = {pod["metadata"]["labels"]["cell"]: pod for pod in api.ready_pods(SPACE, "app=drain-grid", len(cells))}
        # A replacement that starts for every Pod that goes would keep the kubelet from the others' signals.
        for kind in ("deployments", "replicasets"):
            api.orphan(f"/apis/apps/v1/namespaces/{SPACE}/{kind}", "app=drain-grid")
        runs = [_Run(cell, pods[cell.name]["metadata"]["name"], pods[cell.name]["status"]["podIP"]) for cell in cells]
        logs = _Logs(api, runs)
        rows = _Client(api)
        begin = time.time() + _SETTLE
        for number, run in enumerate(runs):
            run.planned = begin + number * _STAGGER
            rows.start(run)
        rows.no_more()
        ends = _Ends(api, runs)
        say("deleting")
        for run in runs:
            time.sleep(max(0.0, run.planned - time.time()))
            run.accepted = api.delete_pod(SPACE, run.pod)
        ends.wait(max(cell.grace for cell in cells) + 90)
        rows.wait(60)
        say("judging")
        return {run.cell.name: _judge(run, rows.of(run.cell.name), logs.of(run.pod), ends.of(run.pod)) for run in runs}


class _Logs:
    """The servers' logs, followed from before the delete: a Pod that is gone tells nothing."""

    def __init__(self, api: Api, runs: Sequence[_Run]) -> None:
        self._lines: dict[str, list[str]] = {run.pod: [] for run in runs}
        for run in runs:
            names = ["app"] if run.cell.shape == "plain" else ["app", "proxy"]
            for name in names:
                api.follow_log(SPACE, run.pod, name, self._keep(run.pod, name))

    def _keep(self, pod: str, container: str) -> Callable[[str], None]:
        return lambda line: self._lines[pod].append(f"{container} {line}")

    def of(self, pod: str) -> list[str]:
        return list(self._lines[pod])


class _Client:
    """The client's process in its Pod."""

    def __init__(self, api: Api) -> None:
        self._command = api.cluster.start(SPACE, "client", "", ("python3", "-u", "/scripts/grid_client.py"))
        self._rows: list[dict[str, Any]] = []
        self._done = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._command.lines():
            row = json.loads(line)
            if row["kind"] == "end":
                break
            self._rows.append(row)
        self._done.set()

    def start(self, run: _Run) -> None:
        cell = run.cell
        task = {
            "cell": cell.name,
            "host": run.host,
            "port": cell.port,
            "held": 8080,
            "at": run.planned,
            "drained": cell.drained,
            "longest": cell.longest,
            "until": run.planned + cell.grace + _HELD,
        }
        self._command.write(json.dumps(task).encode() + b"\n")

    def no_more(self) -> None:
        self._command.end_input()

    def wait(self, timeout: float) -> None:
        if not self._done.wait(timeout):
            raise SourceUnavailable("the client in Pod client did not end")

    def of(self, cell: str) -> list[dict[str, Any]]:
        return [row for row in self._rows if row["cell"] == cell]


@dataclass(slots=True)
class _End:
    """The containers' exit codes, and when they ended by their status (whole seconds)."""

    codes: dict[str, int]
    finished: dict[str, float]


class _Ends:
    """Watches the Pods from before the first delete until each has ended or is gone; the last states seen count.

    A watch and no polling: between a Pod's last status and its end may lie a few milliseconds.
    """

    def __init__(self, api: Api, runs: Sequence[_Run]) -> None:
        self._cluster = api.cluster
        self._missing = {run.pod for run in runs}
        self._last: dict[str, _End] = {}
        self._stop = threading.Event()
        self._done = threading.Event()
        threading.Thread(target=self._run, name="ends", daemon=True).start()

    def _run(self) -> None:
        path = f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app%3Ddrain-grid"
        version = ""
        while self._missing and not self._stop.wait(0.1 if version else 0):
            try:
                if not version:
                    listed = json.loads(self._cluster.get(path))
                    for pod in listed["items"]:
                        self._seen(pod, gone=False)
                    self._missing &= {item["metadata"]["name"] for item in listed["items"]}
                    version = listed["metadata"]["resourceVersion"]
                for line in self._cluster.stream(f"{path}&watch=1&resourceVersion={version}"):
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        version = ""
                        break
                    version = event["object"]["metadata"]["resourceVersion"]
                    self._seen(event["object"], gone=event["type"] == "DELETED")
                    if not self._missing:
                        break
            except Expired:
                version = ""
            except (WatchCut, SourceUnavailable, ValueError):  # ValueError: half a line
                continue
        self._done.set()

    def _seen(self, pod: dict[str, Any], *, gone: bool) -> None:
        name, end = pod["metadata"]["name"], _end(pod)
        if end.codes:
            self._last[name] = end
        statuses = [*(pod["status"].get("containerStatuses") or ()), *_sidecars(pod)]
        if gone or (statuses and all("terminated" in status.get("state", {}) for status in statuses)):
            self._missing.discard(name)

    def wait(self, timeout: float) -> None:
        if not self._done.wait(timeout):
            self._stop.set()
            names = ", ".join(sorted(self._missing)[:3])
            raise SourceUnavailable(f"{len(self._missing)} Pods did not end within {timeout:g} s: {names}")

    def of(self, pod: str) -> _End:
        return self._last.get(pod, _End({}, {}))


def _sidecars(pod: dict[str, Any] | None) -> list[dict[str, Any]]:
    return list((pod or {}).get("status", {}).get("initContainerStatuses") or ())


def _end(pod: dict[str, Any]) -> _End:
    codes: dict[str, int] = {}
    finished: dict[str, float] = {}
    for status in [*(pod["status"].get("containerStatuses") or ()), *_sidecars(pod)]:
        ended = status.get("state", {}).get("terminated")
        if ended:
            codes[status["name"]] = ended["exitCode"]
            if ended.get("finishedAt"):
                finished[status["name"]] = datetime.fromisoformat(ended["finishedAt"]).timestamp()
    return _End(codes, finished)


def _judge(run: _Run, rows: Sequence[dict[str, Any]], log: Sequence[str], end: _End) -> Measured:
    accepted = run.accepted
    new = [row for row in rows if row["kind"] == "new" and row["start"] >= accepted]
    requests = [row for row in rows if row["kind"] == "request"]
    # What the kernel had accepted and the server had not yet is no accepted request: its log decides, where no proxy
    # stands in between.
    heard = {line.split()[4] for line in log if " accepted " in line and len(line.split()) > 4}
    direct = run.cell.shape in ("plain", "aside")
    taken = [row for row in requests if row["connected"] and (not direct or str(row.get("port")) in heard)]
    signals = [float(line.split()[1]) for line in log if " signal " in line and (line.startswith("app") or not direct)]
    return Measured(
        refused=any(row["outcome"] != "ok" for row in new),
        cut=any(row["outcome"] != "ok" for row in taken),
        killed=137 in end.codes.values(),
        signal=round(min(signals) - accepted, 2) if signals else None,
        ends=tuple(_ends(run, rows, log, end)),
        tried=len(new),
        requests=len(taken),
        codes=tuple(sorted(end.codes.items())),
    )


def _ends(run: _Run, rows: Sequence[dict[str, Any]], log: Sequence[str], end: _End) -> Iterator[End]:
    """Each container's end, from the most exact of what saw it."""
    closed = [row["end"] for row in rows if row["kind"] == "held" and row["end"] is not None]
    for name in sorted(end.codes.keys() | end.finished.keys() | ({"app"} if closed else set())):
        ends = [float(line.split()[1]) for line in log if line.startswith(f"{name} ") and line.endswith(" end")]
        if name == "app" and closed:
            yield End(name, round(closed[0] - run.accepted, 2), 0.0, "connection")
        elif ends:
            yield End(name, round(ends[-1] - run.accepted, 2), 0.0, "log")
        elif name in end.finished:
            yield End(name, round(end.finished[name] - run.accepted, 2), 1.0, "status")
