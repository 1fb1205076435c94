"""Wait until a rollout is really over: new Pods available, and old Pods and their connections gone.

What `kubectl rollout status` reports is noted on the way, so that the difference can be shown. Connections are seen in the
old Pods' own socket tables (exec) while they live; when a Pod's network namespace is gone, so are its connections.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from svcpath.drain.kube import RESOURCE_OF, existing
from svcpath.errors import FormatError, SourceUnavailable
from svcpath.evidence.facts.sockets import SocketTable
from svcpath.evidence.formats import procnet
from svcpath.evidence.formats import text as texts
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.evidence.sources.kube_exec import Executed

#: What exec says about a container that has ended already: then its connections have, too.
_OVER = ("not found", "not running", "stopped", "is not created or running", "completed pod", "does not exist")


class ClusterReader(Protocol):
    """What is asked of the cluster; ClusterTransport is one. Raises ApiTrouble."""

    def get(self, path: str) -> bytes: ...

    def execute(self, namespace: str, pod: str, container: str, command: Sequence[str], seconds: float) -> Executed: ...


class _Ended(Exception):
    """The container has ended, or its Pod is gone."""


@dataclass(frozen=True, slots=True)
class Over:
    """Seconds after the wait began: when the counters said complete, when old connections and old Pods were gone (None:
    not within the time). ``observed`` false: connections of some old Pod could not be seen, ``why`` says it."""

    reported: float | None
    connections_gone: float | None
    pods_gone: float | None
    left: tuple[str, ...]
    most_connections: int
    observed: bool
    why: str

    @property
    def over(self) -> bool:
        return self.reported is not None and self.pods_gone is not None


def is_complete(deployment: dict[str, Any]) -> bool:
    status, spec = deployment.get("status", {}), deployment["spec"]
    desired = spec.get("replicas", 1)
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    return bool(
        status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
        and updated >= desired
        and status.get("replicas", 0) <= updated
        and available >= updated
    )


def old_pods(cluster: ClusterReader, namespace: str, deployment: dict[str, Any]) -> list[dict[str, Any]]:
    """Pods of the Deployment that are leaving, or belong to an earlier template."""
    labels = (deployment["spec"].get("selector") or {}).get("matchLabels") or {}
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    query = f"namespaces/{namespace}/{{}}?labelSelector={quote(selector)}"
    pods = json.loads(cluster.get(f"/api/v1/{query.format('pods')}"))["items"]
    sets = json.loads(cluster.get(f"/apis/apps/v1/{query.format('replicasets')}"))["items"]
    uid = deployment["metadata"]["uid"]
    mine = [
        set_ for set_ in sets if any(owner.get("uid") == uid for owner in set_["metadata"].get("ownerReferences") or ())
    ]
    revision = deployment["metadata"].get("annotations", {}).get("deployment.kubernetes.io/revision")
    current = {
        set_["metadata"]["uid"]
        for set_ in mine
        if set_["metadata"].get("annotations", {}).get("deployment.kubernetes.io/revision") == revision
    }
    owners = {set_["metadata"]["uid"] for set_ in mine}
    found = []
    for pod in pods:
        owner = next(
            (owner["uid"] for owner in pod["metadata"].get("ownerReferences") or () if owner.get("controller")), ""
        )
        ended = (
            pod.get("status", {}).get("phase") in ("Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"]
        )
        if owner in owners and not ended and ("deletionTimestamp" in pod["metadata"] or owner not in current):
            found.append(pod)
    return found


def established(cluster: ClusterReader, namespace: str, pod: dict[str, Any]) -> int:
    """Connections from outside that stand in a Pod: ESTABLISHED, to a port it listens on, not from itself.

    Raises SourceUnavailable when the Pod can't be looked into, _Ended when there is nothing left to look into.
    """
    name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
    try:
        done = cluster.execute(namespace, name, container, ("cat", "/proc/net/tcp", "/proc/net/tcp6"), 15)
    except ApiTrouble as error:
        # 400: the Pod has completed; the container is one of its own.
        if error.status in (400, 404):
            raise _Ended from error
        raise
    if done.trouble is not None and any(word in str(done.trouble) for word in _OVER):
        raise _Ended
    # A node without IPv6 has no tcp6, and cat says so.
    if done.trouble is not None or not done.out:
        why = str(done.trouble or done.err.decode("utf-8", "replace").strip() or f"exit {done.code}")
        raise SourceUnavailable(f"exec in {name}: {why}")
    raw = done.out
    try:
        items = procnet.read_procnet(texts.decode(raw))
    except FormatError as error:
        raise SourceUnavailable(f"/proc/net/tcp of {pod['metadata']['name']}: {error}") from error
    sockets = [socket for item in items if isinstance(item.value, SocketTable) for socket in item.value.sockets]
    listening = {socket.local_port for socket in sockets if socket.state == "LISTEN"}
    return sum(
        1
        for socket in sockets
        if socket.state == "ESTABLISHED"
        and socket.local_port in listening
        and not (socket.remote_address or "").startswith("127.")
        and socket.remote_address != "::1"
    )


def wait(
    cluster: ClusterReader,
    namespace: str,
    name: str,
    *,
    timeout: float,
    say: Callable[[str], None],
    every: float = 1.0,
) -> Over:
    """Follow a Deployment until it is over or the time is used up. Raises UnknownTarget, SourceUnavailable."""
    begun = time.monotonic()
    reported: float | None = None
    quiet: float | None = None
    most = 0
    observed, why = True, ""
    while True:
        deployment = existing(cluster.get, RESOURCE_OF["Deployment"], f"Deployment {name}", namespace, name)
        at = time.monotonic() - begun
        if reported is None and is_complete(deployment):
            reported = at
            say(f"+{at:.1f} s  the rollout is reported complete")
        left = old_pods(cluster, namespace, deployment)
        count = 0
        for pod in left:
            try:
                count += established(cluster, namespace, pod)
            except _Ended:
                continue
            except SourceUnavailable as error:
                observed, why = False, str(error)
        most = max(most, count)
        at = time.monotonic() - begun
        if count or not left:
            quiet = None if count else (quiet if quiet is not None else at)
        elif quiet is None and observed:
            quiet = at
        names = tuple(pod["metadata"]["name"] for pod in left)
        if reported is not None and not left:
            say(f"+{at:.1f} s  old Pods are gone")
            return Over(reported, quiet if observed else None, at, (), most, observed, why)
        if at > timeout:
            return Over(reported, quiet if observed and not count else None, None, names, most, observed, why)
        time.sleep(every)
