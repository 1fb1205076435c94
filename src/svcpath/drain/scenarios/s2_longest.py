"""2. After a delete, does the longest running request finish?"""

from __future__ import annotations

import time

from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult, failed, name_of, why
from svcpath.drain.workload import WorkloadStopping

NUMBER = 2
TITLE = "after a delete, does the longest running request finish?"
DOES = "Starts requests of 5 s, two a second, and deletes one of two Pods while they run."
MEASURES = "The end of every request that the deleted Pod had accepted."
PASSES = "All of them end with 200, and no request to the Service fails."

VARIANTS = (
    ScenarioVariant("pass", True, "preStop waits 8 s"),
    ScenarioVariant("fail", False, "no preStop, and the application exits on its signal"),
)


def run(stage: DrainStage, variant: ScenarioVariant) -> ScenarioResult:
    service = f"s2-{variant.name}"
    pods = stage.deploy(service, WorkloadStopping(grace=20, hook=8 if variant.holds else 0, on_signal="exit"))
    sample = stage.sample("slow=2", "slow_seconds=5", "seconds=14", f"http://{service}/hostname")
    time.sleep(5)
    at = stage.delete(pods[0])
    ended, codes = stage.follow(pods[0], 60)
    rows = sample.wait()
    mine = [row for row in rows if row.peer == name_of(pods[0])]
    bad = failed(rows)
    last = max((row.end - at for row in mine), default=0.0)
    sentence = (
        f"{len(mine)} requests ended on the deleted Pod, the last {last:.2f} s after the delete; {len(bad)} of {len(rows)} "
        f"were cut or refused{why(rows, at)}; exit codes {codes}"
    )
    measured = {"last_request": last, "failed": len(bad), "sampled": len(rows), "ended": ended - at if ended else None}
    return ScenarioResult(NUMBER, variant.name, not bad and bool(mine), sentence, measured)
