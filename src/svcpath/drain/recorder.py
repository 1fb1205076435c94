"""Follow the objects of a namespace while something happens, and keep every change once.

A watch that is cut goes on from the last resourceVersion that was kept: nothing is missed. One whose version is too old (410
Gone) is listed again: states are kept again, objects that are no longer there count as vanished, and the recording says
between which moments changes may be missing. Source: Kubernetes API concepts, "Efficient detection of changes".
"""

from __future__ import annotations

import json
import threading
import time
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from svcpath.drain.cluster import ClusterTransport, Expired, WatchCut
from svcpath.drain.store import ObjectState, Store, WatchGap
from svcpath.errors import SourceUnavailable

#: Resource -> API path of its collection in a namespace.
RESOURCES = {
    "pods": "/api/v1/namespaces/{namespace}/pods",
    "endpointslices": "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
    "deployments": "/apis/apps/v1/namespaces/{namespace}/deployments",
    "replicasets": "/apis/apps/v1/namespaces/{namespace}/replicasets",
    "events": "/api/v1/namespaces/{namespace}/events",
}
_KINDS = {
    "pods": ("v1", "Pod"),
    "endpointslices": ("discovery.k8s.io/v1", "EndpointSlice"),
    "deployments": ("apps/v1", "Deployment"),
    "replicasets": ("apps/v1", "ReplicaSet"),
    "events": ("v1", "Event"),
}
#: Objects of one page of a list.
_PAGE = 500
_BACKOFF = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(slots=True)
class Follower:
    """One resource's list and watch, until ``stop`` is set. ``ready`` is set once its first state is kept."""

    cluster: ClusterTransport
    store: Store
    resource: str
    namespace: str
    stop: threading.Event
    ready: threading.Event
    error: str = ""

    @property
    def path(self) -> str:
        return RESOURCES[self.resource].format(namespace=self.namespace)

    def run(self) -> None:
        failures = 0
        while not self.stop.is_set():
            try:
                version = self.store.position(self.resource)
                if version is None:
                    version = self._list(None)
                self.ready.set()
                self._watch(version)
            except Expired as expired:
                if self._relist(str(expired)):
                    failures = 0
                    continue
                failures += 1
            except WatchCut as cut:
                self.error = str(cut)
                failures = 0 if self._moved() else failures + 1
            except SourceUnavailable as error:
                self.error = str(error)
                failures += 1
            if failures:
                self.stop.wait(_BACKOFF[min(failures, len(_BACKOFF)) - 1])

    _last: str | None = None

    def _moved(self) -> bool:
        """Whether the position moved since the last cut: then the server works, and no pause is needed."""
        position = self.store.position(self.resource)
        moved, self._last = position != self._last, position
        return moved

    def _list(self, gap: WatchGap | None) -> str:
        wall, mono = time.time(), time.monotonic()
        found = json.loads(self.cluster.get(f"{self.path}?limit={_PAGE}"))
        version = str(found["metadata"]["resourceVersion"])
        items = list(found.get("items") or ())
        while following := found["metadata"].get("continue"):
            query = urllib.parse.urlencode({"limit": _PAGE, "continue": following})
            found = json.loads(self.cluster.get(f"{self.path}?{query}"))
            items.extend(found.get("items") or ())
        api_version, kind = _KINDS[self.resource]
        alive = self.store.alive(self.resource)
        changes = []
        listed = set()
        for item in items:
            item.setdefault("apiVersion", api_version)
            item.setdefault("kind", kind)
            uid = item["metadata"].get("uid", "")
            listed.add(uid)
            known = alive.get(uid)
            if known is None or known[1] != item["metadata"]["resourceVersion"]:
                changes.append(_change(self.resource, "LISTED", item, wall, mono))
        if gap is not None:
            for uid, (name, last) in alive.items():
                if uid not in listed:
                    changes.append(ObjectState(self.resource, uid, name, last, "VANISHED", wall, mono, b""))
            gap = WatchGap(gap.resource, gap.since, time.time(), gap.why)
        self.store.relisted(changes, self.resource, version, gap)
        return version

    def _relist(self, why: str) -> bool:
        since = self.store.reached(self.resource)
        version = self.store.position(self.resource)
        text = f"resourceVersion {version} was too old (410): states before and after are kept, what lay between is not"
        try:
            self._list(WatchGap(self.resource, since, since, text))
        except (SourceUnavailable, Expired) as error:
            self.error = str(error) or why
            return False
        return True

    def _watch(self, version: str) -> None:
        query = f"?watch=1&allowWatchBookmarks=true&resourceVersion={version}"
        for line in self.cluster.stream(self.path + query):
            if self.stop.is_set():
                return
            wall, mono = time.time(), time.monotonic()
            try:
                event = json.loads(line)
                kind, obj = event["type"], event["object"]
            except (ValueError, KeyError, TypeError) as error:
                raise WatchCut(f"a line of the watch is broken: {error}") from error
            if kind == "ERROR":
                if obj.get("code") == 410 or obj.get("reason") in ("Expired", "Gone"):
                    raise Expired(obj.get("message", ""))
                raise WatchCut(obj.get("message", "the watch ended with an error"))
            position = str(obj["metadata"]["resourceVersion"])
            changes = [] if kind == "BOOKMARK" else [_change(self.resource, kind, obj, wall, mono)]
            self.store.add(changes, self.resource, position)


