"""KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1): bare, or in the kube-proxy ConfigMap's config.conf."""

from __future__ import annotations

from typing import Any

from svcpath.errors import FormatError
from svcpath.evidence.facts.node import KubeProxyConfig
from svcpath.evidence.formats import yamltree

KIND = "KubeProxyConfiguration"


def from_value(value: dict[str, Any]) -> KubeProxyConfig:
    """The settings of a decoded configuration. Raises FormatError for a mode that is no text."""
    mode = value.get("mode")
    if mode is not None and not isinstance(mode, str):
        raise FormatError(f"KubeProxyConfiguration: mode must be text, not {mode!r}")
    return KubeProxyConfig(mode=mode or "")


def from_text(text: str) -> KubeProxyConfig | None:
    """The configuration in a ConfigMap value; None when the text is something else."""
    if KIND not in text:
        return None
    for document in yamltree.documents(text):
        if not isinstance(document, FormatError) and isinstance(document.value, dict):
            value = document.value
            if value.get("kind") == KIND:
                return from_value(value)
    return None
