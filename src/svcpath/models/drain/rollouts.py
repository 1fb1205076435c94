"""When is a rollout complete, and when was it said to be? By the counters of the Deployment, as kubectl reads them."""

from __future__ import annotations

from collections.abc import Sequence

from svcpath.evidence.facts.kubernetes import Workload
from svcpath.models.drain.changes import Moment
from svcpath.models.drain.moments import Remark, Seen


def complete(workload: Workload) -> bool:
    """What ``kubectl rollout status`` takes for done (pkg/polymorphichelpers/rollout_status.go): counters alone."""
    status, desired = workload.status, workload.spec.replicas if workload.spec.replicas is not None else 1
    observed = status.observed_generation or 0
    if workload.metadata.generation is not None and observed < workload.metadata.generation:
        return False
    updated, available = status.updated_replicas or 0, status.available_replicas or 0
    return updated >= desired and (status.replicas or 0) <= updated and available >= updated


def of_rollouts(seen: Sequence[Seen], zero: float) -> list[Moment]:
    """Each time a Deployment became complete, or ceased to be."""
    found = []
    last: dict[str, bool] = {}
    for one in seen:
        if isinstance(one.obj, Workload) and one.obj.kind == "Deployment":
            done = complete(one.obj)
            if one.obj.name in last and last[one.obj.name] != done:
                left = one.obj.status.terminating_replicas
                more = f", {left} old Pods still Terminating" if done and left else ""
                text = f"{one.obj.name} {'complete' if done else 'under way'}{more}"
                found.append(Moment(one.received - zero, "rollout", text, place=one.place))
            last[one.obj.name] = done
    return found


def reported(seen: Sequence[Seen], remarks: Sequence[Remark], zero: float) -> float | None:
    """When the rollout was first reported complete after 0."""
    told = [one.at - zero for one in remarks if one.kind == "rollout" and "successfully" in one.text]
    told += [one.at for one in of_rollouts(seen, zero) if " complete" in one.text and one.at > 0]
    return min(told, default=None)
