"""When each node's data plane really changed: its table is read again and again, and every difference is kept.

A loop runs in each node's kube-proxy Pod and prints the table when it differs from the last reading, with both readings'
times; a change lies between them. Where the Pod has nft(8), `nft monitor` tells beside when the kernel's tables changed, in
both modes (kube-proxy's iptables writes nf_tables where nft is), and the change lies between the first and the last of its
lines since the reading before. What a table means is models/dataplanes' business.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from svcpath.drain.command import NotStarted, PodCommand, PodCommands
from svcpath.drain.store import Store
from svcpath.errors import SourceUnavailable, SvcpathError
from svcpath.evidence.facts.need import Kind
from svcpath.evidence.sources.scripts import text
from svcpath.models.dataplanes import Packet, ServiceTable, TrafficOrigin, parse, tracer
from svcpath.models.drain.moments import PlaneChange

#: Runs on a node; the file says what it prints.
LOOP = "\n" + text("tables.sh", "svcpath.drain.scripts")

#: Seconds by which the two streams of an exec may be apart.
_DELAY = 0.1

Holding = dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class PlaneReading:
    """``width`` seconds lie between this reading's start and the one before, ``took`` it took to read."""

    width: float
    took: float
    kind: Kind
    text: str


def dumps(stream: Iterable[bytes]) -> Iterator[PlaneReading]:
    """The tables that the loop prints."""
    head: list[str] = []
    lines: list[str] = []
    for raw in stream:
        line = raw.decode("utf-8", "replace")
        if line.startswith("@@ end") and head:
            width = (int(head[2]) - int(head[1])) / 1e9
            took = (int(head[3]) - int(head[2])) / 1e9
            yield PlaneReading(max(width, 0.0), max(took, 0.0), Kind(head[4]), "".join(lines))
            head, lines = [], []
        elif line.startswith("@@ "):
            head, lines = line.split(), []
            if len(head) != 5 or not all(part.isdecimal() for part in head[1:4]):
                head = []
        elif head:
            lines.append(line)


def tables_of(dump: PlaneReading, node: str) -> list[ServiceTable]:
    """The tables of a dump; iptables-save prints a family each, parted by a line "@6". Raises FormatError."""
    parts = [part for part in dump.text.split("@6\n") if "*" in part or "table" in part] or [dump.text]
    return [table for part in parts for table in parse(dump.kind, part, node=node)]


def holding(tables: Sequence[ServiceTable], addresses: frozenset[str]) -> Holding:
    """Frontend -> backends that a Pod's new connection may reach, for the frontends with one of ``addresses``."""
    found: Holding = {}
    for table in tables:
        run = tracer(table)
        for frontend in table.frontends:
            if frontend.address not in addresses:
                continue
            source = "2001:db8::77" if ":" in frontend.address else "198.51.100.77"
            outcome = run.trace(Packet(source, TrafficOrigin.POD, frontend.protocol, frontend.address, frontend.port))
            found[str(frontend)] = frozenset(str(address) for address in outcome.addresses)
    return found


@dataclass(slots=True)
class PlaneWatcher:
    """One node's loop and the changes it shows."""

    node: str
    command: PodCommand
    store: Store
    addresses: frozenset[str]
    ready: threading.Event = field(default_factory=threading.Event)
    error: str = ""
    _monitored: deque[float] = field(default_factory=lambda: deque(maxlen=10_000))

    def listen(self) -> None:
        """Notes when nft monitor said something."""
        for _ in self.command.complaints():
            self._monitored.append(time.time())

    def run(self) -> None:
        last: Holding | None = None
        for dump in dumps(self.command.lines()):
            at = time.time()
            try:
                now = holding(tables_of(dump, self.node), self.addresses)
            except SvcpathError as error:
                self.error = str(error)
                continue
            if last is not None:
                self.store.add_planes(self._changes(last, now, *self._between(at, dump)))
            last = now
            self.ready.set()
        self.error = self.error or self.command.error

    def _between(self, at: float, dump: PlaneReading) -> tuple[float, float]:
        """What a change lies between: the monitor's first and last word since the reading before, else both readings."""
        begun = at - dump.took - dump.width
        changes = [moment for moment in list(self._monitored) if begun - _DELAY <= moment <= at]
        return (min(changes), max(changes)) if changes else (begun, at)

    def _changes(self, old: Holding, new: Holding, after: float, at: float) -> Iterator[PlaneChange]:
        for frontend in sorted(old.keys() | new.keys()):
            before, now = old.get(frontend, frozenset()), new.get(frontend, frozenset())
            for backend in sorted(before ^ now):
                yield PlaneChange(at, after, self.node, frontend, backend, present=backend in now)


def watch_planes(
    cluster: PodCommands, store: Store, addresses: frozenset[str], interval: float = 0.2
) -> list[PlaneWatcher]:
    """Begin on every node that has a kube-proxy Pod; an empty list where there is none."""
    found = json.loads(cluster.get("/api/v1/namespaces/kube-system/pods"))
    watchers = []
    for pod in found["items"]:
        labels = pod["metadata"].get("labels") or {}
        if "kube-proxy" not in (labels.get("k8s-app"), labels.get("app")) or pod["status"].get("phase") != "Running":
            continue
        script = LOOP.replace("INTERVAL", f"{interval:g}")
        command: PodCommand
        try:
            command = cluster.start("kube-system", pod["metadata"]["name"], "", ["sh", "-c", script])
        except SourceUnavailable as error:
            command = NotStarted(str(error))
        watcher = PlaneWatcher(pod["spec"]["nodeName"], command, store, addresses)
        threading.Thread(target=watcher.listen, name=f"monitor of {watcher.node}", daemon=True).start()
        threading.Thread(target=watcher.run, name=f"tables of {watcher.node}", daemon=True).start()
        watchers.append(watcher)
    return watchers
