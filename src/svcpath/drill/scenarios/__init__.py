"""The scenarios to prove before going live, one file each. Each has a variant that passes and one that fails for a
stated reason, so that a verdict of "pass" is known to be able to be another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svcpath.drill.scenarios import s1_readiness, s2_longest, s3_grace, s4_pools, s5_headless, s7_rollout
from svcpath.drill.stage import Result, Stage

VARIANTS = ("pass", "fail")


@dataclass(frozen=True, slots=True)
class Scenario:
    number: int
    title: str
    does: str
    measures: str
    passes: str
    run: Callable[[Stage, str], Result]


SCENARIOS: dict[int, Scenario] = {
    one.NUMBER: Scenario(one.NUMBER, one.TITLE, one.DOES, one.MEASURES, one.PASSES, one.run)
    for one in (s1_readiness, s2_longest, s3_grace, s4_pools, s5_headless, s7_rollout)
}
