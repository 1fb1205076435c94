"""Run the score: make each fault in a scene drawn by lot, record, undo, and let diagnose judge in another process."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from svcpath.errors import SvcpathError
from svcpath.lab import command
from svcpath.lab.faults import make, steps
from svcpath.lab.faults.fault import Fault
from svcpath.lab.faults.ground import Ground
from svcpath.lab.faults.scene import Scene
from svcpath.lab.providers.base import Provider, Say
from svcpath.lab.record import Asked, record
from svcpath.lab.score.row import Row, given_by, row
from svcpath.reports.score import Given

#: How diagnose is started: another process that is given evidence and target alone.
DIAGNOSE = (sys.executable, "-c", "from svcpath.cli.main import main; main()", "diagnose")


def run(
    provider: Provider,
    lab: str,
    faults: Sequence[Fault],
    *,
    mode: str,
    lot: random.Random,
    say: Say,
    keep: Path | None = None,
    each: Callable[[Row], None] = lambda row: None,
) -> tuple[Row, ...]:
    """A row for every fault; ``keep`` is a folder where the recordings stay, in folders that the scene's lot named."""
    rows = []
    for fault in faults:
        scene = Scene.draw(lot)
        with tempfile.TemporaryDirectory(prefix="svcpath-score-") as scratch:
            folder = keep / f"{fault.name}-{mode}" / "evidence" if keep is not None else Path(scratch) / scene.word
            ground = Ground(provider, provider.kubectl(), scene)
            try:
                observe(ground, fault, lab, folder)
            except SvcpathError as trouble:
                say(f"{fault.name}: could not be made: {trouble}")
                continue
            finally:
                for trouble_left in make.undo(ground, fault):
                    say(f"{fault.name}: not undone: {trouble_left}")
            if keep is not None:
                finish_recording(ground, fault, folder)
            began = time.monotonic()
            given = diagnose(ground, fault, folder)
            rows.append(row(fault, mode, given, time.monotonic() - began))
            each(rows[-1])
    return tuple(rows)


def observe(ground: Ground, fault: Fault, lab: str, folder: Path) -> None:
    """Make the fault and record it from the scene's client."""
    make.stand(ground, fault, lab)
    steps.run_all(ground, fault.steps)
    time.sleep(fault.settle)
    client = str(ground.fill(fault.target.client))
    asked = Asked((ground.scene.namespace,), (f"{ground.scene.namespace}/{client}",))
    record(ground.provider, folder, asked, lambda line: None)


def finish_recording(ground: Ground, fault: Fault, folder: Path) -> None:
    """Make a recording fit to be kept: packed files, and beside them what to ask and what a right diagnosis gives."""
    for path in sorted(folder.iterdir()):
        if path.suffix != ".gz" and path.stat().st_size > 1000:
            path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()
    target = {name: ground.fill(value) for name, value in msgspec.to_builtins(fault.target).items() if value}
    told = {
        "about": fault.about,
        "target": {**target, "namespace": ground.scene.namespace},
        "expect": {
            "status": fault.expect.statuses,
            "layer": fault.expect.layers,
            "codes": fault.expect.codes,
        },
    }
    (folder.parent / "expected.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def diagnose(ground: Ground, fault: Fault, folder: Path) -> Given:
    """What diagnose says about the target on the recording alone."""
    target = fault.target
    arguments = [
        *(f"svc/{ground.fill(target.service)}", "-n", ground.scene.namespace),
        *("--from", f"pod/{ground.fill(target.client)}", "--evidence", str(folder), "-o", "json"),
    ]
    for option, value in (("--port", target.port), ("--as", target.as_name), ("--resolver", target.resolver)):
        if value:
            arguments += [option, str(ground.fill(value))]
    done = command.run([*DIAGNOSE, *arguments], check=False, timeout=120)
    try:
        return given_by(json.loads(done.out))
    except (ValueError, KeyError):
        said = (done.err.strip() or done.out.strip() or "no output").splitlines()[-1]
        return Given(status="error", summary=f"exit {done.code}: {said}")


def machine_facts(provider: Provider, modes: Sequence[str], seed: int) -> dict[str, str]:
    """What a reader of the results needs to compare them with others."""
    server = json.loads(provider.kubectl().run("version", "-o", "json").out)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "svcpath": version("svcpath"),
        "kubernetes": server.get("serverVersion", {}).get("gitVersion", ""),
        "kernel": platform.release(),
        "processors": str(os.cpu_count() or 0),
        "modes": " ".join(modes),
        "lot": str(seed),
    }
