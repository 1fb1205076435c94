"""Kubernetes API objects as frozen records, decoded straight from bytes.

Only the fields that some layer or model reads are declared; unknown fields are ignored and a wrong type is a
typed error (msgspec.ValidationError, turned into FormatError by the formats room). Field names are the API's
(camelCase on the wire). Absent and null read alike: ``None`` or an empty tuple or mapping.

Source of shapes and defaults: Kubernetes API v1.35 (core/v1, discovery.k8s.io/v1, apps/v1, networking.k8s.io/v1,
policy/v1).
"""

from __future__ import annotations

from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of every API record: frozen, keyword-only, camelCase on the wire."""


class ManagedFields(Record, frozen=True, kw_only=True):
    manager: str = ""
    operation: str = ""
    time: str | None = None
    subresource: str = ""


class OwnerReference(Record, frozen=True, kw_only=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Record, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int | None = None
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    managed_fields: tuple[ManagedFields, ...] | None = None
    finalizers: tuple[str, ...] | None = None


class Object(Record, frozen=True, kw_only=True):
    """What every API object has."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.labels or {}

    @property
    def annotations(self) -> dict[str, str]:
        return self.metadata.annotations or {}


# --- core/v1 Service -------------------------------------------------------------------------------------------


class ServicePort(Record, frozen=True, kw_only=True):
    """``target_port`` is a number or a port name; absent means ``port``."""

    name: str = ""
    protocol: str = "TCP"
    port: int = 0
    target_port: int | str | None = None
    node_port: int | None = None
    app_protocol: str | None = None


class ClientIPConfig(Record, frozen=True, kw_only=True):
    timeout_seconds: int | None = None


class SessionAffinityConfig(Record, frozen=True, kw_only=True):
    client_ip: ClientIPConfig | None = msgspec.field(name="clientIP", default=None)


class ServiceSpec(Record, frozen=True, kw_only=True):
    type: str = "ClusterIP"
    cluster_ip: str | None = msgspec.field(name="clusterIP", default=None)
    cluster_ips: tuple[str, ...] | None = msgspec.field(name="clusterIPs", default=None)
    external_ips: tuple[str, ...] | None = msgspec.field(name="externalIPs", default=None)
    external_name: str | None = None
    ip_families: tuple[str, ...] | None = None
    ip_family_policy: str | None = None
    selector: dict[str, str] | None = None
    ports: tuple[ServicePort, ...] | None = None
    session_affinity: str | None = None
    session_affinity_config: SessionAffinityConfig | None = None
    internal_traffic_policy: str | None = None
    external_traffic_policy: str | None = None
    traffic_distribution: str | None = None
    health_check_node_port: int | None = None
    load_balancer_ip: str | None = msgspec.field(name="loadBalancerIP", default=None)
    load_balancer_source_ranges: tuple[str, ...] | None = None
    load_balancer_class: str | None = None
    allocate_load_balancer_node_ports: bool | None = None
    publish_not_ready_addresses: bool | None = None


class LoadBalancerIngress(Record, frozen=True, kw_only=True):
    ip: str | None = None
    hostname: str | None = None
    ip_mode: str | None = None


class LoadBalancerStatus(Record, frozen=True, kw_only=True):
    ingress: tuple[LoadBalancerIngress, ...] | None = None


class ServiceStatus(Record, frozen=True, kw_only=True):
    load_balancer: LoadBalancerStatus | None = None


class Service(Object, frozen=True, kw_only=True):
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus | None = None

    @property
    def ports(self) -> tuple[ServicePort, ...]:
        return self.spec.ports or ()

    @property
    def cluster_ips(self) -> tuple[str, ...]:
        """Allocated virtual addresses, primary family first; empty for headless and ExternalName."""
        listed = self.spec.cluster_ips or ((self.spec.cluster_ip,) if self.spec.cluster_ip else ())
        return tuple(ip for ip in listed if ip and ip != "None")

    @property
    def is_headless(self) -> bool:
        return self.spec.cluster_ip == "None" or "None" in (self.spec.cluster_ips or ())

    @property
    def is_external_name(self) -> bool:
        return self.spec.type == "ExternalName"


# --- discovery.k8s.io/v1 EndpointSlice --------------------------------------------------------------------------


