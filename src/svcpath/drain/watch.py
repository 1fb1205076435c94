"""Record a drain: objects, node tables and, where wanted, a sampler's connections, into one file, until it is ended."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svcpath.drain.cluster import ClusterTransport
from svcpath.drain.command import PodCommand, PodCommands
from svcpath.drain.planes import PlaneWatcher, watch_planes
from svcpath.drain.recorder import DrainRecorder
from svcpath.drain.store import Store
from svcpath.errors import FormatError, SourceUnavailable
from svcpath.models.drain.moments import SampledConnection

#: Rows of a sampler that are committed together, at most, and seconds they wait for each other.
_BATCH = 500
_FLUSH = 0.2


@dataclass(frozen=True, slots=True)
class Sampling:
    """Where the sampler runs and its arguments ("new=50", ..., the address)."""

    namespace: str
    pod: str
    container: str
    words: tuple[str, ...]


def connection_of(row: dict[str, Any]) -> SampledConnection:
    """A sampler's line as a record. Raises FormatError."""
    try:
        return SampledConnection(
            kind=str(row["kind"]),
            due=float(row["due"]),
            start=float(row["start"]),
            connected=None if row["connected"] is None else float(row["connected"]),
            first_byte=None if row["first"] is None else float(row["first"]),
            end=float(row["end"]),
            peer=str(row["peer"]),
            outcome=str(row["outcome"]),
            status=int(row["status"]),
            detail=str(row["detail"]),
            opened=bool(row.get("opened", False)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"no line of the sampler: {error}") from error


@dataclass(slots=True)
class Intake:
    """Reads a sampler's lines into the store, many in one transaction."""

    store: Store
    command: PodCommand
    source: str
    sampled: int = 0
    late: int = 0
    announced: int | None = None
    done: threading.Event = field(default_factory=threading.Event)
    error: str = ""

    def run(self) -> None:
        rows: list[tuple[int, SampledConnection]] = []
        flushed = time.monotonic()
        try:
            for line in self.command.lines():
                row = json.loads(line)
                if row["kind"] == "end":
                    self.announced, self.late = int(row["sampled"]), int(row["late"])
                    spent = f"{float(row.get('used', 0)):g} {float(row.get('waited', 0)):g}"
                    self.store.set_meta(f"sampler {self.source}", f"{self.announced} {self.late} {spent}")
                    break
                rows.append((int(row["n"]), connection_of(row)))
                if len(rows) >= _BATCH or time.monotonic() - flushed > _FLUSH:
                    self._keep(rows)
                    rows, flushed = [], time.monotonic()
        except (ValueError, KeyError, FormatError) as error:
            self.error = f"the sampler printed what is no line of it: {error}"
        self.error = self.error or self.command.error
        self._keep(rows)
        self.done.set()

    def began(self, timeout: float) -> bool:
        """Waits until the first lines are kept."""
        deadline = time.monotonic() + timeout
        while not self.sampled and not self.done.is_set() and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.sampled > 0

    def end(self, timeout: float) -> None:
        """Ask the sampler to finish what is under way, and wait for its last line."""
        with contextlib.suppress(SourceUnavailable, OSError):
            self.command.end_input()
        self.done.wait(timeout)
        self.command.close()
        self.done.wait(5)

    def _keep(self, rows: list[tuple[int, SampledConnection]]) -> None:
        if rows:
            self.store.add_connections(self.source, rows)
            self.sampled += len(rows)


def sample(cluster: PodCommands, store: Store, sampling: Sampling, text: str) -> Intake:
    """Send the sampler into a container and keep what it prints.

    Its input stays open, and its end is the sampler's: whatever ends this process leaves none behind in the container.
    Raises SourceUnavailable when it could not be started.
    """
    body = text.encode()
    load = f"import sys; exec(compile(sys.stdin.buffer.read({len(body)}), 'sampler', 'exec'))"
    words = ["python3", "-u", "-c", load, *sampling.words, "until_input_ends=1"]
    command = cluster.start(sampling.namespace, sampling.pod, sampling.container, words)
    with contextlib.suppress(OSError):  # it has ended already: its error is said
        command.write(body)
    intake = Intake(store, command, f"{sampling.namespace}/{sampling.pod} {time.time():.3f}")
    threading.Thread(target=intake.run, name="sampler", daemon=True).start()
    return intake


@dataclass(slots=True)
class Recording:
    """A recording under way."""

    store: Store
    recorder: DrainRecorder
    planes: list[PlaneWatcher]
    samplers: list[Intake]


@contextlib.contextmanager
def recording(
    path: Path,
    cluster: ClusterTransport,
    namespace: str,
    *,
    addresses: frozenset[str] = frozenset(),
    interval: float = 0.2,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[Recording]:
    """Record into ``path`` while the block runs. ``addresses`` are frontends whose backends are followed on every node, in
    its Pod of kube-proxy."""
    store = Store(path)
    try:
        recorder = DrainRecorder(cluster, store, namespace)
        recorder.start()
        planes: list[PlaneWatcher] = []
        if addresses:
            try:
                planes = watch_planes(cluster, store, addresses, interval)
            except SourceUnavailable as error:
                say(f"node tables not observed: {error}")
            for watcher in planes:
                if not watcher.ready.wait(20):
                    say(f"node {watcher.node}: its table is not read yet ({watcher.error or 'no answer'})")
        found = Recording(store, recorder, planes, [])
        try:
            yield found
        finally:
            for intake in found.samplers:
                intake.end(10)
            for watcher in planes:
                watcher.command.close()
            recorder.close()
    finally:
        store.close()
