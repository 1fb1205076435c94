"""Pods that are not ready because their own node drops the kubelet's probes: a full connection tracking table.

The kubelet probes a Pod over a new connection from its node (pkg/kubelet/prober), which that table has to take as any other.
"""

from __future__ import annotations

import re

import msgspec

from svcpath.evidence.facts.need import Kind, Need
from svcpath.findings.finding import Finding, Judgement, Status
from svcpath.walk import ask
from svcpath.walk.ask import Asking
from svcpath.walk.scene import Scene
from svcpath.walk.subjects.readiness import why_not_ready

_TIMED_OUT = re.compile(r"deadline exceeded|time[d -]*out", re.I)


def explained(view: Scene, judged: Judgement) -> Asking[Judgement]:
    """``judged`` of a node's kernel settings; its full table explains that no Pod is ready where every Pod that is not runs on
    that node, and its probes get no answer."""
    full = [one for one in judged.findings if one.status is Status.FAIL and "nf_conntrack_count" in one.sentence]
    unready = [one for one in view.selected if one.fact.ready is False and not one.fact.deleting]
    if not full or not unready:
        return judged
    events = yield from ask.one(Need(Kind.EVENT, namespace=view.request.namespace, permission="list events"))
    silent = all(_TIMED_OUT.search(why_not_ready(one.fact, events.present)) for one in unready)
    homes = {one.fact.spec.node_name for one in unready}
    return msgspec.structs.replace(
        judged,
        findings=tuple(
            msgspec.structs.replace(one, explains=("SP304",))
            if silent and one in full and homes == {_node(one)}
            else one
            for one in judged.findings
        ),
    )


def _node(found: Finding) -> str:
    return next((one.observation.provenance.node for one in found.evidence if one.observation is not None), "")
