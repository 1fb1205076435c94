"""Which workloads make the Pods behind a Service."""

from __future__ import annotations

from svcpath.evidence.facts.kubernetes import Workload
from svcpath.models.policies.selectors import label_selector_matches, matches
from svcpath.walk.scene import Scene

ROLLING = ("Deployment", "StatefulSet", "DaemonSet", "Rollout")


def is_mine(view: Scene, workload: Workload) -> bool:
    """Whether the workload makes Pods for this Service: by its template's labels, or, when only slices are known, by the
    Pods behind their endpoints. Without any Service every rolling workload counts."""
    if workload.kind not in ROLLING or (
        view.request.namespace and workload.namespace not in ("", view.request.namespace)
    ):
        return False
    template = workload.spec.template
    labels = (template.metadata.labels or {}) if template is not None else {}
    if view.service is not None:
        return matches(view.service.spec.selector or {}, labels)
    if not view.request.service:
        return True
    backends = [endpoint.pod.fact.labels for endpoint in view.endpoints if endpoint.pod]
    return any(label_selector_matches(workload.spec.selector, labels) for labels in backends)