class ObjectReference(Record, frozen=True, kw_only=True):
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""
    api_version: str = ""
    field_path: str = ""


class EndpointConditions(Record, frozen=True, kw_only=True):
    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class ForZone(Record, frozen=True, kw_only=True):
    name: str = ""


class EndpointHints(Record, frozen=True, kw_only=True):
    for_zones: tuple[ForZone, ...] | None = None
    for_nodes: tuple[ForZone, ...] | None = None


class Endpoint(Record, frozen=True, kw_only=True):
    """One endpoint of a slice. A missing ``ready`` or ``serving`` means true, a missing ``terminating`` false
    (discovery.k8s.io/v1, EndpointConditions)."""

    addresses: tuple[str, ...] = ()
    conditions: EndpointConditions | None = None
    hostname: str | None = None
    node_name: str | None = None
    zone: str | None = None
    target_ref: ObjectReference | None = None
    hints: EndpointHints | None = None

    @property
    def ready(self) -> bool:
        return self.conditions is None or self.conditions.ready is not False

    @property
    def serving(self) -> bool:
        return self.conditions is None or self.conditions.serving is not False

    @property
    def terminating(self) -> bool:
        return self.conditions is not None and self.conditions.terminating is True


class EndpointPort(Record, frozen=True, kw_only=True):
    """``port`` absent means all ports (or, from the slice controller, that no target port was found)."""

    name: str | None = None
    protocol: str | None = None
    port: int | None = None
    app_protocol: str | None = None


class EndpointSlice(Object, frozen=True, kw_only=True):
    address_type: str = ""
    endpoints: tuple[Endpoint, ...] | None = None
    ports: tuple[EndpointPort, ...] | None = None

    @property
    def service_name(self) -> str | None:
        return self.labels.get("kubernetes.io/service-name")

    @property
    def managed_by(self) -> str | None:
        return self.labels.get("endpointslice.kubernetes.io/managed-by")


# --- core/v1 Endpoints -------------------------------------------------------------------------------------------


class EndpointAddress(Record, frozen=True, kw_only=True):
    ip: str = ""
    hostname: str | None = None
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointsPort(Record, frozen=True, kw_only=True):
    name: str | None = None
    port: int = 0
    protocol: str | None = None


class EndpointSubset(Record, frozen=True, kw_only=True):
    addresses: tuple[EndpointAddress, ...] | None = None
    not_ready_addresses: tuple[EndpointAddress, ...] | None = None
    ports: tuple[EndpointsPort, ...] | None = None


class Endpoints(Object, frozen=True, kw_only=True):
    subsets: tuple[EndpointSubset, ...] | None = None


# --- core/v1 Pod -------------------------------------------------------------------------------------------------


class ContainerPort(Record, frozen=True, kw_only=True):
    name: str | None = None
    container_port: int = 0
    host_port: int | None = None
    protocol: str | None = None


class ExecAction(Record, frozen=True, kw_only=True):
    command: tuple[str, ...] | None = None


class HTTPGetAction(Record, frozen=True, kw_only=True):
    host: str | None = None
    path: str | None = None
    port: int | str | None = None
    scheme: str | None = None


class TCPSocketAction(Record, frozen=True, kw_only=True):
    host: str | None = None
    port: int | str | None = None


class GRPCAction(Record, frozen=True, kw_only=True):
    port: int | None = None
    service: str | None = None


class SleepAction(Record, frozen=True, kw_only=True):
    seconds: int = 0


class LifecycleHandler(Record, frozen=True, kw_only=True):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class Lifecycle(Record, frozen=True, kw_only=True):
    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class Probe(Record, frozen=True, kw_only=True):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    initial_delay_seconds: int | None = None
    timeout_seconds: int | None = None
    period_seconds: int | None = None
    success_threshold: int | None = None
    failure_threshold: int | None = None


class Container(Record, frozen=True, kw_only=True):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    ports: tuple[ContainerPort, ...] | None = None
    readiness_probe: Probe | None = None
    liveness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    restart_policy: str | None = None


class PodDNSConfigOption(Record, frozen=True, kw_only=True):
    name: str = ""
    value: str | None = None


class PodDNSConfig(Record, frozen=True, kw_only=True):
    nameservers: tuple[str, ...] | None = None
    searches: tuple[str, ...] | None = None
    options: tuple[PodDNSConfigOption, ...] | None = None


