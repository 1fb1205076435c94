"""Which container of a Pod is meant, which others share its network and files, and whether one has a shell."""

from __future__ import annotations

from svcpath.evidence.facts import kubernetes as api
from svcpath.evidence.facts.observation import Reason
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.evidence.sources.kube_exec import NO_PROGRAM, Executed

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


def container_of(pod: api.Pod, asked: str) -> str:
    """The container that is meant: ``asked``, else the annotated default, else the first, as kubectl chooses.

    Raises ApiTrouble with the names when there is no such container.
    """
    names = [container.name for container in pod.spec.containers or ()]
    wanted = asked or pod.annotations.get(DEFAULT_CONTAINER, "")
    if wanted in names:
        return wanted
    if asked:
        every = [
            *names,
            *(container.name for container in pod.spec.init_containers or () if container.restart_policy == "Always"),
        ]
        if asked in every:
            return asked
        raise ApiTrouble(f"Pod {pod.name} has no container {asked}; it has {', '.join(every)}", Reason.NOT_RUNNING)
    return names[0] if names else ""


def others(pod: api.Pod, first: str) -> list[str]:
    """The running containers beside ``first``."""
    running = {
        status.name
        for status in pod.status.container_statuses or ()
        if status.state is not None and status.state.running is not None
    }
    return [
        container.name
        for container in pod.spec.containers or ()
        if container.name != first and container.name in running
    ]


def no_shell(done: Executed) -> bool:
    """The runtime could not start the program (containerd, CRI-O: 126/127 or a failed start without an exit code)."""
    if done.out:
        return False
    if done.code is not None:
        return done.code in (126, 127)
    no_tool = done.trouble is not None and done.trouble.reason is Reason.NO_TOOL
    return no_tool or NO_PROGRAM.search(done.err[:2000].decode("utf-8", "replace")) is not None


def said(done: Executed) -> str:
    words = done.err[-200:].decode("utf-8", "replace").strip() or str(done.trouble or "")
    return words or f"exit {done.code}"
