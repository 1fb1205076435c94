"""What never leaves a cluster in a report or a bundle: arguments of processes, environment values, foreign annotations.

The records of facts.kubernetes have no field for environment values or Secret data; what is left are command lines
(containers, probes, hooks), annotations, in which tools leave manifests and tokens, and the last words of a container. A
command keeps its program; a hook that only sleeps is kept, since its seconds are the drain.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.text import LogText
from svcpath.evidence.formats.kubernetesrecords import LAST_APPLIED

#: Owners of annotations that say how traffic goes; what others write may be anything.
_OWNERS = ("kubernetes.io", "k8s.io", "cilium.io", "istio.io", "projectcalico.org", "linkerd.io", "metallb.io")
_SLEEP = re.compile(
    r"(?:(?:/\w+)*/?sleep\s+\d+(?:\.\d+)?[smh]?|nginx -s (?:quit|stop)|kill (?:-\w+ )?1|true|exit 0|\s|;|&&)+"
)
_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
#: klog prints every flag of a component at its start.
_FLAG = re.compile(r"\bFLAG: --|\bcommand line\b|\bCommand line\b")


def reduced(value: Any) -> Any:
    """``value`` without what may be secret; the same value when there was nothing."""
    if isinstance(value, api.Pod):
        return _metadata(msgspec.structs.replace(value, spec=_pod_spec(value.spec), status=_pod_status(value.status)))
    if isinstance(value, api.Workload):
        spec = value.spec
        if spec.template is not None:
            template = msgspec.structs.replace(
                spec.template, spec=_pod_spec(spec.template.spec), metadata=_meta(spec.template.metadata)
            )
            spec = msgspec.structs.replace(spec, template=template)
        if spec.job_template is not None:
            spec = msgspec.structs.replace(spec, job_template=None)
        return _metadata(msgspec.structs.replace(value, spec=spec))
    if isinstance(value, api.ConfigMap):
        return msgspec.structs.replace(_metadata(value), data=None)
    if isinstance(value, api.OtherObject):
        return msgspec.structs.replace(_metadata(value), spec=None)
    if isinstance(value, api.Object):
        return _metadata(value)
    if isinstance(value, LogText):
        return msgspec.structs.replace(value, text=log(value.text))
    return value


def log(text: str) -> str:
    """A component's log without the lines that repeat its command line."""
    return "".join(line for line in text.splitlines(keepends=True) if not _FLAG.search(line))


def _metadata(obj: Any) -> Any:
    return msgspec.structs.replace(obj, metadata=_meta(obj.metadata))


def _meta(meta: api.ObjectMeta) -> api.ObjectMeta:
    if not meta.annotations:
        return meta
    kept = {key: value if _says_traffic(key) else "" for key, value in meta.annotations.items()}
    return msgspec.structs.replace(meta, annotations=kept)


def _says_traffic(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    if not slash or key == LAST_APPLIED:
        return False
    return any(domain == owner or domain.endswith("." + owner) for owner in _OWNERS)


def _pod_spec(spec: api.PodSpec) -> api.PodSpec:
    return msgspec.structs.replace(
        spec,
        containers=_containers(spec.containers),
        init_containers=_containers(spec.init_containers),
    )


def _containers(containers: tuple[api.Container, ...] | None) -> tuple[api.Container, ...] | None:
    if containers is None:
        return None
    return tuple(
        msgspec.structs.replace(
            container,
            command=_program(container.command),
            args=None,
            readiness_probe=_probe(container.readiness_probe),
            liveness_probe=_probe(container.liveness_probe),
            startup_probe=_probe(container.startup_probe),
            lifecycle=_lifecycle(container.lifecycle),
        )
        for container in containers
    )


def _program(command: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return command[:1] if command else command


def _exec(action: api.ExecAction | None) -> api.ExecAction | None:
    if action is None or not action.command:
        return action
    words = action.command
    shell = words[0].rpartition("/")[2] in _SHELLS and len(words) == 3 and words[1] == "-c"
    text = words[2].strip() if shell else " ".join(words)
    if _SLEEP.fullmatch(text):
        return action
    return msgspec.structs.replace(action, command=_program(words))


def _probe(probe: api.Probe | None) -> api.Probe | None:
    if probe is None:
        return None
    return msgspec.structs.replace(probe, exec=_exec(probe.exec), http_get=_without_query(probe.http_get))


def _without_query(action: api.HTTPGetAction | None) -> api.HTTPGetAction | None:
    if action is None or not action.path or "?" not in action.path:
        return action
    return msgspec.structs.replace(action, path=action.path.partition("?")[0])


def _lifecycle(lifecycle: api.Lifecycle | None) -> api.Lifecycle | None:
    if lifecycle is None:
        return None
    changed = {
        name: msgspec.structs.replace(handler, exec=_exec(handler.exec), http_get=_without_query(handler.http_get))
        for name in ("pre_stop", "post_start")
        if (handler := getattr(lifecycle, name, None)) is not None
    }
    return msgspec.structs.replace(lifecycle, **changed)


def _pod_status(status: api.PodStatus) -> api.PodStatus:
    return msgspec.structs.replace(
        status,
        container_statuses=_statuses(status.container_statuses),
        init_container_statuses=_statuses(status.init_container_statuses),
    )


def _statuses(statuses: tuple[api.ContainerStatus, ...] | None) -> tuple[api.ContainerStatus, ...] | None:
    if statuses is None:
        return None
    return tuple(
        msgspec.structs.replace(status, state=_state(status.state), last_state=_state(status.last_state))
        for status in statuses
    )


def _state(state: api.ContainerState | None) -> api.ContainerState | None:
    if state is None or state.terminated is None or not state.terminated.message:
        return state
    return msgspec.structs.replace(state, terminated=msgspec.structs.replace(state.terminated, message=None))
