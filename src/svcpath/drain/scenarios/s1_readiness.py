"""1. After readiness fails, do new connections still arrive at the Pod?"""

from __future__ import annotations

import time

from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult, failed, name_of
from svcpath.drain.workload import WorkloadStopping
from svcpath.errors import SourceUnavailable

NUMBER = 1
TITLE = "after readiness fails, do new connections still arrive at the Pod?"
DOES = "Turns one Pod's health switch off while 20 new connections a second go to the Service."
MEASURES = "When the slice gave the Pod as not ready, and when the last new connection reached it."
PASSES = "No new connection begins at the Pod later than 5 s after the switch, and none fails."

VARIANTS = (
    ScenarioVariant("pass", True, "a readiness probe each second"),
    ScenarioVariant("fail", False, "no readiness probe, so that nothing ever notices"),
)
LIMIT = 5.0


def run(stage: DrainStage, variant: ScenarioVariant) -> ScenarioResult:
    service = f"s1-{variant.name}"
    pods = stage.deploy(service, WorkloadStopping(), probe=variant.holds)
    target = pods[0]
    sample = stage.sample("new=20", "seconds=20", f"http://{service}/hostname")
    sample.first()
    time.sleep(3)
    switch = "import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:8080/healthz?ok=false', method='POST')).read()"
    if not stage.succeeds(name_of(target), "python3", "-c", switch):
        raise SourceUnavailable(f"the health switch of Pod {name_of(target)} was not turned")
    at = time.time()
    noticed = stage.removed(service, target, timeout=8)
    rows = sample.wait()
    there = [row.start - at for row in rows if row.peer == name_of(target) and row.start > at]
    last = max(there, default=0.0)
    bad = failed(rows)
    passed = last <= LIMIT and not bad
    seen = f"the slice said not ready after {noticed - at:.2f} s" if noticed else "no slice ever said not ready"
    sentence = f"{seen}; the last new connection began at the Pod {last:.2f} s after the switch, {len(bad)} of {len(rows)} failed"
    measured = {
        "noticed": noticed - at if noticed else None,
        "last_connection": last,
        "failed": len(bad),
        "sampled": len(rows),
    }
    return ScenarioResult(NUMBER, variant.name, passed, sentence, measured)
