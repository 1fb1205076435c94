"""Rules about proxies that a mesh puts into the Pods when they are made, so that a manifest does not show them.

Labels and annotations: Istio (sidecar.istio.io/inject), Linkerd (linkerd.io/inject), Kuma (kuma.io/sidecar-injection), Consul
(consul.hashicorp.com/connect-inject). Istio's ambient mode adds no container.
"""

from __future__ import annotations

from collections.abc import Iterator

from svcpath.models.drain.budget import Budget
from svcpath.models.drain.lint.rule import Around, Level, LintFinding
from svcpath.models.drain.subject import pod_labels_and_annotations

#: Name of the label or annotation -> values that ask for a proxy, the container's name, what it waits for by itself.
_INJECTED = {
    "sidecar.istio.io/inject": (("true",), "istio-proxy", "terminationDrainDuration, 5 s unless it is set"),
    "linkerd.io/inject": (
        ("enabled", "ingress"),
        "linkerd-proxy",
        "config.alpha.linkerd.io/proxy-wait-before-exit-seconds",
    ),
    "kuma.io/sidecar-injection": (
        ("enabled", "true"),
        "kuma-sidecar",
        "the drain time of its data plane, 30 s unless it is set",
    ),
    "consul.hashicorp.com/connect-inject": (
        ("true",),
        "consul-dataplane",
        "sidecar-proxy-lifecycle-shutdown-grace-period-seconds",
    ),
}


def injected(budget: Budget, around: Around) -> Iterator[LintFinding]:
    """SP717: the path goes through a container that the manifest does not show."""
    shown = {container.name for container in budget.subject.containers}
    for field, notes in pod_labels_and_annotations(around.obj):
        for name, value in sorted(notes.items()):
            values, container, waits = _INJECTED.get(name, ((), "", ""))
            if value.lower() in values and container not in shown:
                yield LintFinding(
                    "SP717",
                    Level.NOTE,
                    f"{name}: {container} is put into the Pods and is not in this manifest: unless it is a native sidecar, it is "
                    f"signalled at once and ends the path when its own drain is over ({waits})",
                    around.obj,
                    (*field, name),
                )
                return
