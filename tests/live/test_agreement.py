"""Live and offline agree: for faults of the lab's catalogue a bundle gives, without the cluster, what diagnose said on it,
and hiding any one observation of that bundle never accuses somebody else and never silently clears what was found.

Which faults turns with the date (turns.py); SVCPATH_AGREEMENT=N takes so many, SVCPATH_AGREEMENT=all all that can be made on
the lab, SVCPATH_AGREEMENT=NAME,NAME those.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import svcpath
from svcpath.cli.app import run
from svcpath.evidence.formats.bundles import Manifest, of_log
from svcpath.evidence.sources import bundle as bundles
from svcpath.evidence.sources.recording import RecordingSource
from svcpath.reports.records import Report
from svcpath_lab import home as homes
from svcpath_lab import labs
from svcpath_lab.faults import make, steps
from svcpath_lab.faults.fault import Fault, shipped
from svcpath_lab.faults.ground import Ground
from svcpath_lab.faults.scene import FaultScene
from svcpath_lab.home import LabSpec
from tests.fixtures.hiding import every_look_counts
from tests.fixtures.options import Asked
from tests.live.conftest import Lab
from tests.live.turns import turn

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400)]

#: What only a live look decides: the code that it must give.
DECIDED = {"mtu-black-hole": "SP508", "return-route-broken": "SP507", "reverse-path-filter": "SP617"}


#: Faults that hit one packet and spare the next, those of the looks too: two looks see two states.
UNSTEADY = frozenset({"conntrack-full"})


def faults() -> list[Fault]:
    """Those that this run tries, of all that the lab can make."""
    spec = _spec()
    possible = [
        fault
        for fault in shipped()
        if spec is None or fault.possible(mode=spec.proxy_mode, family=spec.ip_family, provider=spec.provider)
    ]
    asked = os.environ.get("SVCPATH_AGREEMENT") or "4"
    if asked == "all":
        return possible
    names = turn([candidate.name for candidate in possible], int(asked)) if asked.isdecimal() else asked.split(",")
    return [candidate for candidate in possible if candidate.name in names]


def _spec() -> LabSpec | None:
    name = os.environ.get("SVCPATH_TEST_LAB", "")
    return homes.home(name).read_spec() if name and homes.home(name).exists() else None


@pytest.fixture(scope="module", params=faults(), ids=lambda fault: fault.name)
def made(lab: Lab, alone: None, request: pytest.FixtureRequest) -> Iterator[tuple[Fault, Ground]]:
    """The fault, confidence."""
    del alone
    fault: Fault = request.param
    place = homes.home(os.environ["SVCPATH_TEST_LAB"])
    provider = labs.provider(place)
    ground = Ground(provider, provider.kubectl(), FaultScene.draw(random.Random(fault.name)))
    try:
        make.stand(ground, fault, place.name)
        steps.run_all(ground, fault.steps)
        time.sleep(fault.settle)
        yield fault, ground
    finally:
        assert make.undo(ground, fault) == []


@dataclass(frozen=True)
class Held:
    """What diagnose said on the cluster, and the bundle of what it was given."""

    fault: Fault
    options: Asked
    live: Report
    bundle: Path


@pytest.fixture(scope="module")
def recorded_fault(made: tuple[Fault, Ground], lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Held:
    fault, ground = made
    target = fault.target
    options: Asked = {
        "target": f"svc/{ground.fill(target.service)}",
        "namespace": ground.scene.namespace,
        "client": f"pod/{ground.fill(target.client)}",
        "port": str(ground.fill(target.port)),
        "lookup": str(ground.fill(target.lookup)),
    }
    bundle = tmp_path_factory.mktemp("held") / f"{fault.name}.tar.zst"
    with svcpath.cluster(kubeconfig=lab.kubeconfig, timeout=120) as cluster:
        recorder = RecordingSource(cluster)
        live = svcpath.diagnose(recorder, **options)
    bundles.write(bundle, of_log(recorder.log, Manifest()))
    return Held(fault, options, live, bundle)


def test_a_bundle_gives_the_verdict_that_diagnose_gave_on_the_cluster(recorded_fault: Held) -> None:
    offline = svcpath.diagnose(svcpath.bundle(recorded_fault.bundle), **recorded_fault.options)
    assert offline == recorded_fault.live
    verdict = recorded_fault.live.verdict
    assert not (verdict.status == "fault" and "fault" not in recorded_fault.fault.expect.statuses), verdict
    if recorded_fault.fault.name in DECIDED and verdict.layer != "resolution":
        # The cluster DNS may have a Pod on the node in question: then lookups fail first, now and then.
        assert (verdict.code, verdict.confidence) == (DECIDED[recorded_fault.fault.name], "proven"), verdict


def test_hiding_one_observation_of_the_bundle_lowers_what_is_said_and_accuses_nobody(recorded_fault: Held) -> None:
    every_look_counts(svcpath.bundle(recorded_fault.bundle), recorded_fault.options)


def test_a_bundle_that_collect_wrote_gives_what_diagnose_says(
    made: tuple[Fault, Ground], lab: Lab, tmp_path: Path
) -> None:
    fault, ground = made
    if fault.expect.statuses != ("fault",) or fault.name in DECIDED or fault.name in UNSTEADY:
        pytest.skip("only where two looks, one after the other, must see the same")
    asked = [f"svc/{ground.fill(fault.target.service)}", "-n", ground.scene.namespace]
    asked += ["--from", f"pod/{ground.fill(fault.target.client)}"]
    cluster = ["--kubeconfig", lab.kubeconfig, "--timeout", "120s"]
    live, offline, bundle = tmp_path / "live.json", tmp_path / "offline.json", tmp_path / "held.tar.zst"
    run(["diagnose", *asked, *cluster, "-o", f"json={live}"])
    assert run(["collect", *asked, *cluster, "-o", str(bundle)]) == 0
    run(["diagnose", *asked, "--evidence", str(bundle), "-o", f"json={offline}"])
    verdict, again = (json.loads(path.read_text())["verdict"] for path in (live, offline))
    assert [verdict[key] for key in ("status", "layer", "code")] == [again[key] for key in ("status", "layer", "code")]
