"""Rules about how many Pods may be gone at once.

Rounding: maxUnavailable percentages round down, maxSurge and minAvailable up (apps/v1 ResolveFenceposts: if both come
out as 0, maxUnavailable becomes 1; policy/v1 rounds minAvailable and maxUnavailable up).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from svcpath.evidence.facts.kubernetes import PodDisruptionBudget, RollingUpdate, Strategy, Workload
from svcpath.models.drain.budget import Budget
from svcpath.models.drain.lint.autoscalers import least_replicas
from svcpath.models.drain.lint.rule import Around, Level, LintFinding
from svcpath.models.policies.selectors import label_selector_matches


def scaled(value: int | str | None, total: int, *, up: bool) -> int | None:
    """An IntOrString as a number of Pods; None when it is neither."""
    if isinstance(value, int):
        return value
    if isinstance(value, str) and (match := re.fullmatch(r"(\d{1,6})%", value)):
        exact = int(match[1]) * total / 100
        return math.ceil(exact) if up else math.floor(exact)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 7:
        return int(value)
    return None


def removes_all(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP711: a rollout may take every Pod away before a new one is there."""
    workload = around.obj
    if not isinstance(workload, Workload) or not budget.subject.serves:
        return
    if workload.kind in ("Job", "CronJob", "ReplicaSet", "ReplicationController"):
        return
    strategy = workload.spec.strategy or workload.spec.update_strategy
    if strategy is None or strategy.type == "OnDelete":
        return
    field = "strategy" if workload.spec.strategy else "updateStrategy"
    rolling, place = _rolling(strategy)
    place = ("spec", field, *place)
    if workload.kind == "DaemonSet":
        if rolling.max_unavailable == "100%":
            yield _all(around, place, "maxUnavailable is 100%")
        return
    replicas, words = least_replicas(workload, around.others)
    if replicas == 0:
        return
    if strategy.type == "Recreate":
        yield _all(around, ("spec", field, "type"), "strategy Recreate ends every old Pod before a new one starts")
        return
    gone = _unavailable(rolling, replicas, surges=workload.kind in ("Deployment", "Rollout"))
    if gone is not None and gone >= replicas:
        yield _all(around, place, f"maxUnavailable {_said(rolling)} of {words}")


def _rolling(strategy: Strategy) -> tuple[RollingUpdate, tuple[str, ...]]:
    """How many Pods may be unavailable in a rollout, and the place in the strategy that says it."""
    if strategy.rolling_update is not None:
        return strategy.rolling_update, ("rollingUpdate", "maxUnavailable")
    if strategy.canary is not None:
        return strategy.canary, ("canary", "maxUnavailable")
    direct = RollingUpdate(max_unavailable=strategy.max_unavailable, max_surge=strategy.max_surge)
    return direct, ("maxUnavailable",)


def _said(rolling: RollingUpdate) -> str:
    return "" if rolling.max_unavailable is None else str(rolling.max_unavailable)


def _unavailable(rolling: RollingUpdate, replicas: int, *, surges: bool) -> int | None:
    """How many of the replicas may be unavailable; None where nothing sets it (the default 25 % rounds down)."""
    if rolling.max_unavailable is None and (rolling.max_surge is None or not surges):
        return None
    unavailable = scaled(rolling.max_unavailable if rolling.max_unavailable is not None else "25%", replicas, up=False)
    surge = scaled(rolling.max_surge if rolling.max_surge is not None else "25%", replicas, up=True)
    if unavailable is None or surge is None:
        return None
    return 1 if unavailable == 0 and surge == 0 and surges else unavailable


def _all(around: Around, field: tuple[str | int, ...], why: str) -> LintFinding:
    return LintFinding(
        "SP711",
        Level.WARNING,
        f"a rollout may remove all Pods at once ({why}): the Service then has no backend, however well each Pod drains",
        around.obj,
        field,
    )


def blocked(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP712: a PodDisruptionBudget that never allows an eviction, so that drains of nodes hang until they are forced."""
    workload = around.obj
    if not isinstance(workload, Workload) or workload.kind in ("Job", "CronJob", "DaemonSet"):
        return
    replicas, words = least_replicas(workload, around.others)
    labels = dict(budget.subject.labels)
    for disruption in around.disruptions:
        if disruption.namespace and workload.namespace and disruption.namespace != workload.namespace:
            continue
        if disruption.spec.selector is None or not label_selector_matches(disruption.spec.selector, labels):
            continue
        yield from _blocks(disruption, replicas, words, workload)


def _blocks(disruption: PodDisruptionBudget, replicas: int, words: str, workload: Workload) -> Iterator[LintFinding]:
    least = scaled(disruption.spec.min_available, replicas, up=True)
    most = scaled(disruption.spec.max_unavailable, replicas, up=True)
    if least is not None and least >= replicas > 0:
        why, field = f"minAvailable {disruption.spec.min_available} of {words}", "minAvailable"
    elif most is not None and most == 0:
        why, field = f"maxUnavailable {disruption.spec.max_unavailable}", "maxUnavailable"
    else:
        return
    yield LintFinding(
        "SP712",
        Level.WARNING,
        f"PodDisruptionBudget {disruption.name} allows no eviction of {workload.kind} {workload.name} ({why}): draining a node "
        "hangs until someone forces it",
        disruption,
        ("spec", field),
    )
