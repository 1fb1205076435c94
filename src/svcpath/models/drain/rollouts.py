"""When is a rollout complete, and when was it said to be? By the counters of the Deployment, as kubectl reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from svcpath.evidence.facts.kubernetes import Workload
from svcpath.models.drain.changes import Moment
from svcpath.models.drain.moments import ReceivedEvent, Remark


def complete(workload: Workload) -> bool:
    """What ``kubectl rollout status`` takes for done (pkg/polymorphichelpers/rollout_status.go): counters alone."""
    status, desired = workload.status, workload.spec.replicas if workload.spec.replicas is not None else 1
    observed = status.observed_generation or 0
    if workload.metadata.generation is not None and observed < workload.metadata.generation:
        return False
    updated, available = status.updated_replicas or 0, status.available_replicas or 0
    return updated >= desired and (status.replicas or 0) <= updated and available >= updated


def of_rollouts(seen: Sequence[ReceivedEvent], zero: float) -> list[Moment]:
    """Each time a Deployment became complete, or ceased to be."""
    found = []
    for state, workload in _turns(seen):
        done = complete(workload)
        left = workload.status.terminating_replicas
        more = f", {left} old Pods still Terminating" if done and left else ""
        text = f"{workload.name} {'complete' if done else 'under way'}{more}"
        found.append(Moment(state.received - zero, "rollout", text, place=state.place))
    return found


def _turns(seen: Sequence[ReceivedEvent]) -> Iterator[tuple[ReceivedEvent, Workload]]:
    """The states in which a Deployment is complete and was not in the one before, or the other way round."""
    last: dict[str, bool] = {}
    for state in seen:
        workload = state.obj
        if isinstance(workload, Workload) and workload.kind == "Deployment":
            done = complete(workload)
            if last.get(workload.name, done) != done:
                yield state, workload
            last[workload.name] = done


def reported(seen: Sequence[ReceivedEvent], remarks: Sequence[Remark], zero: float) -> float | None:
    """When the rollout was first reported complete after 0."""
    times = [remark.at - zero for remark in remarks if remark.rolled_out]
    times += [state.received - zero for state, workload in _turns(seen) if complete(workload) and state.received > zero]
    return min(times, default=None)
