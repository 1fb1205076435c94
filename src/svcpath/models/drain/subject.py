"""The Pods of one workload as the drain sees them: grace period, containers with their hooks, which of them is on the path.

On the path is what traffic goes through: the containers whose ports a Service that selects the Pods targets, else those
that declare a port that is not for metrics, health or administration, else all ordinary ones; and every ordinary
container that is a known proxy. Sidecars are signalled last and so never shorten the path.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from svcpath.evidence.facts.kubernetes import Container, Object, Pod, PodSpec, PodTemplate, Service, Workload
from svcpath.models.drain.clock import DEFAULT_GRACE
from svcpath.models.drain.hooks import Hook, hook_of
from svcpath.models.policies.selectors import matches

Field = tuple[str | int, ...]

_PROXY = re.compile(
    r"(?:^|[-_/.])(?:envoy|istio-?proxy|proxyv2|linkerd-?proxy|nginx|haproxy|traefik|caddy|oauth2-proxy)(?:$|[-_:.@])"
)
_SIDE_PORT = re.compile(r"metric|prom|health|probe|admin|debug|status|stats|pprof|monitor|mgmt|management")
#: Seconds of a Knative revision's timeout unless it or config-defaults sets another.
_REVISION_TIMEOUT = 300
_QUEUE_PROXY = Hook(0.0, None, "httpGet")


class StoppedContainer(msgspec.Struct, frozen=True):
    """One container and how it is stopped. ``field`` is its place in the object, ``has_lifecycle`` whether that is in it."""

    name: str
    image: str
    hook: Hook
    sidecar: bool
    on_path: bool
    stop_signal: str
    field: Field
    has_lifecycle: bool = False

    @property
    def hook_field(self) -> Field:
        return (*self.field, "lifecycle", "preStop")


class Subject(msgspec.Struct, frozen=True):
    """``template`` is the place of the Pod spec in the object; ``serves`` whether anything shows that it takes traffic;
    ``foreign`` whether its kind is a CRD's. The Pods of a Knative revision get their grace period from its timeoutSeconds and
    an httpGet hook that waits for the queue proxy (knative.dev/serving pkg/reconciler/revision/resources/deploy.go)."""

    kind: str
    namespace: str
    name: str
    grace: int
    grace_is_default: bool
    containers: tuple[StoppedContainer, ...]
    template: Field
    serves: bool
    services: tuple[Service, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    foreign: bool = False
    knative: bool = False

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def ordinary(self) -> tuple[StoppedContainer, ...]:
        return tuple(container for container in self.containers if not container.sidecar)

    @property
    def on_path(self) -> tuple[StoppedContainer, ...]:
        return tuple(container for container in self.ordinary if container.on_path)

    @property
    def grace_field(self) -> Field:
        return (*self.template, "timeoutSeconds" if self.knative else "terminationGracePeriodSeconds")


def pod_spec(obj: Object) -> PodSpec | None:
    """The spec of the Pods that an object makes (of a Pod its own)."""
    if isinstance(obj, Pod):
        return obj.spec
    template = pod_template(obj)
    return None if template is None else template.spec


def pod_template(obj: Object) -> PodTemplate | None:
    """What a workload makes Pods from; of a CronJob that of its Jobs."""
    if not isinstance(obj, Workload):
        return None
    jobs = obj.spec.job_template
    return obj.spec.template if jobs is None else jobs.spec.template


def _labels(obj: Object) -> dict[str, str]:
    """The labels of the Pods."""
    if isinstance(obj, Pod):
        return obj.labels
    template = pod_template(obj)
    return {} if template is None else template.metadata.labels or {}


def pod_labels_and_annotations(obj: Object) -> Iterator[tuple[Field, dict[str, str]]]:
    """Labels and annotations of the Pods, each with its place in the object."""
    template = pod_template(obj)
    metadata = obj.metadata if template is None else template.metadata
    place = ("metadata",) if template is None else (*_place(obj)[:-1], "metadata")
    yield (*place, "labels"), metadata.labels or {}
    yield (*place, "annotations"), metadata.annotations or {}


def _place(obj: Object) -> Field:
    """Where the Pod spec stands in the object."""
    if isinstance(obj, Pod):
        return ("spec",)
    jobs = isinstance(obj, Workload) and obj.spec.job_template is not None
    return ("spec", "jobTemplate", "spec", "template", "spec") if jobs else ("spec", "template", "spec")


def selecting(obj: Object, services: Sequence[Service]) -> tuple[Service, ...]:
    """The Services whose selector picks the Pods of ``obj``. Objects without a namespace fit any (rendered charts)."""
    labels = _labels(obj)
    return tuple(
        service
        for service in services
        if service.spec.selector
        and (not service.namespace or not obj.namespace or service.namespace == obj.namespace)
        and matches(service.spec.selector, labels)
    )


def subject_of(
    obj: Object, services: Sequence[Service] = (), *, path: Collection[str] = (), at: Field | None = None
) -> Subject | None:
    """What is stopped when a Pod of ``obj`` is deleted; None for an object without Pods.

    ``path`` names the containers on the path, where the user knows better.
    """
    spec = pod_spec(obj)
    if spec is None or not spec.containers:
        return None
    mine = selecting(obj, services)
    template = at if at is not None else _place(obj)
    chosen = frozenset(path) & {container.name for container in spec.containers} or _on_path(spec.containers, mine)
    containers = [
        _stopping(container, container.name in chosen, False, (*template, "containers", number))
        for number, container in enumerate(spec.containers)
    ]
    containers.extend(
        _stopping(container, False, True, (*template, "initContainers", number))
        for number, container in enumerate(spec.init_containers or ())
        if container.restart_policy == "Always"
    )
    grace = spec.termination_grace_period_seconds
    knative = obj.api_version.startswith("serving.knative.dev/")
    if knative:
        grace = spec.timeout_seconds
        containers = [msgspec.structs.replace(container, hook=_QUEUE_PROXY) for container in containers]
    if isinstance(obj, Pod) and obj.metadata.deletion_grace_period_seconds and obj.deleting:
        grace = obj.metadata.deletion_grace_period_seconds
    return Subject(
        kind=obj.kind,
        namespace=obj.namespace,
        name=obj.name,
        grace=(_REVISION_TIMEOUT if knative else DEFAULT_GRACE) if grace is None else _counted(grace),
        grace_is_default=grace is None,
        containers=tuple(containers),
        template=template,
        serves=obj.kind not in ("Job", "CronJob")
        and (bool(mine) or any(_takes_traffic(container) for container in spec.containers)),
        services=mine,
        labels=tuple(sorted(_labels(obj).items())),
        foreign=obj.api_version.rpartition("/")[0] not in ("", "apps", "batch", "extensions"),
        knative=knative,
    )


def _counted(grace: int) -> int:
    """API servers take a negative grace period for 1 s (v1.35 pkg/registry/core/pod/strategy.go, CheckGracefulDelete)."""
    return 1 if grace < 0 else grace


def _stopping(container: Container, on_path: bool, sidecar: bool, field: Field) -> StoppedContainer:
    lifecycle = container.lifecycle
    return StoppedContainer(
        name=container.name,
        image=container.image,
        hook=hook_of(lifecycle.pre_stop if lifecycle else None),
        sidecar=sidecar,
        on_path=on_path,
        stop_signal=(lifecycle.stop_signal if lifecycle else None) or "",
        field=field,
        has_lifecycle=lifecycle is not None,
    )


def _takes_traffic(container: Container) -> bool:
    return bool(_main_ports(container)) or container.readiness_probe is not None


def _main_ports(container: Container) -> list[int]:
    return [port.container_port for port in container.ports or () if not _SIDE_PORT.search((port.name or "").lower())]


def is_proxy(container: Container) -> bool:
    image = container.image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return bool(_PROXY.search(container.name) or _PROXY.search(image))


def _on_path(containers: Sequence[Container], services: Sequence[Service]) -> frozenset[str]:
    wanted = {
        port.target_port if port.target_port is not None else port.port
        for service in services
        for port in service.ports
    }
    targeted = {
        container.name
        for container in containers
        if any(port.container_port in wanted or (port.name or "") in wanted for port in container.ports or ())
    }
    chosen = (
        targeted
        or {container.name for container in containers if _main_ports(container)}
        or {container.name for container in containers}
    )
    return frozenset(chosen | {container.name for container in containers if is_proxy(container)})
