"""The scenarios to prove before going live, one file each. Each has variants that pass and others that fail for a stated
reason, so that a verdict of "pass" is known to be able to be another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svcpath.drain.scenarios import (
    s1_readiness,
    s2_longest,
    s3_grace,
    s4_pools,
    s5_headless,
    s6_balancer,
    s7_rollout,
)
from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult


@dataclass(frozen=True, slots=True)
class Scenario:
    number: int
    title: str
    does: str
    measures: str
    passes: str
    variants: tuple[ScenarioVariant, ...]
    run: Callable[[DrainStage, ScenarioVariant], ScenarioResult]


SCENARIOS: dict[int, Scenario] = {
    module.NUMBER: Scenario(
        module.NUMBER, module.TITLE, module.DOES, module.MEASURES, module.PASSES, module.VARIANTS, module.run
    )
    for module in (s1_readiness, s2_longest, s3_grace, s4_pools, s5_headless, s6_balancer, s7_rollout)
}
