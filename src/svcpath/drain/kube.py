"""What the drain does to a cluster: make objects, wait, follow logs, delete; and clean up after itself."""

from __future__ import annotations

import contextlib
import importlib.resources
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from svcpath.drain.cluster import ClusterTransport, Expired, WatchCut
from svcpath.drain.sampler import whole
from svcpath.errors import SourceUnavailable, UnknownTarget
from svcpath.evidence.sources.kube_client import ApiTrouble
from svcpath.evidence.sources.kube_objects import Resource

#: Namespaces that the drain made carry this label and no other is ever deleted.
LABEL = "svcpath.drain/made"
_NAMESPACES = "/api/v1/namespaces"
#: Kinds that the drain makes.
RESOURCE_OF = {
    "ConfigMap": Resource("configmaps"),
    "Deployment": Resource("deployments", "apps"),
    "Pod": Resource("pods"),
    "Service": Resource("services"),
}


def script(name: str) -> str:
    """The text of a script that runs inside containers."""
    return importlib.resources.files("svcpath.drain.scripts").joinpath(name).read_text()


def frontends(cluster: ClusterTransport, space: str, kind: str, name: str) -> frozenset[str]:
    """The cluster addresses of a Service, or of the Services that select a Deployment's Pods.

    Raises UnknownTarget when it is not there.
    """
    if kind.lower().startswith("s"):
        found = [existing(cluster.get, RESOURCE_OF["Service"], f"Service {name}", space, name)]
    else:
        deployment = existing(cluster.get, RESOURCE_OF["Deployment"], f"Deployment {name}", space, name)
        template = deployment["spec"]["template"]["metadata"].get("labels") or {}
        found = [
            service
            for service in json.loads(cluster.get(RESOURCE_OF["Service"].path(space)))["items"]
            if service["spec"].get("selector") and service["spec"]["selector"].items() <= template.items()
        ]
    return frozenset(ip for service in found for ip in service["spec"].get("clusterIPs") or () if ip != "None")


def existing(get: Callable[[str], bytes], resource: Resource, called: str, space: str, name: str) -> dict[str, Any]:
    """An object that the user named, ``called`` so, by ``get`` of a cluster. Raises UnknownTarget where it is not there, ApiTrouble."""
    try:
        found: dict[str, Any] = json.loads(get(resource.path(space, name)))
    except ApiTrouble as error:
        if error.status != 404:
            raise
        look = f"kubectl -n {space} get {resource.named}"
        raise UnknownTarget(f"no {called} in namespace {space}: {look}") from error
    return found


@contextlib.contextmanager
def namespace(api: Api, name: str) -> Iterator[None]:
    """A namespace of the drain's own, removed in the end whatever happens. One that is there already is refused."""
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {LABEL: "true"}}}
    deadline = time.monotonic() + 90
    while not _made(api, made):
        metadata = _metadata(api, name)
        if metadata is None:
            continue  # it went between the two calls
        if (metadata.get("labels") or {}).get(LABEL) != "true":
            raise SourceUnavailable(f"namespace {name} is there already and not the drain's: choose another cluster")
        if "deletionTimestamp" not in metadata or time.monotonic() > deadline:
            raise SourceUnavailable(
                f"namespace {name} is left by a run that was killed, or in use: kubectl delete namespace {name}"
            )
        time.sleep(1)  # an earlier run's namespace is going
    try:
        yield
    finally:
        api.call("DELETE", f"{_NAMESPACES}/{name}")


def _made(api: Api, made: dict[str, Any]) -> bool:
    """False where a namespace of that name is there."""
    try:
        api.call("POST", _NAMESPACES, made)
    except ApiTrouble as error:
        if error.status == 409:
            return False
        raise
    return True