def _change(resource: str, kind: str, obj: dict[str, Any], wall: float, mono: float) -> ObjectState:
    metadata = obj["metadata"]
    metadata.pop("managedFields", None)
    annotations = metadata.get("annotations")
    if annotations:
        annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    for container in _containers(obj):
        container.pop("env", None)
        container.pop("envFrom", None)
    body = json.dumps(obj, separators=(",", ":")).encode()
    return ObjectState(
        resource, metadata.get("uid", ""), metadata["name"], str(metadata["resourceVersion"]), kind, wall, mono, body
    )


def _containers(obj: dict[str, Any]) -> list[dict[str, Any]]:
    """The containers of a Pod or of a template: their environment is never kept."""
    spec = obj.get("spec") or {}
    spec = (spec.get("template") or {}).get("spec") or spec
    return [value for name in ("containers", "initContainers", "ephemeralContainers") for value in spec.get(name) or ()]


class DrainRecorder:
    """Followers of several resources beside each other, into one store."""

    def __init__(
        self, cluster: ClusterTransport, store: Store, namespace: str, resources: Sequence[str] = tuple(RESOURCES)
    ) -> None:
        self.cluster = cluster
        self.store = store
        self.stop = threading.Event()
        self.followers = [
            Follower(cluster, store, resource, namespace, self.stop, threading.Event()) for resource in resources
        ]
        self._threads: list[threading.Thread] = []

    def start(self, timeout: float = 60.0) -> None:
        """Begin, and wait until the first state of everything is kept. Raises SourceUnavailable."""
        before = time.time()
        date = self.cluster.date()
        middle = (before + time.time()) / 2
        # HTTP dates have whole seconds: half a second is the middle of what it may be.
        self.store.begin(None if date is None else round(date + 0.5 - middle, 3))
        for follower in self.followers:
            thread = threading.Thread(target=follower.run, name=f"watch {follower.resource}", daemon=True)
            thread.start()
            self._threads.append(thread)
        deadline = time.monotonic() + timeout
        for follower in self.followers:
            if not follower.ready.wait(max(0.0, deadline - time.monotonic())):
                self.close()
                raise SourceUnavailable(f"can't list {follower.resource}: {follower.error or 'no answer'}")

    def close(self) -> None:
        self.stop.set()
        self.cluster.close()
        for thread in self._threads:
            thread.join(10)
        self.store.end()
