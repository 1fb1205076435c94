"""What the drain does to a cluster, through kubectl: apply, wait, follow logs, delete; and clean up after itself."""

from __future__ import annotations

import contextlib
import http.client
import importlib.resources
import itertools
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from svcpath.drain.sampler import whole
from svcpath.drain.transport import HttpTransport, KubectlTransport, Transport, end
from svcpath.errors import SourceUnavailable

#: Namespaces that the drain made carry this label and no other is ever deleted.
LABEL = "svcpath.drain/made"


def script(name: str) -> str:
    """The text of a script that runs inside containers."""
    return importlib.resources.files("svcpath.drain.scripts").joinpath(name).read_text()


def frontends(cluster: Transport, space: str, kind: str, name: str) -> frozenset[str]:
    """The cluster addresses of a Service, or of the Services that select a Deployment's Pods.

    Raises SourceUnavailable when the target is not there.
    """
    services = f"/api/v1/namespaces/{quote(space)}/services"
    if kind.lower().startswith("s"):
        found = [json.loads(cluster.get(f"{services}/{quote(name)}"))]
    else:
        path = f"/apis/apps/v1/namespaces/{quote(space)}/deployments/{quote(name)}"
        template = json.loads(cluster.get(path))["spec"]["template"]["metadata"].get("labels") or {}
        found = [
            service
            for service in json.loads(cluster.get(services))["items"]
            if service["spec"].get("selector") and service["spec"]["selector"].items() <= template.items()
        ]
    return frozenset(ip for service in found for ip in service["spec"].get("clusterIPs") or () if ip != "None")


def around(kubectl: KubectlTransport, space: str, target: str) -> bytes:
    """A workload (KIND/NAME) and what stands around it in its namespace, as one List.

    Raises SourceUnavailable when the workload or the API server is not there; kinds that the cluster does not serve or
    the account may not list are left out.
    """
    found: list[Any] = [json.loads(kubectl.ok("-n", space, "get", target, "-o", "json"))]
    gke = (
        "backendconfigs.cloud.google.com",
        "gcpbackendpolicies.networking.gke.io",
        "healthcheckpolicies.networking.gke.io",
    )
    gateway = ("httproutes.gateway.networking.k8s.io", "gateways.gateway.networking.k8s.io")
    scaling = ("horizontalpodautoscalers", "scaledobjects.keda.sh")
    for kind in ("services", "poddisruptionbudgets", "ingresses", *scaling, *gateway, *gke):
        done = kubectl.run("-n", space, "get", kind, "-o", "json")
        if done.returncode == 0:
            found.extend(json.loads(done.stdout).get("items") or ())
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": found}, indent=1).encode()


@contextlib.contextmanager
def namespace(kubectl: KubectlTransport, name: str) -> Iterator[None]:
    """A namespace of the drain's own, removed in the end whatever happens. One that is there already is refused."""
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {LABEL: "true"}}}
    deadline = time.monotonic() + 90
    while True:
        done = kubectl.run("create", "-f", "-", stdin=json.dumps(made).encode())
        if done.returncode == 0:
            break
        found = kubectl.run("get", "namespace", name, "-o", "json")
        if found.returncode != 0 and b"being deleted" in done.stderr and time.monotonic() < deadline:
            continue  # it went between the two calls
        if found.returncode != 0:
            raise SourceUnavailable(done.stderr.decode("utf-8", "replace").strip() or f"can't make namespace {name}")
        metadata = json.loads(found.stdout)["metadata"]
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
        kubectl.close()
        kubectl.run("delete", "namespace", name, "--wait=false", timeout=60)


def apply(kubectl: KubectlTransport, objects: Sequence[dict[str, Any]]) -> None:
    body = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    kubectl.ok("apply", "-f", "-", stdin=json.dumps(body).encode(), timeout=180)


@contextlib.contextmanager
def api(kubectl: KubectlTransport) -> Iterator[Api]:
    """`kubectl proxy` on a free port of 127.0.0.1, for many small calls."""
    process = kubectl.popen("proxy", "--port=0")
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode("utf-8", "replace")
        match = re.search(r"127\.0\.0\.1:(\d+)", line)
        if match is None:
            assert process.stderr is not None
            raise SourceUnavailable(
                f"kubectl proxy did not start: {process.stderr.read(300).decode('utf-8', 'replace')}"
            )
        yield Api(int(match[1]))
    finally:
        end(process)


class Api:
    """Calls to the API server through `kubectl proxy`."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.port, self.host = port, host
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @classmethod
    def at(cls, url: str) -> Api:
        """Of a `kubectl proxy` that runs already. Raises SourceUnavailable."""
        parsed = urllib.parse.urlsplit(url)
        if parsed.scheme != "http" or not parsed.hostname:
            raise SourceUnavailable(f"--api-url {url!r}: give the http address of a kubectl proxy")
        return cls(parsed.port or 80, parsed.hostname)

    def transport(self) -> HttpTransport:
        return HttpTransport(self.url)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """One call; raises SourceUnavailable unless the answer is 2xx."""
        status, text = self._ask(method, path, body, kind)
        if status >= 300:
            raise SourceUnavailable(f"{method} {path}: {status} {text[:200].decode('utf-8', 'replace')}")
        return json.loads(text)

    def _ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise SourceUnavailable(f"{method} {path}: {error}") from error
        finally:
            connection.close()

    def pods(self, space: str, selector: str = "") -> list[dict[str, Any]]:
        query = f"?labelSelector={selector.replace('=', '%3D').replace(',', '%2C')}" if selector else ""
        items: list[dict[str, Any]] = self.call("GET", f"/api/v1/namespaces/{space}/pods{query}")["items"]
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
        self.call("DELETE", f"/api/v1/namespaces/{space}/pods/{name}")
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

    def follow_log(self, space: str, pod: str, container: str, on_line: Callable[[str], None]) -> threading.Thread:
        """Calls ``each`` once with every line of a container's log, in a thread, until the container ends.

        A log that stops while the container runs is asked for again and what was there is skipped: a kubelet ends it where
        its node has no inotify instance left, a proxy where it is cut.
        """
        path = f"/api/v1/namespaces/{space}/pods/{pod}/log?follow=true&container={container}"

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
        """Whether a container has ended, or its Pod is gone; not where the API server does not answer."""
        try:
            status, text = self._ask("GET", f"/api/v1/namespaces/{space}/pods/{pod}")
            found = json.loads(text) if status == 200 else {}
        except (SourceUnavailable, ValueError):
            return False
        kept = found.get("status", {})
        for known in (*(kept.get("containerStatuses") or ()), *(kept.get("initContainerStatuses") or ())):
            if known["name"] == container and "terminated" in known.get("state", {}):
                return True
        return status == 404

    def _log(self, path: str) -> Iterator[str]:
        """The whole lines of a log, as far as it is given. A piece without an end of line is none, or an error's text."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=3600)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            connection.request("GET", path)
            response = connection.getresponse()
            while response.status == 200 and (line := response.readline()).endswith(b"\n"):
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
