"""Fixed variants of the cases about drains and rollouts (60 to 68)."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.public.fixed.edit import Files, replace


def _wait(files: Files) -> None:
    """A preStop that waits; with the Pods and the slice that the Service needs to be healthy."""
    replace(
        files,
        "deployment.yaml",
        "        readinessProbe:\n",
        "        lifecycle:\n          preStop:\n            sleep:\n              seconds: 10\n        readinessProbe:\n",
    )
    files["slice.yaml"] = _slice("shopapi", "10.244.1.60", "shopapi-1")


def _longer_grace(files: Files) -> None:
    for path in ("deployment.yaml", "exec-variant.yaml"):
        replace(files, path, "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 90")


def _old_gone(files: Files) -> None:
    documents = files["pods.yaml"].split("---\n")
    files["pods.yaml"] = "---\n".join(document for document in documents if "shopweb-old" not in document)
    files["slice.yaml"] = _slice("shopweb", "10.244.2.10", "shopweb-new")


def _spread(files: Files) -> None:
    replace(files, "conntrack-L.txt", "src=10.244.1.97 dst=10.244.7.4", "src=10.244.2.97 dst=10.244.7.4")


def _kubernetes_name(files: Files) -> None:
    replace(files, "service.yaml", "appProtocol: h2c", "appProtocol: kubernetes.io/h2c")
    files["slice.yaml"] = _slice("platform", "10.244.1.68", "platform-1", "grpc")


def _slice(service: str, address: str, pod: str, port: str = "http") -> str:
    return (
        f"apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: {service}-1\n  namespace: shop\n"
        f"  labels:\n    kubernetes.io/service-name: {service}\naddressType: IPv4\nendpoints:\n- addresses:\n  - {address}\n"
        "  conditions:\n    ready: true\n    serving: true\n    terminating: false\n  nodeName: node-a\n  targetRef:\n"
        f"    kind: Pod\n    name: {pod}\n    namespace: shop\nports:\n- name: {port}\n  protocol: TCP\n  port: 8080\n"
    )


FIX: dict[str, Callable[[Files], None]] = {
    "60-no-prestop-endpoint-lag": _wait,
    "62-prestop-longer-than-grace": _longer_grace,
    "65-rollout-done-old-pod-terminating": _old_gone,
    "67-grpc-long-lived-imbalance": _spread,
    "68-appprotocol-unprefixed-h2c": _kubernetes_name,
}
