"""The steps that faults are made of, each a mapping with one key.

patch    {kind, name, with, type?, namespace?}      kubectl patch
apply    [objects]                                  kubectl apply, in the scene's namespace unless an object says
delete   {kind, name, namespace?, now?}             kubectl delete; now: without grace
scale    {name, replicas, namespace?}               of a Deployment
restart  {workload, namespace?, wait?}              kubectl rollout restart
rollout  {workload, namespace?}                     waits for it
shell    {node, run}                                a script on a node (netns, kind), or on all "workers"
inside   {pod, run}                                 a script in a Pod of the scene
freeze   NODE,  thaw NODE                           kube-proxy's process
save     {kind, name, namespace},  restore {...}    an object put aside and put back as it was
until    {get, shows?, without?, seconds?}            polls `kubectl get GET` for a pattern
settled  SECONDS                                    until the scene's Pods are ready, or have stayed as they are for 10 s
served   SECONDS                                    until CoreDNS and kube-proxy have the scene's Service as it is now
wait     seconds
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from svcpath.errors import SvcpathError, UsageError
from svcpath_lab.errors import LabError
from svcpath_lab.faults import sound
from svcpath_lab.faults.ground import Ground

#: Seconds without a change after which Pods count as being what they will be.
_STILL = 10.0


def run_all(ground: Ground, steps: Iterable[Mapping[str, Any]]) -> None:
    for step in steps:
        run(ground, step)


def undo_all(ground: Ground, steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every step of an undo, whatever happened to those before it; returns what went wrong."""
    troubles = []
    for step in steps:
        try:
            run(ground, step)
        except SvcpathError as trouble:
            troubles.append(str(trouble))
    return troubles


def run(ground: Ground, step: Mapping[str, Any]) -> None:
    """Do one step; an unknown one is a UsageError that lists those there are."""
    if len(step) != 1:
        raise UsageError(f"a step has one key, not {sorted(step)}")
    ((name, raw),) = step.items()
    action = _STEPS.get(name)
    if action is None:
        raise UsageError(f"no step {name!r}; there are {', '.join(sorted(_STEPS))}")
    try:
        action(ground, ground.fill(raw))
    except KeyError as missing:
        raise UsageError(f"step {name} has no {missing}") from missing


def _where(ground: Ground, step: Mapping[str, Any]) -> list[str]:
    return ["-n", str(step.get("namespace", ground.scene.namespace))]


def _patch(ground: Ground, step: Any) -> None:
    kind = step.get("type", "merge")
    text = json.dumps(step["with"])
    ground.kubectl.run(*_where(ground, step), "patch", step["kind"], step["name"], f"--type={kind}", "-p", text)


def _apply(ground: Ground, step: Any) -> None:
    for manifest in step:
        inside = manifest.get("metadata", {}).get("namespace")
        ground.kubectl.apply([manifest], namespace="" if inside else ground.scene.namespace)


def _delete(ground: Ground, step: Any) -> None:
    now = ["--grace-period=0", "--force"] if step.get("now") else ["--wait=false"]
    ground.kubectl.run(*_where(ground, step), "delete", step["kind"], step["name"], "--ignore-not-found", *now)


def _scale(ground: Ground, step: Any) -> None:
    replicas = f"--replicas={step['replicas']}"
    ground.kubectl.run(*_where(ground, step), "scale", f"deployment/{step['name']}", replicas)


def _restart(ground: Ground, step: Any) -> None:
    ground.kubectl.run(*_where(ground, step), "rollout", "restart", step["workload"])
    if step.get("wait", True):
        _rollout(ground, step)


def _rollout(ground: Ground, step: Any) -> None:
    ground.kubectl.wait_rollout(_where(ground, step)[1], step["workload"])


def _shell(ground: Ground, step: Any) -> None:
    nodes = ground.provider.nodes() if step["node"] == "workers" else (step["node"],)
    for node in nodes:
        ground.provider.run_on_node(node, ["sh", "-ec", step["run"]])


