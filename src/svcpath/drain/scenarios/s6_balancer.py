"""6. Does an external load balancer remove the backend later than the cluster does?

A load balancer sees nodes. With externalTrafficPolicy Local the node's own health port (kube-proxy, healthCheckNodePort)
turns 503 as soon as no local endpoint is ready, and the balancer needs interval x fall from then on: the Pod has to take
new connections for so long. A check of the node port itself passes until the application is gone. With policy Cluster a
node need not go at all.
"""

from __future__ import annotations

import time
from typing import Any

from svcpath.drain import workload
from svcpath.drain.balancer import Balancer, Checked, balancer
from svcpath.drain.kube import RESOURCE_OF
from svcpath.drain.scenarios.variant import ScenarioVariant
from svcpath.drain.stage import DrainStage, ScenarioResult, failed, name_of, why
from svcpath.drain.workload import WorkloadStopping
from svcpath.models.drain.moments import SampledConnection

NUMBER = 6
TITLE = "does an external load balancer, Ingress or Gateway remove the backend later than the cluster does?"
DOES = (
    "Puts HAProxy outside the cluster before two nodes with a Pod each (checks every 2 s, three failures take a node out), "
    "sends 20 new connections a second through it and 10 inside the cluster, and deletes one Pod, which is not replaced."
)
MEASURES = (
    "When the slice, the last new connection inside, the first failed check, HAProxy and the last new connection through it "
    "left the node, and what failed."
)
PASSES = "No new connection through HAProxy fails."

_CHECK = {"every": 2.0, "fall": 3, "rise": 1}
VARIANTS = (
    ScenarioVariant("pass", True, "policy Local, the health port is checked, preStop 14 s outlasts 2 s x 3"),
    ScenarioVariant(
        "cluster", True, "policy Cluster, the node port is checked: other nodes' Pods answer, no node has to go"
    ),
    ScenarioVariant("fail", False, "policy Local, the health port is checked, preStop 1 s is shorter than 2 s x 3"),
    ScenarioVariant(
        "node-port-check", False, "policy Local, the node port is checked: it passes until the Pod is gone"
    ),
)
_PORTS = {state.name: 9000 + number for number, state in enumerate(VARIANTS)}
_HOOK = 14


def run(stage: DrainStage, variant: ScenarioVariant) -> ScenarioResult:
    outside = stage.outside
    if outside is None:
        return ScenarioResult(
            NUMBER, variant.name, None, "this lab has no place outside the cluster for a load balancer"
        )
    nodes = sorted(outside.nodes)[:2]
    if len(nodes) < 2:
        return ScenarioResult(NUMBER, variant.name, None, "two nodes that take Pods are needed")
    name = f"s6-{variant.name}"
    stopping = WorkloadStopping(grace=25, hook=1 if variant.name == "fail" else _HOOK, on_signal="exit")
    policy = "Cluster" if variant.name == "cluster" else "Local"
    pods = workload.pinned_pods(name, stage.space, nodes, workload.pod_spec(stage.image, stopping))
    service = workload.service(name, stage.space, type="LoadBalancer", externalTrafficPolicy=policy)
    stage.api.create([*pods, service])
    target = next(
        state for state in stage.api.ready_pods(stage.space, f"app={name}", 2) if state["spec"]["nodeName"] == nodes[0]
    )
    stage.answers(name)
    made = stage.api.call("GET", RESOURCE_OF["Service"].path(stage.space, name))
    with balancer(outside, name, _PORTS[variant.name], _node_port(made), _checked(made, variant)) as lb:
        lb.all_up()
        inner = stage.sample("new=10", "seconds=34", "timeout=3", f"http://{name}/hostname")
        outer = stage.sample_outside("new=20", "seconds=34", "timeout=3", f"{lb.url}/hostname")
        inner.first()
        outer.first()
        time.sleep(3)
        at = stage.delete(target)
        noticed = stage.removed(name, target)
        rows, inside = outer.wait(), inner.wait()
        return _judged(variant, lb, nodes[0], at, noticed, rows, inside, name_of(target))


def _node_port(service: dict[str, Any]) -> int:
    return int(service["spec"]["ports"][0]["nodePort"])


def _checked(service: dict[str, Any], variant: ScenarioVariant) -> Checked:
    if variant.name in ("pass", "fail"):
        return Checked(int(service["spec"]["healthCheckNodePort"]), "/healthz", **_CHECK)  # type: ignore[arg-type]
    return Checked(_node_port(service), **_CHECK)  # type: ignore[arg-type]


def _judged(
    variant: ScenarioVariant,
    lb: Balancer,
    node: str,
    at: float,
    noticed: float | None,
    rows: list[SampledConnection],
    inside: list[SampledConnection],
    pod: str,
) -> ScenarioResult:
    bad = failed(rows)
    checked, down = lb.first_failed_check(node, at), lb.first(node, at, "DOWN")
    last = max((state.start - at for state in rows if state.peer == pod), default=None)
    last_inside = max((state.start - at for state in inside if state.peer == pod), default=None)
    last_bad = max((state.start - at for state in bad), default=None)
    slice_gone = None if noticed is None else noticed - at
    out = None if down is None else down.at - at
    later = None if out is None or slice_gone is None else out - slice_gone
    measured: dict[str, float | int | None] = {
        "slice": slice_gone,
        "last_inside": last_inside,
        "first_failed_check": None if checked is None else checked.at - at,
        "balancer": out,
        "later": later,
        "last_through": last,
        "last_failure": last_bad,
        "failed": len(bad),
        "sampled": len(rows),
        "failed_inside": len(failed(inside)),
    }
    went = (
        f"HAProxy took {node} out {out:.2f} s after the delete, {later:.2f} s later than the slice"
        if out is not None and later is not None
        else f"HAProxy never took {node} out"
    )
    ended = "" if last is None else f"; the last new connection reached the Pod through it at {last:.2f} s"
    ended += "" if last_inside is None else f", inside the cluster at {last_inside:.2f} s"
    lost = "" if last_bad is None else f"; the last failure at {last_bad:.2f} s"
    state = f"{went}{ended}; {len(bad)} of {len(rows)} failed{why(rows, at)}{lost}"
    return ScenarioResult(NUMBER, variant.name, not bad and last is not None, state, measured)
