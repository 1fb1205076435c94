"""What makes Pods: Deployments and their kind, and CRDs that look like them. Kubernetes API v1.35, apps/v1 and batch/v1."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes.meta import ApiRecord, Condition, LabelSelector, Object, ObjectMeta
from svcpath.evidence.facts.kubernetes.pods import PodSpec

WORKLOAD_KINDS = frozenset(
    {
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "DaemonSet",
        "Job",
        "CronJob",
        "ReplicationController",
        "Rollout",
    }
)


class PodTemplate(ApiRecord, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class RollingUpdate(ApiRecord, frozen=True, kw_only=True):
    max_unavailable: int | str | None = None
    max_surge: int | str | None = None
    partition: int | None = None


class Strategy(ApiRecord, frozen=True, kw_only=True):
    """``canary`` is that of an Argo Rollout, the last two are those of an OpenKruise CloneSet."""

    type: str | None = None
    rolling_update: RollingUpdate | None = None
    canary: RollingUpdate | None = None
    max_unavailable: int | str | None = None
    max_surge: int | str | None = None


class JobTemplate(ApiRecord, frozen=True, kw_only=True):
    """What a CronJob makes Jobs from."""

    spec: WorkloadSpec


class WorkloadSpec(ApiRecord, frozen=True, kw_only=True):
    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None
    strategy: Strategy | None = None
    update_strategy: Strategy | None = None
    service_name: str | None = None
    job_template: JobTemplate | None = None


class WorkloadStatus(ApiRecord, frozen=True, kw_only=True):
    observed_generation: int | None = None
    replicas: int | None = None
    updated_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    terminating_replicas: int | None = None
    desired_number_scheduled: int | None = None
    number_ready: int | None = None
    updated_number_scheduled: int | None = None
    conditions: tuple[Condition, ...] | None = None


class Workload(Object, frozen=True, kw_only=True):
    """Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, or any object with ``spec.template``."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()
