"""The contract ``svcpath.drain/v1``: scenarios that were played, each against what has to come out, and the grid of
model against measured. Times in seconds from the moment the API server accepted the deletion.
"""

from __future__ import annotations

from svcpath.reports.records import Record

SCHEMA = "svcpath.drain/v1"


class ScenarioRecord(Record, frozen=True, kw_only=True):
    """One variant of a scenario; ``why`` it has to pass, or to fail. ``as_it_should``: it did. Both None: it could not be
    played, ``sentence`` is the reason."""

    number: int
    title: str
    does: str
    measures: str
    passes_when: str
    variant: str
    why: str
    passed: bool | None
    as_it_should: bool | None
    sentence: str
    measured: dict[str, float | int | None]


class Losses(Record, frozen=True, kw_only=True):
    """What a deletion costs: new connections refused, requests cut, a container killed (exit 137). ``signal``: when the
    first container got SIGTERM, None where nothing logged it."""

    refused: bool
    cut: bool
    killed: bool
    signal: float | None


class EndRecord(Record, frozen=True, kw_only=True):
    """A container's end against the model's. ``measured`` is at most ``within`` too early; ``seen`` by a connection that was
    held to the process, by its log, or by its status, whose finishedAt has whole seconds. None: not seen."""

    container: str
    predicted: float
    measured: float | None
    within: float
    seen: str


class CellRecord(Record, frozen=True, kw_only=True):
    """One cell of the grid. ``margins``: of new connections, of requests, of a graceful exit (None: there is none).
    ``agrees``: what was lost; ``time_agrees`` and ``ends_agree``: SIGTERM and each container's end came within 1 s of
    the model (None: nothing saw it)."""

    cell: str
    pre_stop: int
    grace: int
    longest: float
    drained: float
    shutdown: float
    on_signal: str
    shape: str
    margins: tuple[float, float, float | None]
    predicted: Losses
    measured: Losses
    tried: int
    requests: int
    codes: tuple[tuple[str, int], ...]
    agrees: bool
    time_agrees: bool | None
    ends: tuple[EndRecord, ...]
    ends_agree: bool | None

    @property
    def right(self) -> bool:
        """Nothing that was seen differs from the model."""
        return self.agrees and self.time_agrees is not False and self.ends_agree is not False


class LoadRecord(Record, frozen=True, kw_only=True):
    """The recorder against the servers' own logs. ``rate`` new connections a second for ``seconds`` while ``replaced`` of
    ``pods`` Pods were replaced. ``announced``: what the sampler says it did. ``lost``: answered or logged requests that are
    missing from the recording; ``unlogged``: answered ones that no log holds. ``lost_pods``: Pods whose beginning or end is missing.
    ``cores`` of the recorder. ``took``: seconds from the first start to the last, more than ``seconds`` where the sampler's machine could not hold the rate. ``late``:
    connections that began more than 0.1 s after their time, ``latest`` the most that one was late; ``sampler_used``, ``sampler_waited``: seconds of processor time
    that the sampler used, and seconds for which it was ready to run and every processor had something else to do."""

    rate: float
    seconds: float
    took: float
    pods: int
    announced: int
    recorded: int
    duplicated: int
    lost: int
    unlogged: int
    logged: int
    failed: int
    late: int
    latest: float
    sampler_used: float
    sampler_waited: float
    replaced: int
    lost_pods: int
    cores: float
    outcomes: dict[str, int]

    @property
    def holds(self) -> bool:
        """Nothing lost, nothing twice, less than one core."""
        whole = self.recorded == self.announced == round(self.rate * self.seconds)
        nothing_lost = not (self.duplicated or self.lost or self.unlogged or self.lost_pods)
        return whole and nothing_lost and self.cores < 1


class DrainContract(Record, frozen=True, kw_only=True):
    """``facts``: versions and machine."""

    schema: str
    facts: dict[str, str]
    scenarios: tuple[ScenarioRecord, ...] = ()
    cells: tuple[CellRecord, ...] = ()
    loads: tuple[LoadRecord, ...] = ()

    @property
    def right(self) -> bool:
        """No variant came out as it must not, every cell agrees in losses and times, and a recording under load holds."""
        played = all(scenario.as_it_should is not False for scenario in self.scenarios)
        return played and all(cell.right for cell in self.cells) and all(load.holds for load in self.loads)

    @property
    def whole(self) -> bool:
        """Every variant could be played."""
        return all(scenario.as_it_should is not None for scenario in self.scenarios)
