"""7. When the rollout reports done, do old Pods or connections remain?"""

from __future__ import annotations

from svcpath.drain import rollout
from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult
from svcpath.drain.workload import WorkloadStopping

NUMBER = 7
TITLE = "when the rollout reports done, do old Pods or connections remain?"
DOES = "Restarts a Deployment of two Pods and follows it beyond what rollout status reports."
MEASURES = "When the counters said complete, and when the last old Pod was gone."
PASSES = "The last old Pod is gone within 6 s after the report."

VARIANTS = (
    ScenarioVariant("pass", True, "the application ends on its signal at once"),
    ScenarioVariant("fail", False, "preStop waits 15 s, so old Pods outlive the report"),
)
LIMIT = 6.0


def run(stage: DrainStage, variant: ScenarioVariant) -> ScenarioResult:
    service = f"s7-{variant.name}"
    stage.deploy(service, WorkloadStopping(grace=25, hook=0 if variant.holds else 15, on_signal="exit"))
    stage.api.restart(stage.space, service)
    over = rollout.wait(stage.api.cluster, stage.space, service, timeout=150, say=lambda text: None, every=0.5)
    if over.reported is None or over.pods_gone is None:
        return ScenarioResult(NUMBER, variant.name, False, f"not over after 150 s, left: {', '.join(over.left)}")
    later = over.pods_gone - over.reported
    seen = "" if over.observed else "; connections were not observed"
    sentence = f"reported complete after {over.reported:.2f} s, the last old Pod was gone {later:.2f} s later{seen}"
    measured: dict[str, float | int | None] = {
        "reported": over.reported,
        "later": later,
        "connections": over.most_connections,
    }
    return ScenarioResult(NUMBER, variant.name, later <= LIMIT, sentence, measured)
