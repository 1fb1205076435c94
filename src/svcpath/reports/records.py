"""The records of ``svcpath.report/v1``: what ``diagnose -o json`` writes, and what pages show.

Each has the name of what it records, without what only a walk needs: observations are ids, not objects.
"""

from __future__ import annotations

import msgspec

from svcpath.status import Confidence, Status

SCHEMA = "svcpath.report/v1"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all records of the contract."""


class Target(Record, frozen=True, kw_only=True):
    namespace: str
    service: str
    port: str
    client: str
    client_node: str
    name: str
    resolver: str
    symptom: str


class Verdict(Record, frozen=True, kw_only=True):
    """``status``: healthy, warning, fault or inconclusive. ``confidence`` of the best hypothesis, or null. ``finding``: the
    one that decides, an index into the report's ``findings``, or null."""

    status: str
    layer: str | None
    cause_layer: str | None
    code: str | None
    finding: int | None
    confidence: Confidence | None
    summary: str


class Evidence(Record, frozen=True, kw_only=True):
    """``path`` and ``line`` are where it stands in the evidence, empty and 0 for what was asked of a cluster.
    ``observation`` is an id in ``observations``, or null for what follows from the API's rules alone."""

    sentence: str
    command: str = ""
    path: str = ""
    line: int = 0
    observation: str | None = None

    @property
    def place(self) -> str:
        """``path:line``, or as much of it as there is."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path


class Hypothesis(Record, frozen=True, kw_only=True):
    """``disproof`` is the command that would refute it, ``refutes`` what that command would have to show."""

    cause: str
    layer: str
    confidence: Confidence
    supports: tuple[Evidence, ...]
    against: tuple[Evidence, ...]
    disproof: str
    refutes: str


class Finding(Record, frozen=True, kw_only=True):
    code: str
    layer: str
    status: Status
    sentence: str
    share: str = ""
    details: tuple[str, ...] = ()
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()


class Layer(Record, frozen=True, kw_only=True):
    """``findings`` are indices into the report's ``findings``."""

    name: str
    status: Status
    decisive: bool
    sentence: str
    findings: tuple[int, ...]


class Observation(Record, frozen=True, kw_only=True):
    id: str
    kind: str
    state: str
    source: str
    command: str
    path: str
    line: int
    node: str
    pod: str
    container: str
    at: str | None
    reason: str


class Gap(Record, frozen=True, kw_only=True):
    layer: str
    what: str
    why: str
    command: str


class Change(Record, frozen=True, kw_only=True):
    at: str
    what: str
    who: str


class Hop(Record, frozen=True, kw_only=True):
    """One thing the connection passes; ``kind``: client, resolver, cluster-dns, service, slices, dataplane or pods.
    ``layers`` are those that judge it."""

    kind: str
    name: str
    facts: tuple[str, ...]
    layers: tuple[str, ...]


class PortChain(Record, frozen=True, kw_only=True):
    """A Service port down to the socket. ``slice_port`` null: no slice gives one. ``socket``: "listens", "nothing
    listens", "loopback only", ..., "not looked at", or "" where there is no port to look for."""

    service_port: str
    target_port: str
    slice_port: int | None
    socket: str
    listens_on: tuple[int, ...]


class InTable(Record, frozen=True, kw_only=True):
    """The backend in one node's table; ``state``: present, missing, stale, wrong port or undecided."""

    node: str
    frontend: str
    port: int
    state: str
    share: str
    path: str
    line: int


class BackendRow(Record, frozen=True, kw_only=True):
    """One address behind the Service. ``slice`` empty: no slice lists it; then the three conditions are null."""

    address: str
    pod: str
    node: str
    zone: str
    slice: str
    ready: bool | None
    serving: bool | None
    terminating: bool | None
    pod_ready: bool | None
    pod_state: str
    restarts: int
    ports: tuple[PortChain, ...]
    tables: tuple[InTable, ...]


class NodeOutcomes(Record, frozen=True, kw_only=True):
    """A node whose table was read: what a Pod's new connection meets at each cluster address of the Service."""

    node: str
    mode: str
    frontends: dict[str, str]


class Report(Record, frozen=True, kw_only=True):
    schema: str
    target: Target
    verdict: Verdict
    layers: tuple[Layer, ...]
    findings: tuple[Finding, ...]
    observations: tuple[Observation, ...]
    not_looked_at: tuple[Gap, ...]
    changes: tuple[Change, ...]
    path: tuple[Hop, ...] = ()
    backends: tuple[BackendRow, ...] = ()
    planes: tuple[NodeOutcomes, ...] = ()
