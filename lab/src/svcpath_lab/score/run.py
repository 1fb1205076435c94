"""Run the score: make each fault in a scene drawn at random, let diagnose judge it in another process, undo.

Judged twice: on a recording of what a person could have typed, and by diagnose's own looks while the fault stands.
"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from svcpath.errors import SvcpathError
from svcpath.reports.score import Diagnosed
from svcpath_lab.command import Say
from svcpath_lab.faults import make, steps
from svcpath_lab.faults.fault import Fault
from svcpath_lab.faults.ground import Ground
from svcpath_lab.faults.scene import FaultScene
from svcpath_lab.providers.base import Provider
from svcpath_lab.record import RecordingScope, record
from svcpath_lab.score import ask
from svcpath_lab.score.row import FaultScore, row


@dataclass
class Run:
    """A score under way on one lab: what it knows, and whom it tells."""

    provider: Provider
    lab: str
    mode: str
    lot: random.Random
    say: Say
    evidence: tuple[str, ...] = ask.EVIDENCE
    #: A folder where the recordings stay, each in one named after its fault and mode.
    keep: Path | None = None
    #: Of time.monotonic(): no fault is begun later.
    until: float | None = None
    judged: Callable[[FaultScore], None] = lambda row: None
    #: Faults that broke off while they were made, with the reason, and those for which no time was left.
    not_made: dict[str, str] = field(default_factory=dict)

    def rows(self, faults: Sequence[Fault]) -> tuple[FaultScore, ...]:
        """A row for every fault and kind of evidence."""
        found: list[FaultScore] = []
        for fault in faults:
            if self.until is not None and time.monotonic() > self.until:
                self.not_made[fault.name] = "no time was left"
                continue
            try:
                for score in self._judged(fault):
                    found.append(score)
                    self.judged(score)
            except SvcpathError as trouble:
                self.say(f"{fault.name}: could not be made: {trouble}")
                self.not_made[fault.name] = str(trouble)
        return tuple(found)

    def _judged(self, fault: Fault) -> list[FaultScore]:
        scene = FaultScene.draw(self.lot)
        ground = Ground(self.provider, self.provider.kubectl(), scene)
        found: list[FaultScore] = []
        with tempfile.TemporaryDirectory(prefix="svcpath-score-") as scratch:
            folder = self._folder(fault) or Path(scratch) / scene.word
            try:
                make.stand(ground, fault, self.lab)
                steps.run_all(ground, fault.steps)
                time.sleep(fault.settle)
                if ask.RECORDED in self.evidence:
                    client = str(ground.fill(fault.target.client))
                    names = (str(ground.fill(fault.target.lookup)),) if fault.target.lookup else ()
                    asked = RecordingScope((scene.namespace,), (f"{scene.namespace}/{client}",), names=names)
                    record(self.provider, folder, asked, lambda line: None)
                if ask.LIVE in self.evidence:
                    found.append(self._row(fault, ask.LIVE, lambda: ask.on_cluster(ground, fault)))
            finally:
                for trouble_left in make.undo(ground, fault):
                    self.say(f"{fault.name}: not undone: {trouble_left}")
            if ask.RECORDED in self.evidence:
                if self.keep is not None:
                    finish_recording(ground, fault, folder)
                found.insert(0, self._row(fault, ask.RECORDED, lambda: ask.on_recording(ground, fault, folder)))
        return found

    def _folder(self, fault: Fault) -> Path | None:
        return self.keep / f"{fault.name}-{self.mode}" / "evidence" if self.keep is not None else None

    def _row(self, fault: Fault, evidence: str, asked: Callable[[], Diagnosed]) -> FaultScore:
        began = time.monotonic()
        given = asked()
        return row(fault, self.mode, given, time.monotonic() - began, evidence)


def finish_recording(ground: Ground, fault: Fault, folder: Path) -> None:
    """Make a recording fit to be kept: packed files, and beside them what to ask and what a right diagnosis gives."""
    for path in sorted(folder.iterdir()):
        if path.suffix != ".gz" and path.stat().st_size > 1000:
            path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()
    target = {name: ground.fill(value) for name, value in msgspec.to_builtins(fault.target).items() if value}
    expected = {
        "about": fault.about,
        "target": {**target, "namespace": ground.scene.namespace},
        "expect": {
            "status": fault.expect.statuses,
            "layer": fault.expect.layers,
            "codes": fault.expect.codes,
        },
    }
    (folder.parent / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