class HostAlias(Record, frozen=True, kw_only=True):
    ip: str = ""
    hostnames: tuple[str, ...] | None = None


class PodReadinessGate(Record, frozen=True, kw_only=True):
    condition_type: str = ""


class PodSpec(Record, frozen=True, kw_only=True):
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    node_name: str | None = None
    host_network: bool | None = None
    hostname: str | None = None
    subdomain: str | None = None
    dns_policy: str | None = None
    dns_config: PodDNSConfig | None = None
    host_aliases: tuple[HostAlias, ...] | None = None
    readiness_gates: tuple[PodReadinessGate, ...] | None = None
    termination_grace_period_seconds: int | None = None
    restart_policy: str | None = None
    share_process_namespace: bool | None = None


class Condition(Record, frozen=True, kw_only=True):
    """A condition of a Pod, Node, Deployment, ...; ``status`` is "True", "False" or "Unknown"."""

    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    last_heartbeat_time: str | None = None
    last_update_time: str | None = None


class PodIP(Record, frozen=True, kw_only=True):
    ip: str = ""


class ContainerStateWaiting(Record, frozen=True, kw_only=True):
    reason: str | None = None
    message: str | None = None


class ContainerStateRunning(Record, frozen=True, kw_only=True):
    started_at: str | None = None


