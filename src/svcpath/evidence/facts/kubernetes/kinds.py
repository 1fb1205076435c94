"""Which record is an object decoded to? By its kind; one that no layer reads is kept all the same."""

from __future__ import annotations

from typing import Any

from svcpath.evidence.facts.kubernetes.cluster import ConfigMap, Event, Namespace, Node
from svcpath.evidence.facts.kubernetes.endpoints import Endpoints, EndpointSlice
from svcpath.evidence.facts.kubernetes.meta import Object
from svcpath.evidence.facts.kubernetes.pods import Pod
from svcpath.evidence.facts.kubernetes.policies import NetworkPolicy, PodDisruptionBudget
from svcpath.evidence.facts.kubernetes.services import Service
from svcpath.evidence.facts.kubernetes.workloads import WORKLOAD_KINDS, Workload


class OtherObject(Object, frozen=True, kw_only=True):
    """An object of a kind no layer reads; kept so that nothing recorded is lost from the inventory. ``message`` is that of a
    Status, with which the API server answers in place of an object."""

    spec: dict[str, Any] | None = None
    message: Any = None


#: API kind -> record, for the decoder. Workload-like CRDs are recognised by their ``spec.template``.
KINDS: dict[str, type[Object]] = {
    "Service": Service,
    "EndpointSlice": EndpointSlice,
    "Endpoints": Endpoints,
    "Pod": Pod,
    "Node": Node,
    "Event": Event,
    "ConfigMap": ConfigMap,
    "Namespace": Namespace,
    "NetworkPolicy": NetworkPolicy,
    "PodDisruptionBudget": PodDisruptionBudget,
    **dict.fromkeys(WORKLOAD_KINDS, Workload),
}
