"""The recorder at its limit: many new connections a second while Pods are replaced, checked against the servers' own logs.

The recorder is the command that a user runs, as a process of its own, so that its processor time is its own too. Each
request carries a number that the server logs before it answers: what a client saw answered has to be in a log, and what a
log holds has to be in the recording, once.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svcpath.drain import kube, workload
from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.kube import Api
from svcpath.errors import SourceUnavailable
from svcpath.evidence.sources.kube_client import Access
from svcpath.reports.drain import LoadRecord

SPACE = "svcpath-drain-load"
NAME = "load"
_LEAD = 8.0  #: seconds of sampling before the Pods are replaced
_TAIL = 10.0  #: seconds that the recorder goes on after the sampler's end
_SETTLE = 120.0  #: seconds that the replacing of Pods may go on after the sampler's end
_QUIET = 3.0  #: seconds without a line of a log after which no more is expected
_HOLD = 0.25  #: seconds that a server's requests wait for each other, so that following its log costs little
_ID = re.compile(r"[?&]id=(\d+)")


@dataclass(frozen=True, slots=True)
class LoadPlan:
    rate: float = 1000.0
    seconds: float = 60.0
    pods: int = 20


def endure(access: Access, image: str, load: LoadPlan, db: Path, say: Callable[[str], None]) -> LoadRecord:
    """Deploy, sample, replace, and compare. Raises SourceUnavailable when the cluster does not play along."""
    with contextlib.closing(ClusterTransport(access)) as cluster, kube.namespace(api := Api(cluster), SPACE):
        client = kube.client_pod(SPACE, image)
        # What asks for no processor is served last, and a client that starves measures itself.
        client["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        api.create([kube.scripts_map(SPACE), client, *_workload(image, load.pods)])
        say(f"{load.pods} Pods are starting")
        api.ready_pods(SPACE, "app=drain-client", 1)
        api.ready_pods(SPACE, f"app={NAME}", load.pods)
        with _logs(api) as logs, _recorder(access, load, db) as recorder:
            _sampling(db, recorder.process)
            time.sleep(_LEAD)
            say("replacing every Pod")
            api.restart(SPACE, NAME)
            recorder.finish(db, load.seconds * 4 + 60, lambda: _replaced(api, load.pods))
            alive = {pod["metadata"]["uid"] for pod in api.pods(SPACE, f"app={NAME}")}
            lines = logs.settled(60)
        say("comparing")
        return compared(load, db, lines, alive, recorder.cores)


def _workload(image: str, pods: int) -> list[dict[str, Any]]:
    spec = workload.pod_spec(image, workload.WorkloadStopping(grace=30, hook=10), server="light")
    spec["containers"][0]["readinessProbe"]["periodSeconds"] = 2
    spec["containers"][0]["env"].append({"name": "HOLD", "value": f"{_HOLD:g}"})
    made = workload.deployment(NAME, SPACE, pods, spec)
    made["spec"]["strategy"] = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 4}}
    return [made, workload.service(NAME, SPACE)]


def _replaced(api: Api, count: int) -> bool:
    """Whether only the new Pods are left, so that no end of one falls between the recording and the look at who is alive."""
    try:
        return len(api.pods(SPACE, f"app={NAME}")) == count
    except SourceUnavailable:
        return False


def _counted(db: Path, what: str) -> int:
    """Rows of a table of the recording that is being written; 0 while it can't be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as found:
            return int(found.execute(f"SELECT count(*) FROM {what}").fetchone()[0])
    except sqlite3.Error:
        return 0


