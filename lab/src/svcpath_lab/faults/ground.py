"""Placeholders of a fault, looked up on the cluster when they are needed: Pods and addresses change under a fault."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from svcpath.errors import UsageError
from svcpath_lab.errors import LabError
from svcpath_lab.faults.scene import FaultScene
from svcpath_lab.kubectl import Kubectl
from svcpath_lab.providers.base import Provider

_PLACEHOLDER = re.compile(r"<([a-z][a-z0-9_]*)>")


@dataclass
class Ground:
    """Where a fault is made: the lab's cluster and one scene in it."""

    provider: Provider
    kubectl: Kubectl
    scene: FaultScene
    #: what steps put aside so that undo can put it back: "Kind namespace/name" -> object
    saved: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: values that must stay what they were when first asked, such as a node that was chosen
    chosen: dict[str, str | int] = field(default_factory=dict)

    def fill(self, value: Any) -> Any:
        """Placeholders replaced throughout; a text that is one placeholder alone takes the value's own type."""
        if isinstance(value, dict):
            return {self.fill(name): self.fill(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill(inner) for inner in value]
        if not isinstance(value, str):
            return value
        whole = _PLACEHOLDER.fullmatch(value)
        if whole:
            return self.value(whole[1])
        return _PLACEHOLDER.sub(lambda match: str(self.value(match[1])), value)

    def value(self, name: str) -> str | int:
        """What a placeholder stands for; NAME_text is the same as text, where a number would not do."""
        if name.endswith("_text"):
            return str(self.value(name.removesuffix("_text")))
        fixed = self.scene.values()
        if name in fixed:
            return fixed[name]
        if name in self.chosen:
            return self.chosen[name]
        lookup = _LOOKUPS.get(name)
        if lookup is None:
            raise UsageError(f"no placeholder <{name}>; there are {', '.join(sorted((*fixed, *_LOOKUPS)))}")
        self.chosen[name] = found = lookup(self)
        return found

    # ---- what the lookups are made of ------------------------------------------------------------------------------

    def servers(self) -> list[dict[str, Any]]:
        """The scene's running server Pods, those away from the client's node first, then by name."""
        pods = self.kubectl.items("-n", self.scene.namespace, "pods", "-l", f"app={self.scene.app}")
        alive = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
        client_node = self.value("client_node")
        return sorted(alive, key=lambda pod: (pod["spec"].get("nodeName") == client_node, pod["metadata"]["name"]))

    def server(self, index: int) -> dict[str, Any]:
        found = self.servers()
        if len(found) <= index:
            raise LabError(f"the scene has {len(found)} server Pods, the fault needs {index + 1}")
        return found[index]

    def client(self) -> dict[str, Any]:
        return self.kubectl.get("-n", self.scene.namespace, "pod", self.scene.client)

    def service(self) -> dict[str, Any]:
        return self.kubectl.get("-n", self.scene.namespace, "service", self.scene.service)

    def other_node(self) -> str:
        nodes = [node for node in self.provider.nodes() if node != self.value("client_node")]
        if not nodes:
            raise LabError("this fault needs two nodes that take Pods")
        return nodes[0]


def _of_family(addresses: list[str], version: int) -> str:
    for address in addresses:
        if ipaddress.ip_address(address).version == version:
            return address
    raise LabError(f"no IPv{version} address among {', '.join(addresses)}")


_LOOKUPS: dict[str, Callable[[Ground], str | int]] = {
    "client_node": lambda ground: str(ground.client()["spec"]["nodeName"]),
    "client_ip": lambda ground: str(ground.client()["status"]["podIP"]),
    "other_node": lambda ground: ground.other_node(),
    "server0": lambda ground: str(ground.server(0)["metadata"]["name"]),
    "server1": lambda ground: str(ground.server(1)["metadata"]["name"]),
    "server0_ip": lambda ground: str(ground.server(0)["status"]["podIP"]),
    "server1_ip": lambda ground: str(ground.server(1)["status"]["podIP"]),
    "server0_node": lambda ground: str(ground.server(0)["spec"]["nodeName"]),
    "server1_node": lambda ground: str(ground.server(1)["spec"]["nodeName"]),
    "service_ip": lambda ground: str(ground.service()["spec"]["clusterIP"]),
    "service_ip6": lambda ground: _of_family(ground.service()["spec"]["clusterIPs"], 6),
    "node_port": lambda ground: int(ground.service()["spec"]["ports"][0]["nodePort"]),
    "dns_ip": lambda ground: str(ground.kubectl.get("-n", "kube-system", "service", "kube-dns")["spec"]["clusterIP"]),
}
