"""A small cluster as evidence: objects, what the slice controller and kube-proxy make of them, and the Pods' sockets.

A test edits ``Cluster.objects`` before ``settle`` (then the controllers follow, as in a real cluster) or after it (then
somebody tampered with slices or tables).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Unpack

from svcpath.api import diagnose
from svcpath.evidence.sources.memory import BytesSource
from svcpath.reports.report import Report
from tests.walk.controllers import iptables, slices
from tests.walk.objects import CONTROLLER, NAMESPACE, NODES, Obj, node, pod, service
from tests.walk.options import Options
from tests.walk.proc_net import proc_net


@dataclass
class Cluster:
    """``sockets``: Pod -> (protocol, address, port) of every open socket; None leaves its socket lists out. ``listed``
    False gives every object a file of its own, as kubectl get of one object prints it."""

    objects: list[Obj] = field(default_factory=list)
    sockets: dict[str, list[tuple[str, str, int]] | None] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    dumps: bool = False
    listed: bool = True

    def add(self, obj: Obj) -> Obj:
        self.objects.append(obj)
        return obj

    def of(self, kind: str) -> list[Obj]:
        return [one for one in self.objects if one["kind"] == kind]

    def get(self, kind: str, name: str = "") -> Obj:
        return next(one for one in self.of(kind) if not name or one["metadata"]["name"] == name)

    def drop(self, kind: str, name: str = "") -> None:
        self.objects = [
            one for one in self.objects if one["kind"] != kind or (name and one["metadata"]["name"] != name)
        ]

    def settle(self) -> Cluster:
        """Let the slice controller write the slices of every Service with a selector."""
        self.objects = [
            one
            for one in self.objects
            if one["kind"] != "EndpointSlice"
            or one["metadata"]["labels"].get("endpointslice.kubernetes.io/managed-by") != CONTROLLER
        ]
        for one in self.of("Service"):
            if one["spec"].get("selector") and one["spec"].get("type") != "ExternalName":
                self.objects.extend(slices(one, self.of("Pod")))
        return self

    def evidence(self) -> dict[str, bytes]:
        listing = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": self.objects}
        found = {"objects.json": json.dumps(listing, indent=1)} if self.listed else self._one_by_one()
        found |= self.files
        for name, held in self.sockets.items():
            if held is None:
                continue
            for table in sorted({"tcp", "tcp6"} | {f"{one[0]}{'6' if ':' in one[1] else ''}" for one in held}):
                found[f"{name}.proc-net-{table}.txt"] = proc_net(table, held)
        if self.dumps:
            for node in NODES:
                found[f"{node}.iptables-save.txt"] = iptables(self.objects, 4)
                if any(":" in ip for one in self.of("Service") for ip in one["spec"].get("clusterIPs", ())):
                    found[f"{node}.ip6tables-save.txt"] = iptables(self.objects, 6)
        return {path: text.encode() for path, text in found.items()}

    def _one_by_one(self) -> dict[str, str]:
        found = {}
        for number, one in enumerate(self.objects, start=100):
            read = {**one, "metadata": {**one["metadata"], "resourceVersion": str(number)}}
            found[f"{one['kind'].lower()}-{one['metadata']['name']}.json"] = json.dumps(read)
        return found

    def diagnose(self, target: str = "svc/web", **options: Unpack[Options]) -> Report:
        options.setdefault("namespace", NAMESPACE)
        return diagnose(BytesSource(self.evidence()), target, **options)


def cluster(count: int = 2, *, dual: bool = False, sockets: bool = True, **spec: Any) -> Cluster:
    """A healthy Service ``web`` with ``count`` Pods over two nodes, not yet settled."""
    made = Cluster()
    if dual:
        spec.setdefault("clusterIP", "10.96.10.1")
        spec.setdefault("clusterIPs", ["10.96.10.1", "fd00:96::10"])
    for name in NODES:
        made.add(node(name))
    made.add(service(**spec))
    for number in range(1, count + 1):
        where = "w1" if number % 2 else "w2"
        ips: tuple[str, ...] = (f"10.244.{1 if number % 2 else 2}.{10 + number}",)
        if dual:
            ips += (f"fd00:244:{1 if number % 2 else 2}::{10 + number:x}",)
        made.add(pod(f"web-{number}", ips, node=where))
        made.sockets[f"web-{number}"] = [("tcp", "::" if dual else "0.0.0.0", 8080)] if sockets else None
    return made
