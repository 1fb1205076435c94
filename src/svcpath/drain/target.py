"""A drain of a user's own Deployment: what would be deleted, what speaks against it, and when it is over.

The account's own rights decide. Nothing is changed but by ``act``.
A delete goes past a PodDisruptionBudget (only evictions heed one), so the budget is looked at here.
"""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from svcpath.drain.kube import RESOURCE_OF, Api, existing, is_ready
from svcpath.drain.rollout import is_complete
from svcpath.errors import SourceUnavailable, UnknownTarget


class Action(enum.Enum):
    """What the drain may do to a workload."""

    DELETE = "delete"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Look:
    """The Deployment, its Pods that have not ended, and the budgets that select them, as the API gave them."""

    namespace: str
    name: str
    deployment: dict[str, Any]
    pods: tuple[dict[str, Any], ...]
    budgets: tuple[dict[str, Any], ...]

    @property
    def ready(self) -> tuple[dict[str, Any], ...]:
        return tuple(pod for pod in self.pods if is_ready(pod) and not leaving(pod))

    @property
    def victim(self) -> dict[str, Any] | None:
        """The Pod that a delete takes: the first of the ready ones by name."""
        return min(self.ready, key=lambda pod: str(pod["metadata"]["name"]), default=None)


def leaving(pod: dict[str, Any]) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def look(api: Api, namespace: str, name: str) -> Look:
    """Raises UnknownTarget, SourceUnavailable."""
    deployment = existing(api.cluster.get, RESOURCE_OF["Deployment"], f"Deployment {name}", namespace, name)
    selector = deployment["spec"].get("selector") or {}
    pods = [pod for pod in api.pods(namespace) if selects(selector, _labels(pod)) and _alive(pod)]
    template = _labels(deployment["spec"]["template"])
    budgets = api.call("GET", f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets")["items"]
    mine = [budget for budget in budgets if selects(budget["spec"].get("selector"), template)]
    return Look(namespace, name, deployment, tuple(pods), tuple(mine))


def _labels(obj: dict[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = (obj.get("metadata") or {}).get("labels") or {}
    return found


def _alive(pod: dict[str, Any]) -> bool:
    return (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Label selection of meta/v1: an empty selector selects all, a missing one nothing."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for expression in selector.get("matchExpressions") or ():
        there, values = expression["key"] in labels, expression.get("values") or ()
        match expression["operator"]:
            case "In":
                fits = there and labels[expression["key"]] in values
            case "NotIn":
                fits = not there or labels[expression["key"]] not in values
            case "Exists":
                fits = there
            case "DoesNotExist":
                fits = not there
            case _:
                fits = False
        if not fits:
            return False
    return True


def plan(found: Look, action: Action) -> str:
    """What would be done, naming every Pod that goes. Raises UnknownTarget when there is nothing to delete."""
    place = f"of deploy/{found.name} in namespace {found.namespace}"
    if action is Action.DELETE:
        victim = found.victim
        if victim is None:
            raise UnknownTarget(f"no ready Pod {place}: nothing to delete")
        return f"delete Pod {victim['metadata']['name']}, one of {len(found.ready)} ready Pods {place}"
    names = ", ".join(sorted(str(pod["metadata"]["name"]) for pod in found.pods if not leaving(pod))) or "no Pod"
    return f"restart the rollout {place}, which replaces {names}"


def objections(found: Look, action: Action) -> tuple[str, ...]:
    """Why doing it would take the Service away, or can't be judged; empty when nothing speaks against it."""
    spec = found.deployment["spec"]
    replicas, ready = int(spec.get("replicas", 1)), len(found.ready)
    sentences = []
    if not is_complete(found.deployment) or any(leaving(pod) for pod in found.pods):
        sentences.append("a rollout is under way, or Pods are leaving already")
    if action is Action.DELETE:
        if replicas <= 1:
            sentences.append(f"replicas is {replicas}: without that Pod nothing answers until its replacement is ready")
        elif ready <= 1:
            sentences.append(f"{ready} of {replicas} Pods is ready: without it nothing answers")
        sentences.extend(_budgets(found))
    else:
        if spec.get("paused"):
            sentences.append("the Deployment is paused: a restart would wait")
        strategy = spec.get("strategy") or {}
        if strategy.get("type") == "Recreate":
            sentences.append("strategy Recreate ends every Pod before the first new one starts")
        else:
            down = _count((strategy.get("rollingUpdate") or {}).get("maxUnavailable", "25%"), replicas)
            if down >= replicas:
                sentences.append(f"maxUnavailable lets all {replicas} Pods be down at once")
    return tuple(sentences)


def _budgets(found: Look) -> list[str]:
    sentences = []
    for budget in found.budgets:
        name, status = budget["metadata"]["name"], budget.get("status") or {}
        allowed = status.get("disruptionsAllowed")
        if allowed is None or status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
            sentences.append(f"PodDisruptionBudget {name} has no status yet, so what it allows is not known")
        elif allowed < 1:
            healthy, wanted = status.get("currentHealthy", "?"), status.get("desiredHealthy", "?")
            sentences.append(
                f"PodDisruptionBudget {name} allows no disruption now ({healthy} healthy, {wanted} wanted)"
            )
    return sentences


def _count(value: int | str, replicas: int) -> int:
    """maxUnavailable in Pods: a percentage is rounded down (apps/v1 RollingUpdateDeployment)."""
    text = str(value)
    return replicas * int(text[:-1]) // 100 if text.endswith("%") else int(text)


def act(api: Api, found: Look, action: Action) -> float:
    """Do it; returns when the API server had accepted it. Raises SourceUnavailable."""
    if action is Action.DELETE:
        victim = found.victim
        assert victim is not None
        # By its uid: a Pod that was replaced under the same name meanwhile is not the one that was confirmed.
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": victim["metadata"]["uid"]},
        }
        api.call("DELETE", RESOURCE_OF["Pod"].path(found.namespace, victim["metadata"]["name"]), options)
    else:
        api.restart(found.namespace, found.name)
    return time.time()


@dataclass(frozen=True, slots=True)
class Passed:
    """How the watch ended: ``began`` something left, ``over`` nothing is left of it. ``names`` are all Pods seen."""

    began: bool
    over: bool
    names: frozenset[str]


def follow(
    api: Api,
    before: Look,
    *,
    timeout: float,
    ended: threading.Event,
    say: Callable[[str], None],
    every: float = 0.5,
) -> Passed:
    """Wait until a Pod of the Deployment leaves, then until none is leaving and the counters say complete.

    Ends early with ``ended``, or when ``timeout`` seconds (0: none) are used up. Raises SourceUnavailable when the API server stays away.
    """
    old = {str(pod["metadata"].get("uid", "")) for pod in before.pods if not leaving(pod)}
    names = {str(pod["metadata"]["name"]) for pod in before.pods}
    begun, deadline, failures = False, time.monotonic() + timeout, 0
    while not ended.is_set() and (not timeout or time.monotonic() < deadline):
        try:
            now = look(api, before.namespace, before.name)
            failures = 0
        except SourceUnavailable:
            failures += 1
            if failures > 20:
                raise
            ended.wait(every)
            continue
        names |= {str(pod["metadata"]["name"]) for pod in now.pods}
        staying = {str(pod["metadata"].get("uid", "")) for pod in now.pods if not leaving(pod)}
        if not begun and not old <= staying:
            begun = True
            say("a Pod is leaving")
        if begun and is_complete(now.deployment) and not any(leaving(pod) for pod in now.pods):
            return Passed(True, True, frozenset(names))
        ended.wait(every)
    return Passed(begun, False, frozenset(names))
