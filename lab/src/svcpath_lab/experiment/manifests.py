"""The experiment's objects: the plain YAML that ``kubectl apply -k`` takes, with the variant of a run filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from svcpath_lab import resources
from svcpath_lab.images.recipes import TOOLS
from svcpath_lab.kubectl import Kubectl

NAMESPACE = "service-ops"
WRONG_PORT = 18080


@dataclass(frozen=True, slots=True)
class RunVariant:
    """What a run changes: seconds of grace and of the preStop sleep, and two ways to break the controls."""

    grace: int = 20
    prestop: int = 10
    stale_proxy: bool = False
    wrong_port_listens: bool = False


def folder() -> Path:
    return resources.folder() / "manifests" / "service-ops"


def rendered(kubectl: Kubectl) -> list[dict[str, Any]]:
    """The objects of the kustomization, without the namespace itself (the lab makes and labels that)."""
    text = kubectl.run("kustomize", str(folder())).out
    return [document for document in yaml.safe_load_all(text) if document and document["kind"] != "Namespace"]


def with_variant(objects: list[dict[str, Any]], variant: RunVariant, images: Mapping[str, str]) -> list[dict[str, Any]]:
    """The same objects with a run's numbers and a provider's images."""
    changed = [with_images(manifest, images) for manifest in objects]
    for manifest in changed:
        if manifest["kind"] != "Deployment":
            continue
        pod = manifest["spec"]["template"]["spec"]
        pod["terminationGracePeriodSeconds"] = variant.grace
        server = pod["containers"][0]
        if variant.prestop > 0:
            server["lifecycle"] = {"preStop": {"exec": {"command": ["sleep", str(variant.prestop)]}}}
        else:
            server.pop("lifecycle", None)
        extra = [{"name": "EXTRA_PORT", "value": str(WRONG_PORT)}] if variant.wrong_port_listens else []
        server["env"] = [env for env in server.get("env", []) if env["name"] != "EXTRA_PORT"] + extra
    return changed


def with_images(value: Any, images: Mapping[str, str]) -> Any:
    """The lab's own image name replaced by what a provider uses in its place, wherever it stands."""
    if isinstance(value, dict):
        swapped = {name: with_images(inner, images) for name, inner in value.items()}
        if swapped.get("image") == TOOLS:
            role = "client" if str(swapped.get("name", "")).startswith("client") else "tools"
            swapped["image"] = images[role]
        return swapped
    if isinstance(value, list):
        return [with_images(inner, images) for inner in value]
    return value
