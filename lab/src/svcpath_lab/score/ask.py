"""Ask diagnose as a user would: another process that is given a target, and either recorded evidence or a kubeconfig.

Nothing else reaches it: no name of a fault, no expectation, no environment of the lab.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from svcpath.reports.score import Diagnosed
from svcpath_lab import command
from svcpath_lab.faults.fault import Fault
from svcpath_lab.faults.ground import Ground
from svcpath_lab.score.row import given_by

RECORDED, LIVE = "recorded", "live"
EVIDENCE = (RECORDED, LIVE)
DIAGNOSE = (sys.executable, "-c", "from svcpath.cli.main import main; main()", "diagnose")
#: Seconds after which a diagnosis is given up; its own --timeout is shorter.
_PATIENCE = 180.0


def on_recording(ground: Ground, fault: Fault, folder: Path) -> Diagnosed:
    """What diagnose says on the recording alone."""
    return _asked([*_target(ground, fault), "--evidence", str(folder)])


def on_cluster(ground: Ground, fault: Fault) -> Diagnosed:
    """What diagnose says when it looks at the cluster itself, while the fault stands."""
    kubectl = ground.kubectl
    chosen = ["--context", kubectl.context] if kubectl.context else []
    return _asked([*_target(ground, fault), "--kubeconfig", str(kubectl.kubeconfig), *chosen])


def _target(ground: Ground, fault: Fault) -> list[str]:
    target = fault.target
    words = [f"svc/{ground.fill(target.service)}", "-n", ground.scene.namespace]
    client = str(ground.fill(target.client))
    words += ["--from", client if "/" in client else f"pod/{client}"]
    for option, value in (("--port", target.port), ("--lookup", target.lookup), ("--resolver", target.resolver)):
        if value:
            words += [option, str(ground.fill(value))]
    return words


def _asked(words: list[str]) -> Diagnosed:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SVCPATH_", "KUBECONFIG"))}
    argv = [*DIAGNOSE, *words, "-o", "json"]
    done = command.run(argv, check=False, timeout=_PATIENCE, environment=environment)
    try:
        return given_by(json.loads(done.out))
    except (ValueError, KeyError):
        reason = (done.err.strip() or done.out.strip() or "no output").splitlines()[-1]
        return Diagnosed(status="error", summary=f"exit {done.code}: {reason}")