def _metadata(api: Api, name: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = api.call("GET", f"{_NAMESPACES}/{name}")["metadata"]
    except ApiTrouble as error:
        if error.status == 404:
            return None
        raise
    return found


class Api:
    """Calls to the API server, by what they are for."""

    def __init__(self, cluster: ClusterTransport) -> None:
        self.cluster = cluster

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """One call. Raises ApiTrouble unless the answer is 2xx."""
        return json.loads(self.cluster.request(method, path, None if body is None else json.dumps(body).encode(), kind))

    def create(self, objects: Sequence[dict[str, Any]]) -> None:
        """Make objects of the kinds that a drain is played with. Raises ApiTrouble, also for one that is there."""
        for made in objects:
            self.call("POST", RESOURCE_OF[made["kind"]].path(made["metadata"]["namespace"]), made)

    def restart(self, space: str, deployment: str) -> None:
        """As `kubectl rollout restart` does."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        annotation = {"kubectl.kubernetes.io/restartedAt": stamp}
        patch = {"spec": {"template": {"metadata": {"annotations": annotation}}}}
        path = RESOURCE_OF["Deployment"].path(space, deployment)
        self.call("PATCH", path, patch, "application/strategic-merge-patch+json")

    def pods(self, space: str, selector: str = "") -> list[dict[str, Any]]:
        query = f"?labelSelector={selector.replace('=', '%3D').replace(',', '%2C')}" if selector else ""
        items: list[dict[str, Any]] = self.call("GET", RESOURCE_OF["Pod"].path(space) + query)["items"]
        return items

    def ready_pods(self, space: str, selector: str, count: int, timeout: float = 240) -> list[dict[str, Any]]:
        """Waits until ``count`` Pods are ready and none is leaving. Raises SourceUnavailable."""
        deadline = time.monotonic() + timeout
        while True:
            found = [pod for pod in self.pods(space, selector) if "deletionTimestamp" not in pod["metadata"]]
            ready = [pod for pod in found if is_ready(pod)]
            if len(ready) >= count:
                return ready
            if time.monotonic() > deadline:
                raise SourceUnavailable(f"{len(ready)} of {count} Pods ready after {timeout:g} s ({selector})")
            time.sleep(0.5)

    def delete_pod(self, space: str, name: str) -> float:
        """Deletes a Pod; returns when the API server had accepted it."""
        self.call("DELETE", RESOURCE_OF["Pod"].path(space, name))
        return time.time()

    def orphan(self, path: str, selector: str, timeout: float = 60) -> None:
        """Deletes the objects of a collection and leaves their Pods as they are. Raises SourceUnavailable."""
        query = f"{path}?labelSelector={selector.replace('=', '%3D')}"
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Orphan"}
        self.call("DELETE", query, options)
        deadline = time.monotonic() + timeout
        while left := self.call("GET", query)["items"]:
            if time.monotonic() > deadline:
                raise SourceUnavailable(f"{len(left)} objects of {path} are still there after {timeout:g} s")
            time.sleep(0.3)

    def clear(self, space: str) -> None:
        """Deletes the namespace's Deployments and Services, with their Pods."""
        for kind in ("Deployment", "Service"):
            self.call("DELETE", RESOURCE_OF[kind].path(space))

    def follow_log(self, space: str, pod: str, container: str, on_line: Callable[[str], None]) -> threading.Thread:
        """Calls ``on_line`` once with every line of a container's log, in a thread, until the container ends.

        A log that stops while the container runs is asked for again and what was there is skipped: a kubelet ends it where
        its node has no inotify instance left, a proxy where it is cut.
        """
        path = f"{RESOURCE_OF['Pod'].path(space, pod)}/log?follow=true&container={container}"

        def run() -> None:
            seen, ended = 0, False
            while not ended:
                ended = self._ended(space, pod, container)
                for line in itertools.islice(self._log(path), seen, None):
                    on_line(line)
                    seen += 1
                time.sleep(0 if ended else 0.5)

        thread = threading.Thread(target=run, name=f"log of {pod}", daemon=True)
        thread.start()
        return thread

    def _ended(self, space: str, pod: str, container: str) -> bool:
        """Whether a container has ended, or its Pod is gone, or the client is closed; not where the API server does
        not answer."""
        try:
            found = self.call("GET", RESOURCE_OF["Pod"].path(space, pod)).get("status", {})
        except ApiTrouble as error:
            return error.status == 404
        except SourceUnavailable:
            return True
        statuses = (*(found.get("containerStatuses") or ()), *(found.get("initContainerStatuses") or ()))
        return any(status["name"] == container and "terminated" in status.get("state", {}) for status in statuses)

    def _log(self, path: str) -> Iterator[str]:
        """The whole lines of a log, as far as it is given. A piece without an end of line is none, or an error's text."""
        with contextlib.suppress(WatchCut, Expired):
            for line in self.cluster.stream(path):
                yield line.decode("utf-8", "replace").rstrip("\n")


def is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def scripts_map(space: str) -> dict[str, Any]:
    """The ConfigMap with the scripts that the drain's Pods run."""
    names = ("drain_server.py", "grpc_server.py", "light_server.py", "grid_client.py")
    data = {name: script(name) for name in names}
    data["sampler.py"] = whole.text()
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "drain-scripts", "namespace": space},
        "data": data,
    }


def client_pod(space: str, image: str, name: str = "client") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": space, "labels": {"app": "drain-client"}},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {
                    "name": "c",
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["sleep", "infinity"],
                    "volumeMounts": [{"name": "scripts", "mountPath": "/scripts"}],
                }
            ],
            "volumes": [{"name": "scripts", "configMap": {"name": "drain-scripts"}}],
        },
    }