def _sampling(db: Path, process: subprocess.Popen[bytes], timeout: float = 60) -> None:
    """Waits until the recording holds a connection. Raises SourceUnavailable."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline and process.poll() is None:
        if _counted(db, "connections"):
            return
        time.sleep(0.2)
    content = b""
    if process.poll() is not None and process.stderr is not None:
        content = process.stderr.read(500)
    raise SourceUnavailable(f"the recorder holds no connection yet: {content.decode('utf-8', 'replace').strip()}")


# --- the recorder's process ---------------------------------------------------------------------------------------


class _Recorder:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.begun = time.monotonic()
        self.cores = 0.0

    def finish(self, db: Path, timeout: float, settled: Callable[[], bool]) -> None:
        """Waits for the sampler's end, then for ``settled``, ends the recorder as Ctrl-C does, and keeps its processor time.

        Raises SourceUnavailable.
        """
        begun, over, announced = time.monotonic(), 0.0, False
        while True:
            now = time.monotonic()
            if not over and (_counted(db, "meta WHERE key LIKE 'sampler %'") or now > begun + timeout):
                over = now
            if over and not announced and now > over + _TAIL and (now > over + _SETTLE or settled()):
                self.process.send_signal(signal.SIGTERM)
                announced, over = True, now
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                break
            if announced and now > over + 60:
                raise SourceUnavailable("the recorder did not end")
            time.sleep(0.2)
        took = time.monotonic() - self.begun
        self.cores = round((usage.ru_utime + usage.ru_stime) / took, 3)


@contextlib.contextmanager
def _recorder(access: Access, load: LoadPlan, db: Path) -> Iterator[_Recorder]:
    words = [f"new={load.rate:g}", f"seconds={load.seconds:g}", "mark=1", "resolve=1", f"http://{NAME}/hostname"]
    chosen = [part for word in words for part in ("--sample", word)]
    options = [f"--kubeconfig={access.kubeconfig}", *([f"--context={access.context}"] if access.context else [])]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "svcpath", "drain", "watch", f"svc/{NAME}", "-n", SPACE, "--db", str(db)),
            *("--sample-from", "pod/client", *chosen, *options),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    found = _Recorder(process)
    try:
        yield found
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
        if process.stderr is not None:
            process.stderr.close()


# --- the servers' logs --------------------------------------------------------------------------------------------


class _Logs:
    """The log of every Pod of the workload, followed from its start, also of those that come later."""

    def __init__(self, api: Api) -> None:
        self._api, self._lines, self._known = api, dict[str, list[str]](), set[str]()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="logs", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(0.3):
            with contextlib.suppress(SourceUnavailable):
                for pod in self._api.pods(SPACE, f"app={NAME}"):
                    name = pod["metadata"]["name"]
                    statuses = pod["status"].get("containerStatuses") or ()
                    if name not in self._known and any("running" in status.get("state", {}) for status in statuses):
                        self._known.add(name)
                        self._lines[name] = []
                        self._api.follow_log(SPACE, name, "app", self._lines[name].append)

    def settled(self, timeout: float) -> dict[str, list[str]]:
        """The lines by Pod, once none has come for a while: they come later than what they tell."""
        deadline, before, since = time.monotonic() + timeout, -1, time.monotonic()
        while time.monotonic() < min(deadline, since + _QUIET):
            count = sum(len(lines) for lines in list(self._lines.values()))
            if count != before:
                before, since = count, time.monotonic()
            time.sleep(0.2)
        return {name: list(lines) for name, lines in list(self._lines.items())}

    def end(self) -> None:
        self._ended.set()
        self._thread.join(10)


@contextlib.contextmanager
def _logs(api: Api) -> Iterator[_Logs]:
    found = _Logs(api)
    try:
        yield found
    finally:
        found.end()


# --- comparing ----------------------------------------------------------------------------------------------------


def numbers(lines: Sequence[str]) -> list[int]:
    """The requests' numbers in a server's log."""
    return [int(match) for line in lines if " accepted " in line for match in _ID.findall(line)]


def compared(load: LoadPlan, db: Path, logs: Mapping[str, Sequence[str]], alive: set[str], cores: float) -> LoadRecord:
    """The recording against the logs."""
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as found:
        rows = found.execute("SELECT detail, outcome FROM connections").fetchall()
        first, last, latest = found.execute(
            "SELECT min(start), max(start), max(start - due) FROM connections"
        ).fetchone()
        sampler_rows = found.execute("SELECT value FROM meta WHERE key LIKE 'sampler %'").fetchall()
        pods = found.execute(
            "SELECT uid, max(gone) FROM events WHERE resource = 'pods' AND name LIKE ? GROUP BY uid", (f"{NAME}-%",)
        )
        ended = {uid: bool(gone) for uid, gone in pods.fetchall()}
    recorded = Counter(int(match[1]) for detail, _ in rows if (match := _ID.search(f"?{detail}")))
    answered = {int(match[1]) for detail, outcome in rows if outcome == "ok" and (match := _ID.search(f"?{detail}"))}
    logged = {number for lines in logs.values() for number in numbers(lines)}
    sums = [tuple(float(part) for part in value.split()) for (value,) in sampler_rows]
    announced, late = (int(sum(total[place] for total in sums)) for place in (0, 1)) if sums else (-1, -1)
    used, waited = (round(sum(total[place] for total in sums if len(total) > place), 1) for place in (2, 3))
    return LoadRecord(
        rate=load.rate,
        seconds=load.seconds,
        took=round((last or 0.0) - (first or 0.0), 1),
        pods=load.pods,
        announced=announced,
        recorded=len(rows),
        duplicated=sum(count - 1 for count in recorded.values()),
        lost=len(logged - recorded.keys()) + max(0, announced - len(recorded)),
        unlogged=len(answered - logged),
        logged=len(logged),
        failed=sum(outcome != "ok" for _, outcome in rows),
        late=late,
        latest=round(latest or 0.0, 3),
        sampler_used=used,
        sampler_waited=waited,
        replaced=sum(ended.values()),
        lost_pods=len(alive - ended.keys()) + sum(not gone and uid not in alive for uid, gone in ended.items()),
        cores=cores,
        outcomes=dict(Counter(outcome for _, outcome in rows)),
    )
