"""The scene of a fault: a workload, a Service, a client and a namespace whose names, labels and ports are drawn at random.

Nothing in it carries a fault's name, so that a diagnosis can't read the answer off an object.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svcpath_lab.experiment import manifests
from svcpath_lab.faults.fault import Changes

_NOUNS = (
    "orders",
    "billing",
    "catalog",
    "ledger",
    "stock",
    "tariff",
    "users",
    "quotes",
    "parcels",
    "invoices",
    "mail",
    "rates",
)
_LETTERS = "bcdfghjkmnpqrstvwxz23456789"


@dataclass(frozen=True, slots=True)
class FaultScene:
    """The names and numbers of one scene."""

    namespace: str
    service: str
    deployment: str
    app: str
    client: str
    port: int
    target_port: int
    spare_port: int
    word: str

    @classmethod
    def draw(cls, lot: random.Random) -> FaultScene:
        noun, other, third = lot.sample(_NOUNS, 3)
        ports = lot.sample(range(8000, 8990), 2)

        def suffix(length: int = 4) -> str:
            return "".join(lot.choice(_LETTERS) for _ in range(length))

        return cls(
            namespace=f"{other}-{suffix()}",
            service=f"{noun}-{suffix(2)}",
            deployment=f"{noun}-{suffix(3)}",
            app=f"{noun}-{suffix(3)}",
            client=f"{third}-{suffix(3)}",
            port=lot.choice((80, 8080, 443, 3000, 9000)),
            target_port=ports[0],
            spare_port=ports[1],
            word=lot.choice(_LETTERS[:18]) + suffix(5),
        )

    def values(self) -> dict[str, str | int]:
        return {name: getattr(self, name) for name in self.__slots__}


def objects(scene: FaultScene, changes: Changes, images: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every object of the scene; placeholders in ``changes`` are still in their places."""
    files = {path.name: path.read_text() for path in sorted(manifests.folder().glob("*.py"))}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app"}, "data": files}
    mount = {"name": "app", "mountPath": "/app"}
    volume = {"name": "app", "configMap": {"name": "app"}}
    labels = {"app": scene.app}
    deployment: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": scene.deployment},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "terminationGracePeriodSeconds": 30,
                    "affinity": {
                        "podAntiAffinity": {
                            "preferredDuringSchedulingIgnoredDuringExecution": [
                                {
                                    "weight": 100,
                                    "podAffinityTerm": {
                                        "labelSelector": {"matchLabels": labels},
                                        "topologyKey": "kubernetes.io/hostname",
                                    },
                                }
                            ]
                        }
                    },
                    "containers": [
                        {
                            "name": "server",
                            "image": images["tools"],
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["python3", "-u", "/app/server.py"],
                            "env": [{"name": "PORT", "value": str(scene.target_port)}],
                            "ports": [{"name": "http", "containerPort": scene.target_port}],
                            "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 1},
                            "lifecycle": {"preStop": {"exec": {"command": ["sleep", "3"]}}},
                            "volumeMounts": [mount],
                        }
                    ],
                    "volumes": [volume],
                },
            },
        },
    }
    service: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": scene.service},
        "spec": {
            "selector": dict(labels),
            "ports": [{"name": "http", "port": scene.port, "targetPort": "http", "protocol": "TCP"}],
        },
    }
    client: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": scene.client, "labels": {"app": scene.client}},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "client",
                    "image": images["client"],
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["sleep", "infinity"],
                    "volumeMounts": [mount],
                }
            ],
            "volumes": [volume],
        },
    }
    merged = [merge(deployment, changes.deployment), merge(service, changes.service), merge(client, changes.client)]
    return [config, *merged, *copy.deepcopy(list(changes.extra))]


def merge(base: Any, change: Any) -> Any:
    """``change`` laid over ``base``: mappings merge, null removes, lists of named things merge by name, others replace."""
    if isinstance(base, dict) and isinstance(change, dict):
        merged = {name: value for name, value in base.items() if name not in change}
        for name, value in change.items():
            if value is not None:
                merged[name] = merge(base[name], value) if name in base else copy.deepcopy(value)
        return merged
    if _named(base) and _named(change):
        known = {item["name"]: item for item in base}
        names = [*known, *(item["name"] for item in change if item["name"] not in known)]
        changed = {item["name"]: item for item in change}
        return [merge(known.get(name, {}), changed.get(name, {})) for name in names]
    return copy.deepcopy(change)


def _named(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "name" in item for item in value)
