"""The model's side of the grid, and one table of model against measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from svcpath.drill.grid.cells import Cell, deployment
from svcpath.drill.grid.measure import Measured
from svcpath.evidence.facts.kubernetes import Workload
from svcpath.models.drain.budget import margins_of
from svcpath.models.drain.clock import Load, Margins, OnSignal, stop
from svcpath.models.drain.subject import subject_of

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
    load = Load(drained=cell.drained, longest=cell.longest, shutdown=cell.shutdown)
    signals = [stop(one.name, hooks[one.name], float(subject.grace)).signal for one in subject.on_path]
    return Row(cell, margins_of(subject, hooks, load, on_signal), min(signals), measured)


def as_dict(row: Row) -> dict[str, Any]:
    cell, measured = row.cell, row.measured
    return {
        "cell": cell.name,
        "preStop": cell.hook,
        "grace": cell.grace,
        "longest": cell.longest,
        "drained": cell.drained,
        "shutdown": cell.shutdown,
        "on_signal": cell.on_signal,
        "shape": cell.shape,
        "margins": [row.margins.new_connections, row.margins.requests, row.margins.orderly_end],
        "predicted": {
            "refused": row.predicted[0],
            "cut": row.predicted[1],
            "killed": row.predicted[2],
            "signal": row.signal,
        },
        "measured": msgspec.to_builtins(measured),
        "agrees": row.agrees,
        "time_agrees": row.time_agrees,
    }
