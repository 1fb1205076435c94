"""The model's side of the grid, and one table of model against measured."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from svcpath.drill.grid.cells import Cell, deployment
from svcpath.drill.grid.measure import Measured
from svcpath.evidence.facts.kubernetes import Workload
from svcpath.models.drain.budget import margins_of
from svcpath.models.drain.clock import Load, Margins, OnSignal, stop
from svcpath.models.drain.subject import subject_of
from svcpath.reports.drill import CellRecord, Losses

#: Seconds by which predicted and measured times may differ.
TOLERANCE = 1.0

_BEHAVIOUR = {"none": OnSignal.IGNORE}


@dataclass(frozen=True, slots=True)
class Row:
    cell: Cell
    margins: Margins
    signal: float
    measured: Measured

    @property
    def predicted(self) -> tuple[bool, bool, bool]:
        """Refused, cut, killed: the margins that are negative."""
        end = self.margins.orderly_end
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


def compare(cell: Cell, measured: Measured, image: str) -> Row:
    """The model reads the very manifest that was deployed."""
    made = msgspec.convert(deployment(cell, "x", image), Workload)
    path = {"second": ("app", "proxy")}.get(cell.shape, ("app",))
    subject = subject_of(made, (), path=path)
    assert subject is not None
    hooks = {one.name: one.hook.low for one in subject.containers}
    on_signal = _BEHAVIOUR.get(cell.on_signal) or OnSignal(cell.on_signal)
    load = Load(drained=float(cell.drained), longest=float(cell.longest), shutdown=cell.shutdown)
    signals = [stop(one.name, hooks[one.name], float(subject.grace)).signal for one in subject.on_path]
    return Row(cell, margins_of(subject, hooks, load, on_signal), min(signals), measured)


def record(row: Row) -> CellRecord:
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
        margins=(margins.new_connections, margins.requests, margins.orderly_end),
        predicted=Losses(refused=refused, cut=cut, killed=killed, signal=row.signal),
        measured=Losses(refused=measured.refused, cut=measured.cut, killed=measured.killed, signal=measured.signal),
        tried=measured.tried,
        requests=measured.requests,
        codes=measured.codes,
        agrees=row.agrees,
        time_agrees=row.time_agrees,
    )