class ContainerStateTerminated(Record, frozen=True, kw_only=True):
    exit_code: int = 0
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class ContainerState(Record, frozen=True, kw_only=True):
    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(Record, frozen=True, kw_only=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    started: bool | None = None
    image: str = ""
    image_id: str = msgspec.field(name="imageID", default="")
    state: ContainerState | None = None
    last_state: ContainerState | None = None


class PodStatus(Record, frozen=True, kw_only=True):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    pod_ip: str | None = msgspec.field(name="podIP", default=None)
    pod_ips: tuple[PodIP, ...] | None = msgspec.field(name="podIPs", default=None)
    host_ip: str | None = msgspec.field(name="hostIP", default=None)
    conditions: tuple[Condition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    start_time: str | None = None


class Pod(Object, frozen=True, kw_only=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def ips(self) -> tuple[str, ...]:
        """Pod addresses, primary first; empty before the sandbox has one."""
        listed = tuple(entry.ip for entry in self.status.pod_ips or () if entry.ip)
        return listed or ((self.status.pod_ip,) if self.status.pod_ip else ())

    @property
    def ready(self) -> bool | None:
        """The Ready condition; None when the Pod carries none."""
        for condition in self.status.conditions or ():
            if condition.type == "Ready":
                return condition.status == "True"
        return None

    @property
    def deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def finished(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")


# --- core/v1 Node, Event, ConfigMap, Namespace ---------------------------------------------------------------------


class NodeAddress(Record, frozen=True, kw_only=True):
    type: str = ""
    address: str = ""


class NodeSystemInfo(Record, frozen=True, kw_only=True):
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    kubelet_version: str = ""
    kube_proxy_version: str = ""


class NodeStatus(Record, frozen=True, kw_only=True):
    addresses: tuple[NodeAddress, ...] | None = None
    conditions: tuple[Condition, ...] | None = None
    node_info: NodeSystemInfo | None = None


class NodeSpec(Record, frozen=True, kw_only=True):
    pod_cidr: str | None = msgspec.field(name="podCIDR", default=None)
    pod_cidrs: tuple[str, ...] | None = msgspec.field(name="podCIDRs", default=None)
    unschedulable: bool | None = None


class Node(Object, frozen=True, kw_only=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def zone(self) -> str | None:
        return self.labels.get("topology.kubernetes.io/zone")


class Event(Object, frozen=True, kw_only=True):
    """core/v1 Event (events.k8s.io/v1 is read into the same fields: ``regarding``, ``note``)."""

    involved_object: ObjectReference | None = None
    regarding: ObjectReference | None = None
    reason: str | None = None
    message: str | None = None
    note: str | None = None
    type: str | None = None
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None

    @property
    def subject(self) -> ObjectReference:
        return self.involved_object or self.regarding or ObjectReference()

    @property
    def at(self) -> str | None:
        """Last time it was seen, RFC 3339."""
        return self.last_timestamp or self.event_time or self.first_timestamp or self.metadata.creation_timestamp


class ConfigMap(Object, frozen=True, kw_only=True):
    data: dict[str, str] | None = None


class Namespace(Object, frozen=True, kw_only=True):
    pass


# --- selectors, workloads, policies ---------------------------------------------------------------------------------


class LabelSelectorRequirement(Record, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Record, frozen=True, kw_only=True):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelSelectorRequirement, ...] | None = None


class PodTemplate(Record, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class RollingUpdate(Record, frozen=True, kw_only=True):
    max_unavailable: int | str | None = None
    max_surge: int | str | None = None
    partition: int | None = None


class Strategy(Record, frozen=True, kw_only=True):
    type: str | None = None
    rolling_update: RollingUpdate | None = None


class JobTemplate(Record, frozen=True, kw_only=True):
    """What a CronJob makes Jobs from."""

    spec: WorkloadSpec


class WorkloadSpec(Record, frozen=True, kw_only=True):
    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None
    strategy: Strategy | None = None
    update_strategy: Strategy | None = None
    min_ready_seconds: int | None = None
    progress_deadline_seconds: int | None = None
    service_name: str | None = None
    paused: bool | None = None
    job_template: JobTemplate | None = None


class WorkloadStatus(Record, frozen=True, kw_only=True):
    observed_generation: int | None = None
    replicas: int | None = None
    updated_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    unavailable_replicas: int | None = None
    terminating_replicas: int | None = None
    desired_number_scheduled: int | None = None
    number_ready: int | None = None
    updated_number_scheduled: int | None = None
    conditions: tuple[Condition, ...] | None = None


class Workload(Object, frozen=True, kw_only=True):
    """Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, or any object with ``spec.template``."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class IPBlock(Record, frozen=True, kw_only=True):
    cidr: str = ""
    except_: tuple[str, ...] | None = msgspec.field(name="except", default=None)


class NetworkPolicyPeer(Record, frozen=True, kw_only=True):
    pod_selector: LabelSelector | None = None
    namespace_selector: LabelSelector | None = None
    ip_block: IPBlock | None = None


class NetworkPolicyPort(Record, frozen=True, kw_only=True):
    protocol: str | None = None
    port: int | str | None = None
    end_port: int | None = None


class NetworkPolicyIngressRule(Record, frozen=True, kw_only=True):
    from_: tuple[NetworkPolicyPeer, ...] | None = msgspec.field(name="from", default=None)
    ports: tuple[NetworkPolicyPort, ...] | None = None


class NetworkPolicyEgressRule(Record, frozen=True, kw_only=True):
    to: tuple[NetworkPolicyPeer, ...] | None = None
    ports: tuple[NetworkPolicyPort, ...] | None = None


class NetworkPolicySpec(Record, frozen=True, kw_only=True):
    pod_selector: LabelSelector = LabelSelector()
    policy_types: tuple[str, ...] | None = None
    ingress: tuple[NetworkPolicyIngressRule, ...] | None = None
    egress: tuple[NetworkPolicyEgressRule, ...] | None = None


class NetworkPolicy(Object, frozen=True, kw_only=True):
    spec: NetworkPolicySpec = NetworkPolicySpec()


class PodDisruptionBudgetSpec(Record, frozen=True, kw_only=True):
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(Record, frozen=True, kw_only=True):
    disruptions_allowed: int | None = None
    current_healthy: int | None = None
    desired_healthy: int | None = None
    expected_pods: int | None = None


class PodDisruptionBudget(Object, frozen=True, kw_only=True):
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class OtherObject(Object, frozen=True, kw_only=True):
    """An object of a kind no layer reads; kept so that nothing recorded is lost from the inventory."""

    spec: dict[str, Any] | None = None


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

#: API kind -> record, for the decoder. Workload-like CRDs are recognised by their ``spec.template``.
KINDS: dict[str, type[Object]] = {
    "Service": Service,
    "EndpointSlice": EndpointSlice,
    "Endpoints": Endpoints,
    "Pod": Pod,
    "Node": Node,
    "Event": Event,
    "ConfigMap": ConfigMap,
    "Namespace": Namespace,
    "NetworkPolicy": NetworkPolicy,
    "PodDisruptionBudget": PodDisruptionBudget,
    **dict.fromkeys(WORKLOAD_KINDS, Workload),
}
