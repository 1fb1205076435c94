"""Lifecycle: what is under way, and whether the next change can drain.

Terminating endpoints, rollouts that report done too early, status that lags; preStop and grace period, disruption budgets.
"""

from __future__ import annotations

from svcpath.findings.finding import CheckResult, Gap, LayerAnswer, answer
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.layers.lifecycle import drains, needs, rollouts
from svcpath.walk.scene import Scene


def layer(view: Scene) -> Asking[LayerAnswer]:
    request = view.request
    workloads = yield from ask.one(needs.workloads(request))
    if not workloads.present and not view.endpoints and not view.selected:
        gap = Gap("lifecycle", "rollouts", workloads.why or "no workload was read", "", workloads.in_vain)
        return answer([CheckResult(not_looked_at=(gap,), looked=False)])
    under_way = rollouts.check(view, workloads)
    judgements = [under_way, (yield from drains.check(view, workloads))]
    if not any(judgement.looked for judgement in judgements):
        gap = Gap("lifecycle", "rollouts", "no Pod and no status of a workload was read")
        judgements.append(CheckResult(not_looked_at=(gap,), looked=False))
    return answer(judgements)
