"""The model's side of the grid, and one table of model against measured."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from svcpath.drain.grid.cells import GridCell, deployment
from svcpath.drain.grid.measure import End, Measured
from svcpath.evidence.facts.kubernetes import Workload
from svcpath.models.drain.budget import margins_of
from svcpath.models.drain.clock import DrainDemand, Margins, OnSignal, ended, sidecar_stop, stop
from svcpath.models.drain.subject import Subject, subject_of
from svcpath.reports.drain import CellRecord, EndRecord, Losses

#: Seconds by which predicted and measured times may differ.
TOLERANCE = 1.0

_BEHAVIOUR = {"none": OnSignal.IGNORE}


@dataclass(frozen=True, slots=True)
class GridRow:
    cell: GridCell
    margins: Margins
    signal: float
    ends: dict[str, float]
    measured: Measured

    @property
    def predicted(self) -> tuple[bool, bool, bool]:
        """Refused, cut, killed: the margins that are negative."""
        end = self.margins.graceful_exit
        return self.margins.new_connections < 0, self.margins.requests < 0, end is None or end < 0

    @property
    def agrees(self) -> bool:
        return self.predicted == (self.measured.refused, self.measured.cut, self.measured.killed)

    @property
    def time_agrees(self) -> bool | None:
        """Whether the signal came when it should; None where no container logged one."""
        if self.measured.signal is None:
            return None
        return abs(self.measured.signal - self.signal) <= TOLERANCE

    @property
    def seen(self) -> dict[str, End]:
        return {end_.container: end_ for end_ in self.measured.ends}

    @property
    def ends_agree(self) -> bool | None:
        """Whether each container ended when it should; None where the end of one was not seen."""
        if not self.ends.keys() <= self.seen.keys():
            return None
        return all(_near(at, self.seen[name]) for name, at in self.ends.items())


def _near(predicted: float, end: End) -> bool:
    """Whether some moment that the end may have been at is near enough."""
    return end.at - TOLERANCE <= predicted <= end.at + end.within + TOLERANCE


def _ends(subject: Subject, hooks: dict[str, float], load: DrainDemand, on_signal: OnSignal) -> dict[str, float]:
    """By the model, when each container ends. A proxy exits on its signal."""
    grace, found = float(subject.grace), dict[str, float]()
    through = DrainDemand(drained=load.drained, longest=load.longest)
    for container in subject.ordinary:
        own = (load, on_signal) if container.name == "app" else (through, OnSignal.EXIT)
        found[container.name] = ended(stop(container.name, hooks[container.name], grace), *own)
    last = max(found.values())
    for container in subject.containers:
        if container.sidecar:
            found[container.name] = ended(
                sidecar_stop(container.name, hooks[container.name], grace, last), through, OnSignal.EXIT
            )
    return found


def compare(cell: GridCell, measured: Measured, image: str) -> GridRow:
    """The model reads the very manifest that was deployed."""
    made = msgspec.convert(deployment(cell, "x", image), Workload)
    path = {"second": ("app", "proxy")}.get(cell.shape, ("app",))
    subject = subject_of(made, (), path=path)
    assert subject is not None
    hooks = {container.name: container.hook.low for container in subject.containers}
    on_signal = _BEHAVIOUR.get(cell.on_signal) or OnSignal(cell.on_signal)
    load = DrainDemand(drained=float(cell.drained), longest=float(cell.longest), shutdown=cell.shutdown)
    signals = [
        stop(container.name, hooks[container.name], float(subject.grace)).signal for container in subject.on_path
    ]
    ends = _ends(subject, hooks, load, on_signal)
    return GridRow(cell, margins_of(subject, hooks, load, on_signal), min(signals), ends, measured)


def record(row: GridRow) -> CellRecord:
    cell, measured = row.cell, row.measured
    margins, (refused, cut, killed) = row.margins, row.predicted
    return CellRecord(
        cell=cell.name,
        pre_stop=cell.hook,
        grace=cell.grace,
        longest=float(cell.longest),
        drained=float(cell.drained),
        shutdown=float(cell.shutdown),
        on_signal=cell.on_signal,
        shape=cell.shape,
        margins=(margins.new_connections, margins.requests, margins.graceful_exit),
        predicted=Losses(refused=refused, cut=cut, killed=killed, signal=row.signal),
        measured=Losses(refused=measured.refused, cut=measured.cut, killed=measured.killed, signal=measured.signal),
        tried=measured.tried,
        requests=measured.requests,
        codes=measured.codes,
        agrees=row.agrees,
        time_agrees=row.time_agrees,
        ends=tuple(_end(name, at, row.seen.get(name)) for name, at in row.ends.items()),
        ends_agree=row.ends_agree,
    )


def _end(name: str, predicted: float, end: End | None) -> EndRecord:
    if end is None:
        return EndRecord(container=name, predicted=predicted, measured=None, within=0.0, seen="")
    return EndRecord(container=name, predicted=predicted, measured=end.at, within=end.within, seen=end.seen)
