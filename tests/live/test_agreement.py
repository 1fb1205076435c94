"""Live and offline agree: for faults of the lab's catalogue a bundle gives, without the cluster, what diagnose said on it.

All that can be made on the lab: SVCPATH_AGREEMENT=all.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import svcpath
from svcpath.cli.app import run
from svcpath.evidence.formats.bundles import Manifest, of_log
from svcpath.evidence.sources import bundle as bundles
from svcpath.evidence.sources.recording import RecordingSource
from svcpath.lab import home as homes
from svcpath.lab import labs
from svcpath.lab.faults import make, steps
from svcpath.lab.faults.fault import Fault, shipped
from svcpath.lab.faults.ground import Ground
from svcpath.lab.faults.scene import Scene
from tests.live.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400)]

#: One for each layer at least, and those that only a live look decides.
CHOSEN = (
    "coredns-scaled-to-zero",
    "foreign-drop",
    "healthy-headless",
    "healthy-node-port",
    "mtu-black-hole",
    "readiness-failing",
    "return-route-broken",
    "reverse-path-filter",
    "silent-application",
    "target-port-unheard",
)
#: What only a live look decides: the code that it must give.
DECIDED = {"mtu-black-hole": "SP508", "return-route-broken": "SP507", "reverse-path-filter": "SP617"}


def faults() -> list[Fault]:
    return [one for one in shipped() if one.name in CHOSEN or os.environ.get("SVCPATH_AGREEMENT") == "all"]


@pytest.fixture(scope="module", params=faults(), ids=lambda one: one.name)
def made(lab: Lab, alone: None, request: pytest.FixtureRequest) -> Iterator[tuple[Fault, Ground]]:
    """The fault, standing."""
    del alone
    fault: Fault = request.param
    place = homes.home(os.environ["SVCPATH_TEST_LAB"])
    spec = place.read_spec()
    if not fault.possible(mode=spec.proxy_mode, family=spec.ip_family, provider=spec.provider):
        pytest.skip(f"can't be made on a lab of {spec.proxy_mode} and {spec.ip_family}")
    provider = labs.provider(place)
    ground = Ground(provider, provider.kubectl(), Scene.draw(random.Random(fault.name)))
    try:
        make.stand(ground, fault, place.name)
        steps.run_all(ground, fault.steps)
        time.sleep(fault.settle)
        yield fault, ground
    finally:
        assert make.undo(ground, fault) == []


def test_a_bundle_gives_the_verdict_that_diagnose_gave_on_the_cluster(
    made: tuple[Fault, Ground], lab: Lab, tmp_path: Path
) -> None:
    fault, ground = made
    target = fault.target
    namespace = ground.scene.namespace
    asked: dict[str, Any] = {
        "namespace": namespace,
        "client": f"pod/{ground.fill(target.client)}",
        "port": str(ground.fill(target.port)),
        "as_name": str(ground.fill(target.as_name)),
    }
    service, bundle = f"svc/{ground.fill(target.service)}", tmp_path / "held.tar.zst"
    with svcpath.cluster(kubeconfig=lab.kubeconfig, timeout=120) as cluster:
        recorder = RecordingSource(cluster)
        live = svcpath.diagnose(recorder, service, **asked)
    bundles.write(bundle, of_log(recorder.log, Manifest()))
    offline = svcpath.diagnose(svcpath.bundle(bundle), service, **asked)
    assert offline == live
    said = live.verdict
    assert not (said.status == "fault" and "fault" not in fault.expect.statuses), said
    if fault.name in DECIDED and said.layer != "resolution":
        # The cluster DNS may have a Pod on the node in question: then lookups fail first, now and then.
        assert (said.code, said.standing) == (DECIDED[fault.name], "proven"), said


def test_a_bundle_that_collect_wrote_gives_what_diagnose_says(
    made: tuple[Fault, Ground], lab: Lab, tmp_path: Path
) -> None:
    fault, ground = made
    if fault.expect.statuses != ("fault",) or fault.name in DECIDED:
        pytest.skip("only where two looks, one after the other, must see the same")
    asked = [f"svc/{ground.fill(fault.target.service)}", "-n", ground.scene.namespace]
    asked += ["--from", f"pod/{ground.fill(fault.target.client)}"]
    cluster = ["--kubeconfig", lab.kubeconfig, "--timeout", "120s"]
    live, offline, bundle = tmp_path / "live.json", tmp_path / "offline.json", tmp_path / "held.tar.zst"
    run(["diagnose", *asked, *cluster, "-o", f"json={live}"])
    assert run(["collect", *asked, *cluster, "-o", str(bundle)]) == 0
    run(["diagnose", *asked, "--evidence", str(bundle), "-o", f"json={offline}"])
    said, again = (json.loads(path.read_text())["verdict"] for path in (live, offline))
    assert [said[key] for key in ("status", "layer", "code")] == [again[key] for key in ("status", "layer", "code")]
