"""3. Do preStop plus the handling of the signal stay under the grace period?"""

from __future__ import annotations

from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult
from svcpath.drain.workload import WorkloadStopping

NUMBER = 3
TITLE = "do preStop plus the handling of the signal stay under the grace period?"
DOES = "Deletes a Pod with preStop 3 s, grace 8 s."
MEASURES = "When its container ended, and with which exit code."
PASSES = "It ends by itself, with another exit code than 137, before the grace period is over."

VARIANTS = (
    ScenarioVariant("pass", True, "the application finishes on its signal"),
    ScenarioVariant("fail", False, "it is PID 1 without a handler, so it ignores its signal"),
)
GRACE = 8


def run(stage: DrainStage, variant: ScenarioVariant) -> ScenarioResult:
    service = f"s3-{variant.name}"
    stopping = WorkloadStopping(grace=GRACE, hook=3, on_signal="finish" if variant.holds else "none")
    pods = stage.deploy(service, stopping, replicas=1)
    at = stage.delete(pods[0])
    ended, codes = stage.follow(pods[0], 60)
    took = ended - at if ended else None
    killed = 137 in codes.values()
    passed = not killed and bool(codes)
    how = "was killed when the grace period was used up (it ignored the signal)" if killed else "ended by itself"
    sentence = (
        f"it {how} {took:.2f} s after the delete, exit codes {codes}"
        if took is not None
        else f"its end was not seen, {codes}"
    )
    return ScenarioResult(NUMBER, variant.name, passed, sentence, {"ended": took, "killed": int(killed)})