def _inside(ground: Ground, step: Any) -> None:
    ground.kubectl.exec(ground.scene.namespace, step["pod"], ["sh", "-ec", step["run"]], check=True)


def _freeze(ground: Ground, step: Any) -> None:
    ground.provider.freeze_proxy(step)


def _thaw(ground: Ground, step: Any) -> None:
    ground.provider.thaw_proxy(step)


def _key(step: Mapping[str, Any]) -> str:
    return f"{step['kind']} {step['namespace']}/{step['name']}"


def _save(ground: Ground, step: Any) -> None:
    found = ground.kubectl.get(*_where(ground, step), step["kind"], step["name"])
    meta = found["metadata"]
    kept = {name: meta[name] for name in ("name", "namespace", "labels", "annotations") if name in meta}
    found = {name: value for name, value in found.items() if name != "status"}
    ground.saved[_key(step)] = {**found, "metadata": kept}


def _restore(ground: Ground, step: Any) -> None:
    kept = ground.saved.get(_key(step))
    if kept is None:
        return  # the fault broke off before it was put aside, so it was not changed either
    ground.kubectl.run(*_where(ground, step), "replace", "-f", "-", stdin=json.dumps(kept))


def _corefile(ground: Ground, step: Any) -> None:
    where = ("-n", "kube-system")
    text = ground.kubectl.get(*where, "configmap", "coredns")["data"]["Corefile"]
    changed, count = re.subn(step["replace"], lambda match: step["with"], text, count=1)
    if not count:
        raise LabError(f"the Corefile has nothing that matches {step['replace']!r}")
    patch = json.dumps({"data": {"Corefile": changed}})
    ground.kubectl.run(*where, "patch", "configmap", "coredns", "--type=merge", "-p", patch)


def _until(ground: Ground, step: Any) -> None:
    seconds = float(step.get("seconds", 60))
    deadline = time.monotonic() + seconds
    words = step["get"].split()
    where = [] if {"-n", "-A"} & set(words) else ["-n", ground.scene.namespace]
    while True:
        out = ground.kubectl.run(*where, "get", *words, check=False).out
        shown = "shows" not in step or re.search(step["shows"], out) is not None
        gone = "without" not in step or re.search(step["without"], out) is None
        if shown and gone:
            return
        if time.monotonic() > deadline:
            raise LabError(f"`kubectl get {step['get']}` did not come to {step} in {seconds:g} s; last: {out[-200:]}")
        time.sleep(0.25)


def _settled(ground: Ground, step: Any) -> None:
    deadline = time.monotonic() + float(step)
    before: list[Any] = []
    since = time.monotonic()
    while time.monotonic() < deadline:
        pods = ground.kubectl.items("-n", ground.scene.namespace, "pods")
        now = sorted((pod["metadata"]["name"], _state(pod)) for pod in pods)
        # The scene's client is one of them and ready from the start: alone it means that the others are not there yet.
        if len(now) > 1 and all(state == "Ready" for _, state in now):
            return
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > _STILL:
            return
        time.sleep(0.5)


def _state(pod: Mapping[str, Any]) -> str:
    status = pod.get("status", {})
    if any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in status.get("conditions") or ()
    ):
        return "Ready"
    containers = [
        f"{container['name']} {sorted(container.get('state') or ())} {container.get('restartCount', 0)}"
        for container in status.get("containerStatuses") or ()
    ]
    return f"{status.get('phase', '')} {containers}"


def _served(ground: Ground, step: Any) -> None:
    sound.wait(ground, seconds=float(step))


def _wait(ground: Ground, step: Any) -> None:
    time.sleep(float(step))


_STEPS: dict[str, Callable[[Ground, Any], None]] = {
    "patch": _patch,
    "apply": _apply,
    "delete": _delete,
    "scale": _scale,
    "restart": _restart,
    "rollout": _rollout,
    "shell": _shell,
    "inside": _inside,
    "freeze": _freeze,
    "thaw": _thaw,
    "save": _save,
    "restore": _restore,
    "corefile": _corefile,
    "until": _until,
    "settled": _settled,
    "served": _served,
    "wait": _wait,
}
