"""API objects as kubectl shows them, whole enough for a walk; what a test does not say is healthy."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]
NAMESPACE = "shop"
NODES = {"w1": ("10.0.0.11", "fd00:10::11"), "w2": ("10.0.0.12", "fd00:10::12")}
CONTROLLER = "endpointslice-controller.k8s.io"


def service(name: str = "web", **spec: Any) -> Obj:
    spec.setdefault("type", "ClusterIP")
    if spec["type"] != "ExternalName":
        spec.setdefault("clusterIP", "10.96.10.1")
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
        spec.setdefault("ipFamilies", ["IPv6" if ":" in one else "IPv4" for one in spec["clusterIPs"] if one != "None"])
        if not spec["ipFamilies"]:
            spec["ipFamilies"] = ["IPv4"]
        spec.setdefault("ipFamilyPolicy", "SingleStack" if len(spec["ipFamilies"]) == 1 else "RequireDualStack")
        spec.setdefault("selector", {"app": name})
        spec.setdefault("ports", [port(80, 8080)])
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {key: value for key, value in spec.items() if value is not None},
    }


def port(number: int, target: int | str, name: str = "", protocol: str = "TCP") -> Obj:
    return {"port": number, "targetPort": target, "protocol": protocol, **({"name": name} if name else {})}


def pod(
    name: str,
    ips: tuple[str, ...],
    *,
    node: str = "w1",
    labels: dict[str, str] | None = None,
    ports: tuple[tuple[str, int, str], ...] = (("http", 8080, "TCP"),),
    ready: bool = True,
    phase: str = "Running",
    waiting: str = "",
    deleting: bool = False,
    **spec: Any,
) -> Obj:
    state: Obj = {"waiting": {"reason": waiting, "message": "as told"}} if waiting else {"running": {}}
    meta: Obj = {"name": name, "namespace": NAMESPACE, "labels": {"app": "web"} if labels is None else labels}
    if deleting:
        meta["deletionTimestamp"] = "2026-01-02T03:04:05Z"
        meta["deletionGracePeriodSeconds"] = 30
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {
            "nodeName": node,
            "containers": [
                {
                    "name": "main",
                    "image": "example/app:1",
                    "ports": [
                        {"containerPort": number, "protocol": protocol, **({"name": called} if called else {})}
                        for called, number, protocol in ports
                    ],
                }
            ],
            **spec,
        },
        "status": {
            "phase": phase,
            "podIP": ips[0] if ips else "",
            "podIPs": [{"ip": ip} for ip in ips],
            "conditions": [
                {"type": "Ready", "status": "True" if ready else "False", **({} if ready else {"reason": "NotReady"})}
            ],
            "containerStatuses": [{"name": "main", "ready": ready, "restartCount": 0, "state": state}],
        },
    }


def node(name: str, ready: str = "True", **extra: Any) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "reason": "KubeletReady" if ready == "True" else "Gone"}],
            "addresses": [{"type": "InternalIP", "address": ip} for ip in NODES.get(name, ())],
        },
        **extra,
    }


def endpoint_slice(name: str, owner: str, endpoints: list[Obj], ports: list[Obj] | None, **meta: Any) -> Obj:
    family = "IPv6" if any(":" in ip for one in endpoints for ip in one["addresses"]) else "IPv4"
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {
                "kubernetes.io/service-name": owner,
                "endpointslice.kubernetes.io/managed-by": meta.pop("managed_by", CONTROLLER),
            },
            **meta,
        },
        "addressType": family,
        "endpoints": endpoints,
        "ports": ports,
    }


def endpoint(address: str, name: str = "", *, ready: bool = True, node: str = "w1", **conditions: bool) -> Obj:
    found: Obj = {
        "addresses": [address],
        "conditions": {"ready": ready, "serving": ready, "terminating": False, **conditions},
        "nodeName": node,
    }
    if name:
        found["targetRef"] = {"kind": "Pod", "name": name, "namespace": NAMESPACE}
    return found


def workload(kind: str = "Deployment", name: str = "web", replicas: int = 2, **status: Any) -> Obj:
    filled = {
        "observedGeneration": 1,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        **status,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "generation": 1},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}]}},
        },
        "status": filled,
    }
