"""An API server with one Deployment that behaves: a Pod that is deleted leaves after a moment and is replaced."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.drill.running import running

KINDS = {
    "pods": ("v1", "Pod"),
    "endpointslices": ("discovery.k8s.io/v1", "EndpointSlice"),
    "deployments": ("apps/v1", "Deployment"),
    "replicasets": ("apps/v1", "ReplicaSet"),
    "events": ("v1", "Event"),
    "poddisruptionbudgets": ("policy/v1", "PodDisruptionBudget"),
}


class Cluster:
    """``asked`` holds what changed something: (method, path, body). A Pod's container ends ``leaves`` seconds after the
    delete, the Pod a moment later."""

    def __init__(
        self, replicas: int = 2, *, exit_code: int = 0, grace: int = 30, leaves: float = 0.4, **spec: Any
    ) -> None:
        self.condition = threading.Condition()
        self.version = 0
        self.numbers = itertools.count(1)
        self.objects: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in KINDS}
        self.history: dict[str, list[tuple[int, str, dict[str, Any]]]] = {kind: [] for kind in KINDS}
        self.asked: list[tuple[str, str, Any]] = []
        self.exit_code, self.grace, self.leaves, self.finished = exit_code, grace, leaves, False
        labels = {"app": "web"}
        self.put(
            "deployments",
            {
                "metadata": {"name": "web", "namespace": "shop", "uid": "d", "generation": 1, "labels": labels},
                "spec": {
                    "replicas": replicas,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app"}]}},
                    **spec,
                },
                "status": {
                    "observedGeneration": 1,
                    "replicas": replicas,
                    "updatedReplicas": replicas,
                    "availableReplicas": replicas,
                },
            },
        )
        for _ in range(replicas):
            self.pod()

    def put(self, kind: str, obj: dict[str, Any]) -> None:
        with self.condition:
            self.version += 1
            api_version, name = KINDS[kind]
            obj = {"apiVersion": api_version, "kind": name, **json.loads(json.dumps(obj))}
            obj["metadata"]["resourceVersion"] = str(self.version)
            there = obj["metadata"]["name"] in self.objects[kind]
            self.objects[kind][obj["metadata"]["name"]] = obj
            self.history[kind].append((self.version, "MODIFIED" if there else "ADDED", obj))
            self.condition.notify_all()

    def remove(self, kind: str, name: str) -> None:
        with self.condition:
            self.version += 1
            obj = dict(self.objects[kind].pop(name))
            obj["metadata"] = {**obj["metadata"], "resourceVersion": str(self.version)}
            self.history[kind].append((self.version, "DELETED", obj))
            self.condition.notify_all()

    def pod(self) -> None:
        number = next(self.numbers)
        self.put(
            "pods",
            {
                "metadata": {
                    "name": f"web-{number}",
                    "namespace": "shop",
                    "uid": f"p{number}",
                    "labels": {"app": "web"},
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                },
                "spec": {"containers": [{"name": "app"}]},
                "status": {
                    "phase": "Running",
                    "podIP": f"10.0.0.{number}",
                    "podIPs": [{"ip": f"10.0.0.{number}"}],
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [{"name": "app", "state": {"running": {}}}],
                },
            },
        )

    def delete(self, name: str) -> None:
        """As the API server and a kubelet do it: stamped at once, ended and gone a moment later, replaced."""
        pod = json.loads(json.dumps(self.objects["pods"][name]))
        stamp = datetime.now(UTC) + timedelta(seconds=self.grace)
        pod["metadata"].update(
            deletionTimestamp=stamp.strftime("%Y-%m-%dT%H:%M:%SZ"), deletionGracePeriodSeconds=self.grace
        )
        self.put("pods", pod)
        threading.Thread(target=self._leave, args=(pod,), daemon=True).start()

    def _leave(self, pod: dict[str, Any]) -> None:
        self.pod()
        time.sleep(self.leaves)
        pod["status"]["phase"] = "Failed" if self.exit_code else "Succeeded"
        ended = {"exitCode": self.exit_code, "reason": "Error" if self.exit_code else "Completed"}
        pod["status"]["containerStatuses"] = [{"name": "app", "state": {"terminated": ended}}]
        self.put("pods", pod)
        time.sleep(0.2)
        self.remove("pods", pod["metadata"]["name"])

    def restart(self) -> None:
        deployment = json.loads(json.dumps(self.objects["deployments"]["web"]))
        deployment["metadata"]["generation"] += 1
        self.put("deployments", deployment)
        for name in list(self.objects["pods"]):
            self.delete(name)
        deployment["status"]["observedGeneration"] += 1
        self.put("deployments", deployment)

    def budget(self, allowed: int | None) -> None:
        status = {} if allowed is None else {"disruptionsAllowed": allowed, "observedGeneration": 1}
        selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
        self.put(
            "poddisruptionbudgets",
            {"metadata": {"name": "keep", "generation": 1}, "spec": {"selector": selector}, "status": status},
        )


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.cluster = cluster


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def _whole(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")

    def do_GET(self) -> None:
        cluster = self.server.cluster
        url = urlsplit(self.path)
        query, parts = parse_qs(url.query), url.path.strip("/").split("/")
        if url.path == "/version":
            self._whole({"major": "1"})
            return
        kind = next(part for part in reversed(parts) if part in KINDS)
        if parts[-1] != kind:
            found = cluster.objects[kind].get(parts[-1])
            self._whole(found or {"kind": "Status", "code": 404}, 200 if found else 404)
            return
        if "watch" in query:
            self._watch(cluster, kind, int(query["resourceVersion"][0]))
            return
        with cluster.condition:
            items = list(cluster.objects[kind].values())
            self._whole({"metadata": {"resourceVersion": str(cluster.version)}, "items": items})

    def _watch(self, cluster: Cluster, kind: str, version: int) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while not cluster.finished:
            with cluster.condition:
                waiting = [one for one in cluster.history[kind] if one[0] > version]
                if not waiting:
                    cluster.condition.wait(0.1)
                    continue
            for number, change, obj in waiting:
                version = number
                try:
                    self.wfile.write(json.dumps({"type": change, "object": obj}).encode() + b"\n")
                    self.wfile.flush()
                except OSError:
                    return

    def do_DELETE(self) -> None:
        cluster = self.server.cluster
        name, body = self.path.rsplit("/", 1)[1], self._body()
        cluster.asked.append(("DELETE", self.path, body))
        pod = cluster.objects["pods"].get(name)
        if pod is None or (body or {}).get("preconditions", {}).get("uid") != pod["metadata"]["uid"]:
            self._whole({"kind": "Status", "code": 409}, 409)
            return
        cluster.delete(name)
        self._whole({})

    def do_PATCH(self) -> None:
        cluster = self.server.cluster
        cluster.asked.append(("PATCH", self.path, self._body()))
        cluster.restart()
        self._whole({})


@contextmanager
def serving(cluster: Cluster) -> Iterator[str]:
    """The address of the server while the block runs."""
    with running(Server(cluster)) as port:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            cluster.finished = True
