"""The cells of the grid: each a Pod that is deleted, with its hook, grace period, requests and behaviour on the signal.

``drained`` is how long the client goes on sending after the delete (it plays the load balancer), so that every term of the
clock is chosen and none is left to the cluster's mood. Cells keep a second between each margin and zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GridCell:
    """Seconds throughout. ``on_signal``: exit, finish, ignore, none (PID 1 without a handler). ``shape``: plain, second
    (a proxy container without preStop on the path), aside (the same, but traffic goes past it), sidecar (the proxy as a native sidecar). ``action`` false spells the
    hook as an exec sleep."""

    name: str
    hook: int
    grace: int
    longest: float
    on_signal: str
    drained: float = 2.0
    shutdown: float = 0.0
    shape: str = "plain"
    action: bool = True

    @property
    def port(self) -> int:
        return 9090 if self.shape in ("second", "sidecar") else 8080


CELLS: tuple[GridCell, ...] = (
    # the hook decides for an application that exits
    GridCell("exit-holds", 6, 12, 2, "exit"),
    GridCell("exit-reference", 10, 20, 6, "exit"),
    GridCell("exit-cut", 6, 12, 6, "exit"),
    GridCell("exit-no-hook", 0, 10, 3, "exit"),
    GridCell("exit-short-hook", 3, 10, 5, "exit", drained=5),
    GridCell("exit-exec-hook", 6, 12, 2, "exit", action=False),
    # the kill decides for one that finishes
    GridCell("finish-holds", 4, 14, 6, "finish"),
    GridCell("finish-long", 4, 10, 12, "finish"),
    GridCell("finish-no-hook", 0, 12, 3, "finish"),
    GridCell("finish-slow-end", 4, 9, 3, "finish", shutdown=8),
    GridCell("finish-reference", 10, 20, 6, "finish"),
    GridCell("finish-late-lb", 3, 15, 4, "finish", drained=6),
    # the signal is ignored
    GridCell("ignore-holds-requests", 4, 10, 4, "ignore"),
    GridCell("ignore-cut", 4, 10, 11, "ignore"),
    GridCell("none-reference", 10, 20, 6, "none"),
    GridCell("none-no-hook", 0, 8, 3, "none"),
    # the hook ends near the end of the grace period, or after it
    GridCell("edge-minus-2", 8, 10, 2, "finish"),
    GridCell("edge-minus-1", 10, 11, 3, "exit", shutdown=4),
    GridCell("edge-equal", 8, 8, 2, "exit", shutdown=4, action=False),
    GridCell("edge-plus-2", 12, 10, 3, "finish", shutdown=4, action=False),
    GridCell("beyond", 30, 5, 9, "finish", action=False),
    # several containers
    GridCell("second-container", 8, 14, 3, "exit", shape="second"),
    GridCell("container-aside", 8, 14, 3, "exit", shape="aside"),
    GridCell("sidecar-holds", 7, 14, 3, "finish", shape="sidecar"),
    GridCell("sidecar-exit", 7, 14, 3, "exit", shape="sidecar"),
    GridCell("sidecar-cut", 5, 12, 6, "exit", shape="sidecar"),
)


def deployment(cell: GridCell, namespace: str, image: str) -> dict[str, Any]:
    """The cell as a Deployment of one Pod."""
    labels = {"app": "drain-grid", "cell": cell.name}
    app = _container("app", image, 8080, cell.on_signal, cell.shutdown)
    if cell.hook:
        sleep = {"sleep": {"seconds": cell.hook}} if cell.action else {"exec": {"command": ["sleep", str(cell.hook)]}}
        app["lifecycle"] = {"preStop": sleep}
    spec: dict[str, Any] = {
        "terminationGracePeriodSeconds": cell.grace,
        "containers": [app],
        "volumes": [{"name": "scripts", "configMap": {"name": "drain-scripts"}}],
    }
    if cell.shape != "plain":
        proxy = _container("proxy", image, 9090, "exit", 0)
        proxy["env"].append({"name": "UPSTREAM", "value": "127.0.0.1:8080"})
        if cell.shape == "sidecar":
            spec["initContainers"] = [{**proxy, "restartPolicy": "Always"}]
        else:
            spec["containers"].append(proxy)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": cell.name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"cell": cell.name}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _container(name: str, image: str, port: int, on_signal: str, shutdown: float) -> dict[str, Any]:
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-u", "/scripts/drain_server.py"],
        "env": [
            {"name": "PORT", "value": str(port)},
            {"name": "ON_STOP", "value": on_signal},
            {"name": "SHUTDOWN", "value": f"{shutdown:g}"},
        ],
        "ports": [{"containerPort": port}],
        "volumeMounts": [{"name": "scripts", "mountPath": "/scripts"}],
    }
